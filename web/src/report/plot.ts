// One plot of a page: panels of uPlot one above the other, with one x axis, zoom and cursor; above them the bands and
// marks, below them the key. Texts of any length are elements of the page; only ticks and values of bars are in the canvas.
import uPlot from "uplot";
import { fill, h } from "../dom";
import { Palette } from "../graph/colour";
import { axisStyle, describe, drawBand, drawUpright } from "../plot";
import { categoryLabels, type CategoryLabels, STEPS, textWidth, tickLabels, TICK_FONT } from "./axis";
import { isBar, type Axis, type Chart, type Group, type Panel, type Point } from "./data";
import { drawGroup } from "./draw";
import { find, isSliced, summary } from "./hover";
import { otherKey, seriesKey } from "./key";
import { placeBands, placeMarks } from "./moments";

const HEIGHT = 240, SMALL_HEIGHT = 112, BARE_HEIGHT = 12, TOP = 6, BAR_TOP = 18, RIGHT = 22, X_SPACE = 84, Y_SPACE = 36, SMALL_Y_SPACE = 24, TICK = 4;

/** A panel on the page. `drawn` counts the points of each group that the last drawing showed. */
interface Drawn { data: Panel; plot: uPlot; drawn: number[] }

export class Plot {
    readonly panels: Drawn[] = [];
    private palette: Palette;
    private readonly hidden = new Set<Group>();
    private readonly flags = h("div", { class: "flags" });
    private readonly strip = h("div", { class: "strip" });
    private readonly areas: HTMLElement;
    private readonly tip = h("div", { class: "tip", role: "status", hidden: true });
    private readonly ring = h("span", { class: "ring", hidden: true });
    private readonly unzoom = h("button", { type: "button", class: "unzoom", hidden: true, onclick: () => this.reset() }, "Whole range");
    private readonly holders: HTMLElement[];
    /** Room for the y ticks of all panels, so that they align. */
    private ticksWidth = 24;
    private following = false;
    private known?: CategoryLabels;

    constructor(readonly root: HTMLElement, readonly chart: Chart) {
        this.palette = new Palette(root);
        this.holders = chart.panels.map(() => h("div", { class: "area" }));
        this.areas = h("div", { class: "areas", tabindex: 0, role: "group", "aria-label": `${summary(chart)} Arrow keys read values, + and - zoom, Escape ends it.`,
            onkeydown: event => this.key(event as KeyboardEvent), onblur: () => this.point(null) },
            chart.panels.flatMap((panel, at) => [this.heading(panel), this.holders[at]]));
        root.append(h("div", { class: "chart" },
            chart.marks.length > 0 && this.flags, chart.bands.length > 0 && this.strip, this.areas,
            chart.x.title && h("div", { class: "x-title" }, chart.x.title),
            h("div", { class: "key" }, chart.panels.length === 1 && this.series(chart.panels[0]), otherKey(chart)), this.tip, this.ring, this.unzoom));
        this.holders.forEach((holder, at) => describe(holder, `${chart.panels[at].y.label || "values"} over ${chart.x.label || "categories"}`));
        for (const [at, panel] of chart.panels.entries()) this.panels.push(this.make(panel, at));
        this.align();
    }

    /** The title of the y axis; one of several panels has its series beside it. */
    private heading(panel: Panel): HTMLElement | false {
        const series = this.chart.panels.length > 1 ? this.series(panel) : [];
        return (panel.y.title !== "" || series.length > 0) && panel.groups.length > 0 && h("div", { class: "key" }, h("span", {}, panel.y.title), series);
    }

    private series(panel: Panel): HTMLElement[] {
        return seriesKey(panel.groups, group => this.toggle(group));
    }

    /** Fits the plots into the page; `width` is given where it is not that of the window. */
    resize(width = this.areas.clientWidth): void {
        if (!width) return;
        this.panels.forEach(({ data, plot }, at) => plot.setSize({ width, height: this.height(data, at, width) }));
        this.align();
    }

    /** Draws anew with the colours of the present theme. */
    recolour(): void {
        this.palette = new Palette(this.root);
        for (const { plot } of this.panels) plot.redraw();
    }

