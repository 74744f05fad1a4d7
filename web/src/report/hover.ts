// The values at the cursor, as text. Curves over time show all values at that time; bars those of their category;
// points the nearest one.
import type uPlot from "uplot";
import { decimal, quantity } from "../format";
import { barsOf, isBar, type Axis, type Chart, type Group, type Panel, type Point } from "./data";

export interface Finding {
    heading: string;
    rows: { group: Group; label: string; value: string }[];
    /** The point itself, if there is one. */
    at?: { x: number; y: number };
}

const NEAR = 60; /* CSS pixels */

/** Whether values are read along the x axis, rather than at single points. */
export function isSliced(chart: Chart): boolean {
    return chart.panels.some(panel => panel.groups.some(group => group.style === "lines" || group.style === "steps"));
}

function xText(chart: Chart, value: number): string {
    if (chart.categories.length) return chart.categories[Math.round(value)] ?? "";
    return `${chart.x.label}: ${quantity(value, chart.x.unit)}`;
}

function valueText(chart: Chart, panel: Panel, [, y, , high, hollow]: Point): string {
    const error = high == null ? "" : ` ± ${quantity(high - y!, panel.y.unit)}`;
    return `${quantity(y!, panel.y.unit)}${error}${hollow && chart.hollow ? ` (${chart.hollow})` : ""}`;
}

function row(chart: Chart, panel: Panel, group: Group, point: Point) {
    const label = chart.panels.length > 1 || !group.name ? [panel.y.label, group.name].filter(Boolean).join(", ") : group.name;
    return { group, label, value: valueText(chart, panel, point) };
}

/** The last point at or before x. */
function pointAt(group: Group, x: number): Point | undefined {
    let low = 0, high = group.points.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((group.points[middle][0] ?? -Infinity) <= x) low = middle + 1;
        else high = middle;
    }
    return group.points[low - 1];
}

/** A position on the x axis, as exact as the part `span` of it that is shown. */
function positionText({ label, factor, scale }: Axis, x: number, span: number): string {
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(span / factor / 400))));
    return `${label}: ${decimal(x / factor, decimals)} ${scale}`.trim();
}

function slice(chart: Chart, shown: (group: Group) => boolean, x: number, span: number): Finding {
    const phases = chart.bands.filter(band => x >= band.from && x < band.to).map(band => `${band.name} ${band.detail}`.trim());
    const rows = chart.panels.flatMap(panel => panel.groups.filter(shown).flatMap(group => {
        const point = pointAt(group, x);
        return point && point[1] !== null ? [row(chart, panel, group, point)] : [];
    }));
    return { heading: [positionText(chart.x, x, span), ...phases].join("; "), rows };
}

function bars(chart: Chart, panel: Panel, shown: (group: Group) => boolean, x: number): Finding | undefined {
    const { gap } = barsOf(chart, panel);
    const rows: Finding["rows"] = [];
    let middle: number | undefined;
    for (const group of panel.groups.filter(shown))
        for (const point of group.points)
            if (point[0] !== null && point[1] !== null && Math.abs(point[0] - x) <= gap / 2) {
                middle = point[0];
                rows.push(row(chart, panel, group, point));
            }
    return middle === undefined ? undefined : { heading: xText(chart, middle), rows };
}

function nearest(chart: Chart, panel: Panel, plot: uPlot, shown: (group: Group) => boolean, left: number, top: number): Finding | undefined {
    let best: Finding | undefined, least = NEAR * NEAR;
    for (const group of panel.groups.filter(shown))
        for (const point of group.points) {
            if (point[0] === null || point[1] === null) continue;
            const distance = (plot.valToPos(point[0], "x") - left) ** 2 + (plot.valToPos(point[1], "y") - top) ** 2;
            if (distance >= least) continue;
            least = distance;
            best = { heading: xText(chart, point[0]), rows: [row(chart, panel, group, point)], at: { x: point[0], y: point[1] } };
        }
    return best;
}

/** What is at a position of a panel, in CSS pixels of its data area. */
export function find(chart: Chart, panel: Panel, plot: uPlot, shown: (group: Group) => boolean, left: number, top: number): Finding | undefined {
    const x = plot.posToVal(left, "x");
    if (isSliced(chart)) return slice(chart, shown, x, plot.scales.x.max! - plot.scales.x.min!);
    if (panel.groups.some(isBar)) return bars(chart, panel, shown, x);
    return nearest(chart, panel, plot, shown, left, top);
}

/** The plot in words. */
export function summary(chart: Chart): string {
    const parts = chart.panels.filter(panel => panel.groups.length).map(panel => {
        const groups = panel.groups.map(group => {
            const values = group.points.flatMap(([, y]) => y === null ? [] : [y]);
            if (!values.length) return `${group.name || "one series"} without values`;
            const least = values.reduce((a, b) => Math.min(a, b)), most = values.reduce((a, b) => Math.max(a, b));
            return `${group.name ? `${group.name}: ` : ""}${values.length} values from ${quantity(least, panel.y.unit)} to ${quantity(most, panel.y.unit)}`;
        });
        return `${panel.y.label || "values"} over ${chart.x.label || "categories"}. ${groups.join("; ")}`;
    });
    const names = [...new Set(chart.bands.map(band => band.name))];
    if (names.length) parts.push(`Phases: ${names.join(", ")}`);
    if (chart.marks.length) parts.push(`Marked: ${chart.marks.map(mark => mark.label).join(", ")}`);
    return `plot of ${parts.join(". ")}.`;
}
