// What the plots of the live page and of HTML reports share: the look of axes, and bands and lines over the x axis.
import type uPlot from "uplot";

export const FONT = "system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif";

/** An axis with quiet text and grid lines; colours are read at each drawing. */
export function axisStyle(colour: (name: string) => string, pixels: number): uPlot.Axis {
    return {
        stroke: () => colour("quiet"),
        grid: { stroke: () => colour("line"), width: 1 },
        ticks: { show: false },
        font: `${pixels}px ${FONT}`,
    };
}

/** Colours a part of the x axis over the height of the plot; at least one pixel wide. */
export function drawBand(plot: uPlot, from: number, to: number, colour: string, alpha: number): void {
    const { left, width, top, height } = plot.bbox;
    const start = Math.max(left, plot.valToPos(from, "x", true));
    const end = Math.min(left + width, plot.valToPos(to, "x", true));
    if (!(end >= left && start <= left + width)) return;
    plot.ctx.save();
    plot.ctx.globalAlpha = alpha;
    plot.ctx.fillStyle = colour;
    plot.ctx.fillRect(start, top, Math.max(1, end - start), height);
    plot.ctx.restore();
}

/** A vertical line over the height of the plot; `dash` as in setLineDash. */
export function drawUpright(plot: uPlot, at: number, colour: string, width: number, dash: number[] = []): void {
    const { left, width: room, top, height } = plot.bbox;
    const x = plot.valToPos(at, "x", true);
    if (!(x >= left && x <= left + room)) return;
    plot.ctx.save();
    plot.ctx.strokeStyle = colour;
    plot.ctx.lineWidth = width;
    plot.ctx.setLineDash(dash);
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, top);
    plot.ctx.lineTo(x, top + height);
    plot.ctx.stroke();
    plot.ctx.restore();
}

/** Text for those who do not see the picture. */
export function describe(element: HTMLElement, text: string): void {
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", text);
}
