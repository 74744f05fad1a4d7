// The plots of an HTML report. The page contains the data of each plot as JSON in a <pre>, which readers without
// JavaScript see instead (src/experiment/report/page.c); this script draws the plot above it.
import "./report.css";
import type { Chart } from "./data";
import { Figure } from "./figure";

declare global { interface Window { weft?: { figures: Figure[] } } }

const PRINT_WIDTH = 660; /* CSS pixels of A4 between its margins */

const figures = [...document.querySelectorAll<HTMLElement>("figure.plot")].map(element => {
    const chart = JSON.parse(element.querySelector("pre")!.textContent!) as Chart;
    const place = document.createElement("div");
    element.querySelector(".without")!.replaceWith(place);
    return new Figure(place, chart);
});
window.weft = { figures };

const resized = new ResizeObserver(entries => {
    for (const { target } of entries) figures.find(figure => figure.root === target)?.resize();
});
for (const { root } of figures) resized.observe(root);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(figure => figure.recolour()));

/** Paper is light. */
function print(begin: boolean): void {
    document.documentElement.classList.toggle("printing", begin);
    for (const figure of figures) {
        figure.recolour();
        figure.resize(begin ? Math.min(PRINT_WIDTH, figure.root.clientWidth) : undefined);
    }
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
