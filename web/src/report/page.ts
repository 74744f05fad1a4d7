// The parts of a page: sections, tables, tiles, plots. Text always becomes a text node (dom.ts).
import { h, type Child } from "../dom";
import type { Chart } from "./data";
import { Plot } from "./plot";

const CONTENTS_FROM = 4;

/** A cell; `tone` is "good", "bad" or "strong". */
export type Cell = Child | { text: string; tone: string };

export const main = document.querySelector("main")!;
export const plots: Plot[] = [];

const headings: { level: "h2" | "h3"; element: HTMLElement }[] = [];

export function put(...children: Child[]): void {
    for (const child of children) if (child instanceof Node) main.append(child);
}

/** A heading that the contents list; "h3" is a part of a section. */
export function section(heading: string, level: "h2" | "h3" = "h2"): void {
    const element = h(level, { id: `${level}-${headings.length}` }, heading);
    headings.push({ level, element });
    put(element);
}

export function paragraph(text: string, kind = ""): HTMLElement {
    return h("p", { class: kind || null }, text);
}
export const note = (text: string): HTMLElement => paragraph(text, "note");
export const code = (text: string): HTMLElement => h("pre", {}, text);

export function tiles(pairs: [value: string, label: string][]): HTMLElement {
    return h("div", { class: "tiles" }, pairs.map(([value, label]) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, label))));
}

/** Headings that begin with '>' mark columns of numbers. */
export function table(heads: string[], rows: Cell[][]): HTMLElement {
    const kind = (at: number, tone = "") => [heads[at].startsWith(">") && "n", tone].filter(Boolean).join(" ") || null;
    const cell = (value: Cell, at: number) => value !== null && typeof value === "object" && "tone" in value
        ? h("td", { class: kind(at, value.tone) }, value.text) : h("td", { class: kind(at, value instanceof HTMLElement ? "share" : "") }, value as Child);
    return h("div", { class: "scroll" }, h("table", {},
        h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { class: kind(at) }, head.replace(/^>/, ""))))),
        h("tbody", {}, rows.map(row => h("tr", {}, row.map(cell))))));
}

/** A bar of a table: a share of the longest one. */
export function bar(share: number): HTMLElement {
    const made = h("span", {});
    made.style.width = `${(100 * Math.min(share, 1)).toFixed(1)}%`;
    return made;
}

/** A plot with its data below it. It is drawn when the page is complete, since its width must be known. */
export function plot(chart: Chart, caption = ""): HTMLElement {
    const place = h("div", {});
    waiting.push([place, chart]);
    return h("figure", { class: "plot" }, place, h("details", {}, h("summary", {}, "Data"), h("pre", {}, JSON.stringify(chart))),
        caption && h("figcaption", {}, caption));
}
const waiting: [HTMLElement, Chart][] = [];

/** The picture that the page has above its data, in a section of its own. */
export function picture(missing: string | undefined, caption: string): void {
    const found = document.querySelector("figure.picture");
    if (missing === undefined) return;
    section("The fabric");
    if (missing || !found) return put(note(`There is no picture: ${missing}.`));
    found.append(h("figcaption", {}, caption));
    put(found);
}

/** Adds the contents and draws the plots. */
export function finish(): void {
    if (headings.filter(({ level }) => level === "h2").length >= CONTENTS_FROM)
        headings[0].element.before(h("nav", {}, headings.map(({ level, element }) =>
            h("a", { href: `#${element.id}`, class: level === "h3" && "part" }, element.textContent!))));
    for (const [place, chart] of waiting) plots.push(new Plot(place, chart));
}
