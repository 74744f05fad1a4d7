// The map as a file: SVG with the same colours, or PNG of what is on the screen.
import { svg as element, SVG } from "../dom";
import { isDown, linkName } from "../fabric";
import { linkColour, nodeColour } from "./colour";
import type { GraphView } from "./view";

/** What is in the window, as an SVG document. The DOM escapes names. */
export function pictureSvg(view: GraphView, master: number): string {
    const { width, height } = view.sigma.getDimensions();
    const { fabric, palette } = view;
    const svg = element("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    svg.append(element("rect", { width, height, fill: palette.get("back") }));
    const lines = element("g", { "stroke-width": 1 }), dots = element("g", {}),
        labels = element("g", { "font-family": "system-ui, sans-serif", "font-size": 11, fill: palette.get("text") });
    const shown = view.sigma.getGraph(), round = (value: number) => value.toFixed(1);
    shown.forEachEdge((_key, attributes) => {
        const link = fabric.links[attributes.index as number];
        const from = view.viewportPoint(link.a), to = view.viewportPoint(link.b);
        const line = element("line", { x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y),
            stroke: palette.get(linkColour(link, view.colouring)), ...(isDown(link) ? { "stroke-dasharray": "5 5" } : {}) });
        line.append(element("title", {}, linkName(fabric, link)));
        lines.append(line);
    });
    for (const stroke of view.overlay.strokes) {
        const from = view.sigma.graphToViewport(stroke.from), to = view.sigma.graphToViewport(stroke.to);
        lines.append(element("line", { x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y),
            stroke: stroke.colour, "stroke-width": stroke.width, ...(stroke.dash ? { "stroke-dasharray": "5 5" } : {}) }));
    }
    const named = view.sigma.getNodeDisplayedLabels();
    shown.forEachNode((key, attributes) => {
        const node = fabric.nodes[attributes.index as number], at = view.viewportPoint(node.index);
        const data = view.sigma.getNodeDisplayData(key);
        const radius = view.sigma.scaleSize(data?.size ?? 4);
        const dot = element("circle", { cx: round(at.x), cy: round(at.y), r: round(radius), fill: palette.get(nodeColour(node, node.index === master)) });
        dot.append(element("title", {}, node.name));
        dots.append(dot);
        if (named.has(key)) labels.append(element("text", { x: round(at.x + radius + 3), y: round(at.y + 4) }, data?.label ?? node.name));
    });
    svg.append(lines, dots, labels);
    return new XMLSerializer().serializeToString(svg);
}

/** The canvases of the map in one image. They are read in the same task in which they are drawn: WebGL does not keep them. */
export function picturePng(view: GraphView): Promise<Blob> {
    const { width, height } = view.sigma.getDimensions();
    const ratio = window.devicePixelRatio || 1;
    const canvas = document.createElement("canvas");
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d")!;
    context.fillStyle = view.palette.get("back");
    context.fillRect(0, 0, canvas.width, canvas.height);
    view.sigma.refresh();
    const layers = view.sigma.getCanvases();
    for (const layer of [layers.edges, layers.nodes, layers.labels])
        if (layer) context.drawImage(layer, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve, reject) =>
        canvas.toBlob(blob => blob ? resolve(blob) : reject(new Error("The browser made no image.")), "image/png"));
}
