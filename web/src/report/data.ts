// The data of a page, as src/experiment/report, src/experiment/whatif and experiments/reproduce write it, and of its plots, as
// src/experiment/chart/chart_json.c does.

export type Style = "lines+points" | "lines" | "steps" | "points" | "bars" | "stacked";

/** x, y, the ends of an error bar, and whether the point is hollow. Values that are not finite are null. */
export type Point = [x: number | null, y: number | null, low?: number | null, high?: number | null, hollow?: true];

export interface Group { name: string; style: Style; colour: number; shape: number; points: Point[] }

/** Numbers at ticks are values divided by `factor`, in the unit `scale`: 0.001 and "ms" for values in `unit` "s". A logarithmic axis
 * has its ticks and their texts. */
export interface Axis {
    title: string; label: string; unit: string; scale: string; low: number; high: number; factor: number;
    log?: boolean; ticks?: [value: number, text: string][];
}

/** A height of 0 is the default. */
export interface Panel { height: number; y: Axis; groups: Group[] }

/** A part of the x axis, such as a phase of the manager. */
export interface Band { from: number; to: number; name: string; detail: string; colour: number }

/** A point in time, such as a fault. */
export interface Mark { x: number; label: string }

/** Panels share the x axis. With categories, x is the index of one. */
export interface Chart {
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

/* ---- pages ---- */

/** What repeats a run. */
export interface Origin { replay: string; seed: number; version: string; trace_hash: string }

export interface Change {
    cause: string; finished: boolean; begin_ps: number; end_ps: number; gets: number; sets: number; blocks: number;
    fault_ps?: number; routing_ps?: number; computing_ps?: number;
}
export interface Check { statement: string; time_ps: number; holds: boolean; finding: string }
export interface Happening { time_ps: number; kind: string; who: string; text: string }
export interface Measured { name: string; unit: string; value: number | null }
/** The whole run, which has no moment, or the time around a change. */
export interface Window { from_ps: number; origin_ps: number; moment: string; left_out: number; chart: Chart }

/** What a run has that did not fail. */
export interface Results {
    lost: number | null; recovery: number | null; smps: number; end_ps: number; changes_made: number;
    changes: Change[]; checks: Check[]; timeline: Happening[]; figures: Measured[]; windows: Window[];
}
export interface Run extends Origin, Partial<Results> { kind: "run"; no_picture?: string; scenario: string }

export interface Failure { point: string; repetition: number; error: string; checks_failed: number; replay: string }
/** `cells` are rows of `columns`: names, units, then the points. */
export interface Sweep extends Partial<Origin> {
    kind: "sweep"; fixed: Record<string, string>; pooled: string[]; repetitions: number; charts: Chart[];
    points: number; columns: number; cells: string[]; failures: Failure[]; failures_in_all: number;
}

export interface Loads { most: number; hops: number }
export interface Reaction {
    engine: string; up: boolean; reacted: boolean; recovered: boolean; refusal?: string; complaint?: string;
    recovery_ps: number; smps: number; blocks: number;
    before?: Loads; after?: Loads; // not of an engine that refuses, nor are the figures above
}
/** The answer of weft whatif --json, and more. */
export interface Answer {
    kind: "whatif"; no_picture: string; cut_off_adapters: string[]; cut_off_switches: string[]; cut_off_before: number;
    traffic?: { simulated_share: number; lost_estimate: number }; engines: Reaction[];
    links: { link: string; before: number; after: number }[]; load: number; loads?: Chart; command: string; scenario: string;
}
export interface Case {
    failure: string; cut_off_adapters: number; cut_off_switches: number; affected: number; recovered: boolean;
    recovery_ps: number; lost_bytes: number; load_most_before: number; load_most_after: number; error?: string;
}
export interface Ranking { kind: "ranking"; cases: Case[]; left_out: number; command: string }

export interface Finding { measured: string; outcome: string; expected: string; reason?: string }
export interface Claim { claim: string; kind: string; paper: string; place: string; tolerance: string; preset_paper: Finding; preset_today: Finding }
export interface Experiment {
    name: string; title: string; summary: string; failed: number; checks_do_not_hold: number; claims: Claim[];
    of?: { title: string; authors: string; venue: string; year: number }; readme: string;
    pictures: { plot: string; caption: string; chart: Chart }[];
}
export interface Tally { claims: number; hold_with_preset_paper: number; hold_with_preset_today: number }
export interface Papers { kind: "papers"; runs: number; kinds: Record<string, Tally>; experiments: Experiment[] }

export type Page = Run | Sweep | Answer | Ranking | Papers;
