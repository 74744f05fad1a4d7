// The data of a plot, as src/experiment/chart/chart_json.c writes it into a page.

export type Style = "lines+points" | "lines" | "steps" | "points" | "bars" | "stacked";

/** x, y, the ends of an error bar, and whether the point is hollow. Values that are not finite are null. */
export type Point = [x: number | null, y: number | null, low?: number | null, high?: number | null, hollow?: true];

export interface Group { name: string; style: Style; colour: number; shape: number; points: Point[] }

/** Numbers at ticks are values divided by `factor`, in the unit `scale`: 0.001 and "ms" for values in `unit` "s". */
export interface Axis { title: string; label: string; unit: string; scale: string; low: number; high: number; factor: number; log: boolean }

/** A height of 0 is the default. */
export interface Panel { height: number; y: Axis; groups: Group[] }

/** A part of the x axis, such as a phase of the manager. */
export interface Band { from: number; to: number; name: string; detail: string; colour: number }

/** A point in time, such as a fault. */
export interface Mark { x: number; label: string }

/** Panels share the x axis. With categories, x is the index of one. */
export interface Chart {
    title: string;
    /** What hollow points mean. */
    hollow: string;
    x: Axis;
    categories: string[];
    bands: Band[];
    marks: Mark[];
    panels: Panel[];
}

export function isBar(group: Group): boolean {
    return group.style === "bars" || group.style === "stacked";
}

/** Whether an axis can show a value at all. */
export function fits(axis: Axis, value: number | null): value is number {
    return value !== null && (!axis.log || value > 0);
}

export interface Bars {
    /** Between the middles of neighbours, on the x axis. */
    gap: number;
    /** Side by side; 0: the panel has no bars. */
    columns: number;
}

export function barsOf(chart: Chart, panel: Panel): Bars {
    const single = panel.groups.filter(group => group.style === "bars").length;
    const columns = single + (panel.groups.some(group => group.style === "stacked") ? 1 : 0);
    if (chart.categories.length) return { gap: 1, columns };
    let gap = Infinity;
    for (const { points } of panel.groups)
        for (let at = 1; at < points.length; at++) {
            const step = Math.abs((points[at][0] ?? NaN) - (points[at - 1][0] ?? NaN));
            if (step > 0 && step < gap) gap = step;
        }
    return { gap: Number.isFinite(gap) ? gap : 1, columns };
}
