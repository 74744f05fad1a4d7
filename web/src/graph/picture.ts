// The map as a file: SVG with the same colours, or PNG of what is on the screen.
import { svg as element, SVG } from "../dom";
import { isDown, linkName } from "../fabric";
import type { Curve } from "./curve";
import { inWindow } from "./overlay";
import { curveOf } from "./placement";
import type { GraphView } from "./view";

/** What is in the window, as an SVG document. The DOM escapes names; characters that XML does not have are replaced. */
export function pictureSvg(view: GraphView): string {
    const { projection, painted } = view.copy(), { width, height } = projection;
    const { fabric, palette } = view;
    const svg = element("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    svg.append(element("rect", { width, height, fill: palette.get("back") }));
    const lines = element("g", { "stroke-width": 1 }), dots = element("g", {}),
        labels = element("g", { "font-family": "system-ui, sans-serif", "font-size": 11, fill: palette.get("text") });
    const round = (value: number) => value.toFixed(1);
    for (const room of view.placement.rooms) {
        const from = projection.toWindow({ x: room.left, y: room.top }), to = projection.toWindow({ x: room.right, y: room.bottom });
        svg.append(element("rect", { x: round(from.x), y: round(from.y), width: round(to.x - from.x), height: round(to.y - from.y), rx: 6,
            fill: palette.get("panel"), stroke: palette.get("line") }));
    }
    const line = (curve: Curve & { shift?: number }, stroke: string, more: Record<string, string | number> = {}) => {
        const { from, to, via } = inWindow(curve, projection);
        if (via) return element("path", { d: `M${round(from.x)} ${round(from.y)}Q${round(via.x)} ${round(via.y)} ${round(to.x)} ${round(to.y)}`, fill: "none", stroke, ...more });
        return element("line", { x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y), stroke, ...more });
    };
    for (const link of painted.links) {
        if (isDown(link)) continue;
        const drawn = line(curveOf(view.placement, link), palette.get(view.linkColour(link)));
        drawn.append(element("title", {}, linkName(fabric, link)));
        lines.append(drawn);
    }
    for (const stroke of view.overlay.strokes)
        lines.append(line(stroke, stroke.colour,
            { "stroke-width": stroke.width, ...(stroke.dash ? { "stroke-dasharray": "5 5" } : {}) }));
    for (const node of painted.nodes) {
        const at = view.viewportPoint(node.index), colour = view.nodeColour(node);
        const dot = element("circle", { cx: round(at.x), cy: round(at.y), r: round(view.radius(node)), fill: colour.startsWith("#") ? colour : palette.get(colour) });
        dot.append(element("title", {}, node.name));
        dots.append(dot);
    }
    for (const label of [...painted.rooms, ...painted.labels.values()]) labels.append(element("text", { x: round(label.x), y: round(label.y + 4) }, label.text));
    svg.append(lines, dots, labels);
    return new XMLSerializer().serializeToString(svg);
}

/** What is in the window, as an image. */
export function picturePng(view: GraphView): Promise<Blob> {
    return new Promise((resolve, reject) =>
        view.copy().canvas.toBlob(blob => blob ? resolve(blob) : reject(new Error("The browser made no image.")), "image/png"));
}