    reset(): void {
        this.zoom(this.chart.x.low, this.chart.x.high);
        for (const { data, plot } of this.panels) plot.setScale("y", { min: data.y.low, max: data.y.high });
    }

    zoom(min: number, max: number): void {
        this.panels[0].plot.setScale("x", { min, max });
    }

    /* ---- uPlot ---- */

    private isLast(at: number): boolean {
        return at === this.chart.panels.length - 1;
    }

    private height(panel: Panel, at: number, width: number): number {
        const { panels, categories } = this.chart;
        const area = panel.height || (!panel.groups.length ? BARE_HEIGHT : panels.length > 1 ? SMALL_HEIGHT : HEIGHT);
        if (!this.isLast(at)) return area + this.top(panel) + TICK;
        return area + this.top(panel) + (categories.length ? this.names(width).height : 24);
    }

    /** Bars have their values above them. */
    private top(panel: Panel): number {
        return this.chart.categories.length && panel.groups.some(isBar) ? BAR_TOP : TOP;
    }

    /** Labels of the categories in a plot of that width. */
    private names(width: number): CategoryLabels {
        const room = this.room(width);
        if (this.known?.width !== room) this.known = categoryLabels(this.chart.categories, room);
        return this.known;
    }

    /** The width of the data area. */
    private room(width: number): number {
        return Math.max(40, width - this.ticksWidth - RIGHT);
    }

