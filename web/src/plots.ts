// Throughput, latency and losses over virtual time. A click shows that moment. uPlot draws them; a line marks
// the moment that is shown, bands mark the phases of the changes.
import uPlot from "uplot";
import type { App } from "./app";
import { fill, h, swatch } from "./dom";
import { duration, rate } from "./format";
import { phases } from "./panels/change";
import { axisStyle, describe, drawBand, drawUpright } from "./plot";

interface PlotSpec { title: string; values: (app: App) => (number | null)[]; format: (value: number) => string; colour: string }

const SPECS: PlotSpec[] = [
    { title: "Throughput", values: app => app.store.series.throughput, format: rate, colour: "vl-0" },
    { title: "Latency", values: app => app.store.series.latency, format: duration, colour: "vl-4" },
    { title: "Packets lost", values: app => app.store.series.lost, format: value => String(Math.round(value)), colour: "bad" },
];

const INTERVAL = 200;

/** Labels of ticks; a label that rounding makes equal to the one below it is left out. */
function labels(values: number[], format: (value: number) => string): string[] {
    const texts = values.map(format);
    return texts.map((text, at) => text === texts[at - 1] ? "" : text);
}

export class Plots {
    private plots: uPlot[] = [];
    private place: HTMLElement | null = null;
    private readonly bands = h("div", { class: "bands quiet" });
    private drawn = 0;
    private timer = 0;

    constructor(private readonly app: App, private readonly onMoment: (t: number) => void) {}

    /** Makes the plots anew: for another server, theme or size. */
    build(place: HTMLElement | null): void {
        for (const plot of this.plots) plot.destroy();
        this.plots = [];
        this.place = place;
        if (!place) return;
        const holders = SPECS.map(() => h("div", { class: "plot" }));
        place.replaceChildren(...holders, this.bands);
        if (!place.clientWidth) return;
        this.plots = SPECS.map((spec, at) => this.make(spec, holders[at]));
        this.update(true);
    }

    resize(): void {
        if (!this.place) return;
        if (this.place.clientWidth && !this.plots.length) this.build(this.place);
        this.plots.forEach((plot, at) => {
            const holder = this.place!.children[at] as HTMLElement;
            if (holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: 82 });
        });
    }

    /** Draws new data, at most every INTERVAL ms. */
    update(force = false): void {
        if (!this.plots.length) return;
        const wait = force ? 0 : this.drawn + INTERVAL - performance.now();
        if (wait > 0) {
            this.timer ||= window.setTimeout(() => { this.timer = 0; this.update(true); }, wait);
            return;
        }
        this.drawn = performance.now();
        const shown = new Map((this.app.store.tick.changes ?? []).slice(-10).flatMap(change => phases(change, this.app.store.tick.t)).map(phase => [phase.colour, phase.label]));
        fill(this.bands, [...shown].map(([colour, label]) => h("span", {}, swatch(colour, true), ` ${label.toLowerCase()} `)));
        const t = this.app.store.series.t.map(value => value / 1e6);
        this.plots.forEach((plot, at) => plot.setData([t, SPECS[at].values(this.app)] as uPlot.AlignedData));
    }

    private make(spec: PlotSpec, holder: HTMLElement): uPlot {
        const colour = (name: string) => this.app.view.palette.get(name);
        const axis = axisStyle(colour, 10);
        const plot = new uPlot({
            width: Math.max(120, holder.clientWidth), height: 82, title: spec.title,
            legend: { show: false },
            cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { show: false } },
            scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
            series: [{}, { stroke: colour(spec.colour), width: 1.5, fill: `color-mix(in srgb, ${colour(spec.colour)} 15%, transparent)`, points: { show: false }, spanGaps: false }],
            axes: [
                { ...axis, size: 18, values: (_plot, values) => values.map(value => `${value} ms`), space: 70 },
                { ...axis, size: 66, values: (_plot, values) => labels(values, spec.format), space: 22 },
            ],
            hooks: { drawClear: [plot => this.drawBands(plot)], draw: [plot => this.drawMoment(plot)] },
        }, [[], []], holder);
        describe(plot.over, `${spec.title} over time`);
        plot.over.addEventListener("click", () => {
            const left = plot.cursor.left ?? -1;
            if (left >= 0) this.onMoment(plot.posToVal(left, "x") * 1e6);
        });
        return plot;
    }

    private drawBands(plot: uPlot): void {
        for (const change of (this.app.store.tick.changes ?? []).slice(-10))
            for (const phase of phases(change, this.app.store.tick.t))
                drawBand(plot, phase.from / 1e6, phase.to / 1e6, this.app.view.palette.get(phase.colour), 0.22);
    }

    private drawMoment(plot: uPlot): void {
        if (this.app.store.past) drawUpright(plot, this.app.store.tick.t / 1e6, this.app.view.palette.get("accent"), 2);
    }
}
