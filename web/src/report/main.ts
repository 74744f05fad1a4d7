// HTML reports. The page contains its data as JSON in a <pre>, which readers without JavaScript see instead
// (src/experiment/report/page.c); this script makes text, tables and plots of it.
import "./report.css";
import type { Page } from "./data";
import type { Plot } from "./plot";
import { plots, finish, main } from "./page";
import { putPapers } from "./papers";
import { putRun } from "./run";
import { putSweep } from "./sweep";
import { putAnswer, putRanking } from "./whatif";

declare global { interface Window { weft?: { plots: Plot[] } } }

const PRINT_WIDTH = 660; /* CSS pixels of A4 between its margins */

function draw(page: Page): void {
    document.body.className = page.kind;
    main.replaceChildren();
    switch (page.kind) {
        case "run": return putRun(page);
        case "sweep": return putSweep(page);
        case "whatif": return putAnswer(page);
        case "ranking": return putRanking(page);
        case "papers": return putPapers(page);
    }
}
draw(JSON.parse(main.querySelector("pre")!.textContent!) as Page);
finish();
window.weft = { plots };

const resized = new ResizeObserver(entries => {
    for (const { target } of entries) plots.find(plot => plot.root === target)?.resize();
});
for (const { root } of plots) resized.observe(root);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(plot => plot.recolour()));

/** Paper is light. */
function print(begin: boolean): void {
    document.documentElement.classList.toggle("printing", begin);
    for (const plot of plots) {
        plot.recolour();
        plot.resize(begin ? Math.min(PRINT_WIDTH, plot.root.clientWidth) : undefined);
    }
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
