// Numbers and names along axes: round ticks, labels that do not touch.
import { decimal } from "../format";
import { FONT } from "../plot";
import type { Axis } from "./data";

export const TICK_FONT = 11;
const LINE = 14, LINES_MOST = 3;
const measuring = document.createElement("canvas").getContext("2d")!;

/** The width of a text in CSS pixels. */
export function textWidth(text: string, pixels = TICK_FONT, weight = 400): number {
    measuring.font = `${weight} ${pixels}px ${FONT}`;
    return measuring.measureText(text).width;
}

/** A text that fits into a width: names lose their middle, since they often differ at the end. */
export function shorten(text: string, room: number, pixels = TICK_FONT): string {
    if (textWidth(text, pixels) <= room) return text;
    const letters = [...text];
    const keep = (count: number) => {
        const head = Math.ceil(count / 2);
        return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (count - head)).join("")}`;
    };
    let fits = 0;
    for (let more = letters.length; fits + 1 < more;) {
        const middle = (fits + more) >> 1;
        if (textWidth(keep(middle), pixels) <= room) fits = middle;
        else more = middle;
    }
    return fits ? keep(fits) : "…";
}

/** At most LINES_MOST lines, parted at blanks; what is left is shortened. */
function wrap(text: string, room: number): string {
    const lines: string[] = [];
    const words = text.split(/\s+/).filter(Boolean);
    while (words.length && lines.length < LINES_MOST - 1) {
        let line = words.shift()!;
        while (words.length && textWidth(`${line} ${words[0]}`) <= room) line += ` ${words.shift()}`;
        lines.push(shorten(line, room));
    }
    if (words.length) lines.push(shorten(words.join(" "), room));
    return lines.join("\n");
}

/** Labels of categories: every `stride`-th, wrapped into the room that it has. */
export interface CategoryLabels { width: number; ticks: number[]; labels: string[]; height: number }

export function categoryLabels(names: string[], width: number): CategoryLabels {
    const slot = width / names.length, stride = Math.max(1, Math.ceil(26 / slot));
    const ticks = names.flatMap((_, at) => at % stride === 0 ? [at] : []);
    const labels = ticks.map(at => wrap(names[at], slot * stride - 6));
    const lines = Math.max(1, ...labels.map(label => label.split("\n").length));
    return { width, ticks, labels, height: lines * LINE + 10 };
}

/** Steps between ticks that people count in. */
export const STEPS = Array.from({ length: 34 }, (_, power) => [1, 2, 5].map(lead => Number(`${lead}e${power - 16}`))).flat();

/** Labels of ticks `step` apart, in the unit of the axis. */
export function tickLabels(axis: Axis, ticks: number[], step: number): string[] {
    const scaled = step / axis.factor;
    let decimals = 0;
    while (decimals < 9 && Math.abs(scaled * 10 ** decimals - Math.round(scaled * 10 ** decimals)) > 1e-6 * scaled * 10 ** decimals) decimals++;
    return ticks.map(tick => decimal(tick / axis.factor, decimals));
}