    private make(panel: Panel, at: number): Drawn {
        const made: Drawn = { data: panel, plot: undefined as unknown as uPlot, drawn: panel.groups.map(() => 0) };
        const width = Math.max(160, this.areas.clientWidth), empty: Group[] = [{ name: "", style: "points", colour: 0, shape: 0, points: [] }];
        const groups = panel.groups.length ? panel.groups : empty;
        made.plot = new uPlot({
            mode: 2, width, height: this.height(panel, at, width), legend: { show: false }, padding: [this.top(panel), RIGHT, 0, 0],
            cursor: { drag: { x: true, y: panel.groups.length > 0, uni: 24 }, points: { show: false }, dataIdx: () => null, y: !isSliced(this.chart),
                bind: { dblclick: () => () => { this.reset(); return null; } } },
            scales: { x: this.scale(this.chart.x), y: this.scale(panel.y) },
            axes: [this.xAxis(at), this.yAxis(panel)],
            series: [{}, ...groups.map(group => ({
                facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }],
                points: { show: false },
                paths: (plot: uPlot) => { this.paint(made, plot, group); return null; },
            }))] as uPlot.Series[],
            hooks: {
                drawClear: [plot => this.drawBands(plot)],
                draw: [plot => this.drawFrame(plot, at)],
                setCursor: [plot => this.follow(made, plot)],
                setScale: [(plot, key) => this.spread(plot, key)],
            },
        }, [null, ...groups.map(({ points }) => [points.map(([x]) => x), points.map(([, y]) => y)])] as unknown as uPlot.AlignedData, this.holders[at]);
        return made;
    }

    private scale({ low, high, log }: Axis): uPlot.Scale {
        return { time: false, auto: false, ...(log ? { distr: 3 as const, log: 10 as const } : {}), range: (_plot, min, max) => Number.isFinite(min ?? NaN) && max > min ? [min, max] : [low, high] };
    }

    private xAxis(at: number): uPlot.Axis {
        const { x, categories } = this.chart;
        const style = { ...axisStyle(name => this.palette.get(name), TICK_FONT), grid: { show: false }, gap: categories.length ? 8 : 4,
            ticks: { show: !categories.length, size: TICK, width: 1, stroke: () => this.palette.get("frame") } };
        if (!this.isLast(at)) return { ...style, size: TICK, space: X_SPACE, ...this.numbers(x), values: (_plot, ticks) => ticks.map(() => "") };
        if (categories.length) return {
            ...style, lineGap: 1.25,
            size: plot => this.names(plot.width).height,
            splits: (plot, _axis, low, high) => this.names(plot.width).ticks.filter(tick => tick >= low && tick <= high),
            values: (plot, shown) => { const { ticks, labels } = this.names(plot.width); return shown.map(tick => labels[ticks.indexOf(tick)]); },
        };
        return { ...style, size: 24, space: X_SPACE, ...this.numbers(x) };
    }

    private yAxis(panel: Panel): uPlot.Axis {
        return {
            ...axisStyle(name => this.palette.get(name), TICK_FONT), gap: 6, space: (_plot, _axis, _low, _high, pixels) => pixels < 2 * SMALL_HEIGHT ? SMALL_Y_SPACE : Y_SPACE, ...this.numbers(panel.y),
            ...(panel.groups.length ? {} : { values: (_plot: uPlot, ticks: number[]) => ticks.map(() => ""), grid: { show: false } }),
            size: (_plot, values) => {
                const widest = Math.max(0, ...(values ?? []).map(value => textWidth(value)));
                this.ticksWidth = Math.max(this.ticksWidth, Math.ceil(widest) + 10);
                return this.ticksWidth;
            },
        };
    }

    private numbers(axis: Axis): Pick<uPlot.Axis, "filter" | "incrs" | "splits" | "values"> {
        if (axis.ticks) {
            const named = new Map(axis.ticks);
            return {
                splits: (_plot, _axis, low, high) => [...named.keys()].filter(tick => tick >= low && tick <= high),
                filter: (_plot, ticks) => ticks,
                values: (_plot, ticks) => ticks.map(tick => named.get(tick) ?? ""),
            };
        }
        return {
            incrs: STEPS,
            filter: (_plot, ticks) => ticks,
            values: (_plot, ticks, _axis, _space, step) => tickLabels(axis, ticks, step),
        };
    }

    /** Panels whose ticks need less room take that of the widest. */
    private align(): void {
        if (this.panels.length > 1) for (const { plot } of this.panels) plot.redraw(false, true);
        queueMicrotask(() => {
            if (this.panels.some(({ plot }) => Math.round(plot.bbox.left / uPlot.pxRatio) < this.ticksWidth))
                for (const { plot } of this.panels) plot.redraw(false, true);
        });
    }

    /* ---- drawing ---- */

    private readonly isShown = (group: Group): boolean => !this.hidden.has(group);

    private paint(made: Drawn, plot: uPlot, group: Group): void {
        const at = made.data.groups.indexOf(group);
        if (at < 0) return;
        made.drawn[at] = this.isShown(group)
            ? drawGroup({ plot, chart: this.chart, panel: made.data, group, shown: this.isShown, colour: name => this.palette.get(name), ratio: uPlot.pxRatio })
            : 0;
    }

    private drawBands(plot: uPlot): void {
        for (const band of this.chart.bands)
            drawBand(plot, band.from, band.to, this.palette.get(`b${band.colour}`), Number(this.palette.get("tint")));
    }

    private drawFrame(plot: uPlot, at: number): void {
        const { left, top, width, height } = plot.bbox, { ctx } = plot;
        ctx.save();
        ctx.strokeStyle = this.palette.get("frame");
        ctx.lineWidth = uPlot.pxRatio;
        ctx.beginPath();
        ctx.moveTo(left - 0.5, top);
        ctx.lineTo(left - 0.5, top + height + 0.5);
        ctx.lineTo(left + width, top + height + 0.5);
        ctx.stroke();
        ctx.restore();
        for (const mark of this.chart.marks)
            drawUpright(plot, mark.x, this.palette.get("fault"), 1.2 * uPlot.pxRatio, [4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
        if (at !== 0) return;
        placeBands(this.strip, this.chart.bands, plot);
        placeMarks(this.flags, this.chart.marks, plot);
    }

    private toggle(group: Group): boolean {
        if (!this.hidden.delete(group)) this.hidden.add(group);
        for (const { plot } of this.panels) plot.redraw();
        return this.isShown(group);
    }

    /* ---- zoom and cursor ---- */

    /** One panel zooms along x: all do. */
    private spread(from: uPlot, key: string): void {
        if (!this.panels.length) return; /* being made */
        const { min, max } = from.scales.x;
        if (key === "x" && !this.following) {
            this.following = true;
            for (const { plot } of this.panels) if (plot !== from) plot.setScale("x", { min: min!, max: max! });
            this.following = false;
        }
        const differs = (axis: Axis, scale: uPlot.Scale) => scale.min !== undefined && (scale.min !== axis.low || scale.max !== axis.high);
        this.unzoom.hidden = !this.panels.some(({ data, plot }) => differs(this.chart.x, plot.scales.x) || differs(data.y, plot.scales.y));
    }

    private follow(made: Drawn, plot: uPlot): void {
        if (this.following) return;
        const { left = -1, top = -1 } = plot.cursor;
        this.following = true;
        for (const other of this.panels) if (other !== made) other.plot.setCursor({ left, top: left < 0 ? -10 : 0 }, false);
        this.following = false;
        this.point(left < 0 ? null : { made, left, top });
    }

    /** Shows what is at a position. */
    private point(place: { made: Drawn; left: number; top: number } | null): void {
        const found = place && find(this.chart, place.made.data, place.made.plot, this.isShown, place.left, place.top);
        this.tip.hidden = !found;
        this.ring.hidden = !found?.at;
        if (!place || !found) return;
        fill(this.tip, h("b", {}, found.heading), found.rows.map(({ group, label, value }) =>
            h("div", {}, h("span", { class: `k${group.colour}` }, "●"), ` ${label}: `, h("span", { class: "value" }, value))));
        const { plot } = place.made, chart = this.tip.parentElement!.getBoundingClientRect(), over = plot.over.getBoundingClientRect();
        if (found.at) {
            this.ring.style.left = `${over.left - chart.left + plot.valToPos(found.at.x, "x")}px`;
            this.ring.style.top = `${over.top - chart.top + plot.valToPos(found.at.y, "y")}px`;
        }
        const at = over.left - chart.left + place.left, width = this.tip.offsetWidth;
        this.tip.style.left = `${Math.max(0, Math.min(at + 14 + width > chart.width ? at - width - 14 : at + 14, chart.width - width))}px`;
        this.tip.style.top = `${over.top - chart.top + Math.max(0, place.top) + 16}px`;
    }

    /* ---- keyboard ---- */

    /** Positions that the arrow keys visit: points, or hundredths of the axis. */
    private stops(): { x: number; y: number | null; at: number }[] {
        const { min, max } = this.panels[0].plot.scales.x;
        if (isSliced(this.chart)) return Array.from({ length: 101 }, (_, part) => ({ x: min! + part / 100 * (max! - min!), y: null, at: 0 }));
        const inside = ([x, y]: Point) => x !== null && y !== null && x >= min! && x <= max!;
        return this.panels.flatMap(({ data }, at) => data.groups.filter(this.isShown).flatMap(group =>
            group.points.filter(inside).map(([x, y]) => ({ x: x!, y, at })))).sort((a, b) => a.x - b.x);
    }

    private stop = -1;

    private key(event: KeyboardEvent): void {
        const { plot } = this.panels[0], { min, max } = plot.scales.x, stops = this.stops();
        const moves: Record<string, () => number> = { ArrowLeft: () => this.stop - 1, ArrowRight: () => this.stop + 1, Home: () => 0, End: () => stops.length - 1 };
        const move = moves[event.key], factor = event.key === "+" ? 0.25 : event.key === "-" ? 1 : 0;
        if (event.key === "Escape") this.reset();
        else if (factor) {
            const middle = (plot.cursor.left ?? -1) >= 0 ? plot.posToVal(plot.cursor.left!, "x") : (min! + max!) / 2, half = (max! - min!) * factor;
            this.zoom(Math.max(this.chart.x.low, middle - half), Math.min(this.chart.x.high, middle + half));
        } else if (move && stops.length) {
            this.stop = Math.max(0, Math.min(move(), stops.length - 1));
            const { x, y, at } = stops[this.stop], panel = this.panels[at];
            panel.plot.setCursor({ left: panel.plot.valToPos(x, "x"), top: y === null ? 0 : panel.plot.valToPos(y, "y") });
        } else return;
        event.preventDefault();
    }
}
