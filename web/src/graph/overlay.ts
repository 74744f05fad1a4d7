// The layer above the graph: what is few and must be seen. Links that are down, the selection, a path, a
// deadlock cycle, a multicast tree. It is drawn after every frame of sigma on the canvas of the labels: one canvas
// more would cost the browser time to compose it.
import type Sigma from "sigma";

export interface Stroke {
    /** Ends in coordinates of the graph; arrows point to the second one. */
    from: { x: number; y: number };
    to: { x: number; y: number };
    colour: string;
    width: number;
    dash?: boolean;
    arrow?: boolean;
    label?: string;
}

export interface Ring {
    at: { x: number; y: number };
    colour: string;
    /** Pixels. */
    radius: number;
    label?: string;
}

export class Overlay {
    strokes: Stroke[] = [];
    rings: Ring[] = [];

    constructor(private readonly sigma: Sigma, private readonly textColour: () => [string, string]) {
        sigma.on("afterRender", () => this.draw());
    }

    private draw(): void {
        const context = this.sigma.getCanvases().labels.getContext("2d");
        if (!context) return;
        const ratio = window.devicePixelRatio || 1;
        context.save();
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        for (const stroke of this.strokes) this.drawStroke(context, stroke);
        for (const ring of this.rings) this.drawRing(context, ring);
        context.restore();
    }

    private drawStroke(context: CanvasRenderingContext2D, stroke: Stroke): void {
        const from = this.sigma.graphToViewport(stroke.from), to = this.sigma.graphToViewport(stroke.to);
        context.strokeStyle = context.fillStyle = stroke.colour;
        context.lineWidth = stroke.width;
        context.lineCap = "round";
        context.setLineDash(stroke.dash ? [5, 5] : []);
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
        context.stroke();
        context.setLineDash([]);
        const length = Math.hypot(to.x - from.x, to.y - from.y);
        if (stroke.arrow && length > 12) this.drawArrow(context, from, to, length, 4 + stroke.width);
        if (stroke.label && length > 70) this.drawText(context, stroke.label, (from.x + to.x) / 2, (from.y + to.y) / 2);
    }

    private drawArrow(context: CanvasRenderingContext2D, from: { x: number; y: number }, to: { x: number; y: number },
                      length: number, size: number): void {
        const dx = (to.x - from.x) / length, dy = (to.y - from.y) / length;
        const x = from.x + dx * length * 0.62, y = from.y + dy * length * 0.62;
        context.beginPath();
        context.moveTo(x + dx * size, y + dy * size);
        context.lineTo(x - dx * size - dy * size * 0.8, y - dy * size + dx * size * 0.8);
        context.lineTo(x - dx * size + dy * size * 0.8, y - dy * size - dx * size * 0.8);
        context.fill();
    }

    private drawRing(context: CanvasRenderingContext2D, ring: Ring): void {
        const at = this.sigma.graphToViewport(ring.at);
        context.strokeStyle = ring.colour;
        context.lineWidth = 2.5;
        context.beginPath();
        context.arc(at.x, at.y, ring.radius, 0, 2 * Math.PI);
        context.stroke();
        if (ring.label) this.drawText(context, ring.label, at.x, at.y - ring.radius - 9);
    }

    private drawText(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
        const [foreground, background] = this.textColour();
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        const width = context.measureText(text).width;
        context.fillStyle = background;
        context.fillRect(x - width / 2 - 3, y - 8, width + 6, 16);
        context.fillStyle = foreground;
        context.fillText(text, x, y);
    }
}
