// Bands and marks above the panels: a strip with the names of phases, and flags with the labels of faults.
import type uPlot from "uplot";
import { fill, h } from "../dom";
import { textWidth } from "./axis";
import type { Band, Mark } from "./data";

const FONT = 12, NAME_FONT = 11, LABEL_MOST = 180, LABEL_ROW = 15, ROWS = 2;

/** Pixels of CSS from the left side of the plot. */
function position(plot: uPlot, x: number): number {
    return plot.over.offsetLeft + plot.valToPos(x, "x");
}

function isInside(plot: uPlot, from: number, to: number): boolean {
    const { min, max } = plot.scales.x;
    return to >= min! && from <= max!;
}

/** Names stand where there is room for them; pointing shows all. */
export function placeBands(strip: HTMLElement, bands: Band[], plot: uPlot): void {
    const { min, max } = plot.scales.x;
    fill(strip, bands.filter(band => isInside(plot, band.from, band.to)).map(band => {
        const left = position(plot, Math.max(band.from, min!)), width = Math.max(1.2, position(plot, Math.min(band.to, max!)) - left);
        const label = `${band.name} ${band.detail}`.trim();
        const shown = [label, band.name].find(text => textWidth(text, NAME_FONT, 600) < width - 6) ?? "";
        const element = h("div", { class: "band", title: label }, shown);
        element.style.cssText = `left:${left.toFixed(1)}px;width:${width.toFixed(1)}px;background:var(--b${band.colour})`;
        return element;
    }));
}

/** Labels beside the flags, or above them where another flag is in the way; a label without room is only a hover title. */
export function placeMarks(flags: HTMLElement, marks: Mark[], plot: uPlot): void {
    const room = plot.width, ends = Array<number>(ROWS).fill(-Infinity), made: HTMLElement[] = [];
    const inside = marks.filter(mark => isInside(plot, mark.x, mark.x)), rows = Math.min(ROWS, marks.length);
    const others = (mark: Mark, from: number, to: number) => inside.some(other => other !== mark && position(plot, other.x) > from - 5 && position(plot, other.x) < to + 5);
    flags.style.height = `${rows * LABEL_ROW + 2}px`;
    for (const mark of inside) {
        const x = position(plot, mark.x), width = Math.min(textWidth(mark.label, FONT, 600) + 1, LABEL_MOST, room - 16);
        const flip = x + 8 + width > room, from = flip ? x - 8 - width : x + 8;
        const flag = h("i", { class: "flag", title: mark.label });
        flag.style.left = `${x.toFixed(1)}px`;
        made.push(flag);
        const row = from < 0 ? -1 : ends.findIndex((end, at) => at < rows && from >= end && (at > 0 || !others(mark, from, from + width)));
        if (row < 0) continue;
        const label = h("span", { class: "fault", title: mark.label }, mark.label);
        label.style.cssText = `left:${from.toFixed(1)}px;width:${Math.ceil(width)}px;bottom:${row * LABEL_ROW + 1}px`;
        made.push(label);
        ends[row] = from + width + 8;
    }
    fill(flags, made);
}
