// The layer above the graph: what is few and must be seen. Links that are down, the selection, a path, a
// deadlock cycle, a multicast tree.
import type { Point, Projection } from "./camera";
import { pointOn, type Curve } from "./curve";
import { LABEL_FONT } from "./labels";

/** A curve in coordinates of the graph; arrows point to its end. */
export interface Stroke extends Curve {
    colour: string;
    width: number;
    dash?: boolean;
    arrow?: boolean;
    label?: string;
    /** Pixels to the right of the direction. */
    shift?: number;
}

/** The curve in the window. */
export function inWindow(stroke: Curve & { shift?: number }, projection: Projection): Curve {
    const from = projection.toWindow(stroke.from), to = projection.toWindow(stroke.to), via = stroke.via && projection.toWindow(stroke.via);
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (!stroke.shift || length === 0) return { from, to, via };
    const dx = -stroke.shift * (to.y - from.y) / length, dy = stroke.shift * (to.x - from.x) / length;
    const moved = ({ x, y }: Point) => ({ x: x + dx, y: y + dy });
    return { from: moved(from), to: moved(to), via: via && moved(via) };
}

export interface Ring {
    at: Point;
    colour: string;
    /** Pixels. */
    radius: number;
    label?: string;
}

export class Overlay {
    strokes: Stroke[] = [];
    rings: Ring[] = [];

    constructor(private readonly textColour: () => [string, string]) {}

    /** False: there is nothing to draw. */
    draw(context: CanvasRenderingContext2D, projection: Projection): boolean {
        for (const stroke of this.strokes) this.drawStroke(context, stroke, projection);
        for (const ring of this.rings) this.drawRing(context, ring, projection);
        return this.strokes.length + this.rings.length > 0;
    }

    private drawStroke(context: CanvasRenderingContext2D, stroke: Stroke, projection: Projection): void {
        const curve = inWindow(stroke, projection), { from, to, via } = curve;
        context.strokeStyle = context.fillStyle = stroke.colour;
        context.lineWidth = stroke.width;
        context.lineCap = "round";
        context.setLineDash(stroke.dash ? [5, 5] : []);
        context.beginPath();
        context.moveTo(from.x, from.y);
        if (via) context.quadraticCurveTo(via.x, via.y, to.x, to.y);
        else context.lineTo(to.x, to.y);
        context.stroke();
        context.setLineDash([]);
        const length = Math.hypot(to.x - from.x, to.y - from.y);
        if (stroke.arrow && length > 12) this.drawArrow(context, curve, 4 + stroke.width);
        const middle = pointOn(curve, 0.5);
        if (stroke.label && length > 70) this.drawText(context, stroke.label, middle.x, middle.y);
    }

    private drawArrow(context: CanvasRenderingContext2D, curve: Curve, size: number): void {
        const { x, y } = pointOn(curve, 0.62), next = pointOn(curve, 0.63), step = Math.hypot(next.x - x, next.y - y);
        const dx = (next.x - x) / step, dy = (next.y - y) / step;
        context.beginPath();
        context.moveTo(x + dx * size, y + dy * size);
        context.lineTo(x - dx * size - dy * size * 0.8, y - dy * size + dx * size * 0.8);
        context.lineTo(x - dx * size + dy * size * 0.8, y - dy * size - dx * size * 0.8);
        context.fill();
    }

    private drawRing(context: CanvasRenderingContext2D, ring: Ring, projection: Projection): void {
        const at = projection.toWindow(ring.at);
        context.strokeStyle = ring.colour;
        context.lineWidth = 2.5;
        context.beginPath();
        context.arc(at.x, at.y, ring.radius, 0, 2 * Math.PI);
        context.stroke();
        if (ring.label) this.drawText(context, ring.label, at.x, at.y - ring.radius - 9);
    }

    private drawText(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
        const [foreground, background] = this.textColour();
        context.font = LABEL_FONT;
        context.textAlign = "center";
        context.textBaseline = "middle";
        const width = context.measureText(text).width;
        context.fillStyle = background;
        context.fillRect(x - width / 2 - 3, y - 8, width + 6, 16);
        context.fillStyle = foreground;
        context.fillText(text, x, y);
    }
}
