// Draws the groups of a panel on uPlot's canvas: lines, steps, points with error bars, bars. Lines keep the order of
// their points: a curve of latency over accepted traffic may turn back.
import type uPlot from "uplot";
import { quantity } from "../format";
import { FONT } from "../plot";
import { textWidth, TICK_FONT } from "./axis";
import { barsOf, isBar, type Chart, type Group, type Panel, type Point } from "./data";

/** Markers by shape: circle, square, triangle, diamond, inverted triangle, star. */
export const SHAPES = [
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.3 -3.3h6.6v6.6h-6.6z",
    "M0 -4.4l4.2 7.4h-8.4z",
    "M0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z",
    "M0 4.4l4.2 -7.4h-8.4z",
    "M0 -7l1.8 5.2l5.2 1.8l-5.2 1.8l-1.8 5.2l-1.8 -5.2l-5.2 -1.8l5.2 -1.8z",
];
/** Bars differ in black and white too; by colour. */
export const BAR_ALPHA = [1, 0.7, 0.42, 1, 0.6, 0.35, 1, 1];
const MARKER_ROOM = 4, BAR_SHARE = 0.76;

/** What one drawing of a group needs. `shown` tells which groups are not hidden. */
export interface Pen {
    plot: uPlot;
    chart: Chart;
    panel: Panel;
    group: Group;
    shown: (group: Group) => boolean;
    colour: (name: string) => string;
    /** Pixels of the canvas for one of CSS. */
    ratio: number;
}

/** Draws a group, and returns how many of its points were drawn. */
export function drawGroup(pen: Pen): number {
    const { plot, group } = pen, { ctx, bbox } = plot;
    const edge = 7 * pen.ratio; /* markers on the edge are whole */
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - edge, bbox.top - 2 * edge, bbox.width + 2 * edge, bbox.height + 3 * edge);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = pen.colour(`k${group.colour}`);
    ctx.lineJoin = ctx.lineCap = "round";
    let drawn = 0;
    if (isBar(group)) drawn = drawBars(pen);
    else {
        const line = group.style === "points" ? 0 : drawLine(pen);
        const points = group.style === "points" || group.style === "lines+points" ? drawPoints(pen) : 0;
        drawn = Math.max(line, points);
    }
    ctx.restore();
    return drawn;
}

function x(pen: Pen, value: number): number {
    return pen.plot.valToPos(value, "x", true);
}

function y(pen: Pen, value: number): number {
    return pen.plot.valToPos(value, "y", true);
}

/** The part of the y axis that is shown. */
function yRange(pen: Pen): [number, number] {
    const { min, max } = pen.plot.scales.y;
    return [min ?? pen.panel.y.low, max ?? pen.panel.y.high];
}

function isShown(pen: Pen, [px, py]: Point): boolean {
    const { min, max } = pen.plot.scales.x, [low, high] = yRange(pen);
    return px !== null && py !== null && px >= min! && px <= max! && py >= low && py <= high;
}

/** Coordinates stay near the frame: canvases fail on very large ones. */
function near(at: number, start: number, size: number): number {
    return Math.min(Math.max(at, start - size), start + 2 * size);
}

function drawLine(pen: Pen): number {
    const { ctx, bbox } = pen.plot;
    let drawn = 0, down = false, before = 0;
    ctx.lineWidth = (pen.group.style === "lines+points" ? 1.4 : 1.8) * pen.ratio;
    ctx.beginPath();
    for (const [px, py] of pen.group.points) {
        if (px === null || py === null) {
            down = false;
            continue;
        }
        const atX = near(x(pen, px), bbox.left, bbox.width), atY = near(y(pen, py), bbox.top, bbox.height);
        if (!down) ctx.moveTo(atX, atY);
        else {
            if (pen.group.style === "steps") ctx.lineTo(atX, before);
            ctx.lineTo(atX, atY);
        }
        down = true;
        before = atY;
        drawn++;
    }
    ctx.save();
    clipFrame(pen);
    ctx.stroke();
    ctx.restore();
    return drawn;
}

function clipFrame(pen: Pen): void {
    const { ctx, bbox } = pen.plot, room = pen.ratio;
    const frame = new Path2D();
    frame.rect(bbox.left - room, bbox.top - room, bbox.width + 2 * room, bbox.height + 2 * room);
    ctx.clip(frame);
}

function drawPoints(pen: Pen): number {
    const { ctx, bbox } = pen.plot, { points, shape } = pen.group;
    const shown = points.filter(point => isShown(pen, point)), dots = shown.length * MARKER_ROOM * pen.ratio > bbox.width;
    const marker = new Path2D(SHAPES[shape] ?? SHAPES[0]), back = pen.colour("paper");
    for (const point of shown) {
        const atX = x(pen, point[0]!), atY = y(pen, point[1]!);
        if (dots) {
            ctx.fillRect(atX - pen.ratio, atY - pen.ratio, 2 * pen.ratio, 2 * pen.ratio);
            continue;
        }
        drawError(pen, point, atX);
        ctx.save();
        ctx.translate(atX, atY);
        ctx.scale(pen.ratio, pen.ratio);
        if (point[4]) ctx.fillStyle = back;
        else ctx.strokeStyle = back;
        ctx.lineWidth = point[4] ? 1.6 : 0.6;
        ctx.fill(marker);
        ctx.stroke(marker);
        ctx.restore();
    }
    return shown.length;
}

/** An end that is cut off has no cap; a bar without ends is faint. */
function drawError(pen: Pen, [, , low, high]: Point, at: number): void {
    const { ctx } = pen.plot, [bottom, top] = yRange(pen), cap = 3.5 * pen.ratio;
    if (low == null || high == null || !(high > low)) return;
    const from = Math.max(low, bottom), to = Math.min(high, top);
    const start = y(pen, from), end = y(pen, to);
    if (!(to > from) || start - end < pen.ratio) return;
    const endsBelow = low >= bottom, endsAbove = high <= top;
    ctx.save();
    ctx.lineWidth = pen.ratio;
    ctx.lineCap = "butt";
    if (!endsBelow && !endsAbove) {
        ctx.globalAlpha = 0.3;
        ctx.setLineDash([2 * pen.ratio, 3 * pen.ratio]);
    }
    ctx.beginPath();
    ctx.moveTo(at, start);
    ctx.lineTo(at, end);
    for (const [ends, height] of [[endsBelow, start], [endsAbove, end]] as const)
        if (ends) {
            ctx.moveTo(at - cap, height);
            ctx.lineTo(at + cap, height);
        }
    ctx.stroke();
    ctx.restore();
}

/** The height that stacked bars below this group have reached, by x. */
function pileBelow(pen: Pen): Map<number, number> {
    const pile = new Map<number, number>();
    for (const group of pen.panel.groups) {
        if (group === pen.group) break;
        if (group.style !== "stacked" || !pen.shown(group)) continue;
        for (const [px, py] of group.points) if (px !== null && py !== null) pile.set(px, (pile.get(px) ?? 0) + py);
    }
    return pile;
}

function drawBars(pen: Pen): number {
    const { plot, chart, panel, group } = pen, { bbox } = plot;
    const bars = barsOf(chart, panel), histogram = !chart.categories.length, stacked = group.style === "stacked";
    const { min, max } = plot.scales.x, slot = bars.gap / (max! - min!) * bbox.width;
    const column = stacked ? bars.columns - 1 : panel.groups.filter(one => one.style === "bars").indexOf(group);
    const room = slot * (histogram ? 1 : BAR_SHARE), width = Math.max(room / bars.columns - (histogram ? 0.5 : 2) * pen.ratio, 0.5 * pen.ratio);
    const pile = stacked ? pileBelow(pen) : new Map<number, number>(), [bottom, top] = yRange(pen);
    const labelled = !histogram && hasRoomForLabels(pen, BAR_SHARE * slot / bars.columns);
    const isTop = stacked && panel.groups.filter(one => one.style === "stacked" && pen.shown(one)).at(-1) === group;
    let drawn = 0;
    for (const point of group.points) {
        const [px, py] = point;
        if (px === null || py === null || px < min! || px > max!) continue;
        const base = pile.get(px) ?? 0, left = x(pen, px) - room / 2 + column * room / bars.columns + pen.ratio;
        const from = y(pen, clamp(Math.min(base, base + py), bottom, top)), to = y(pen, clamp(Math.max(base, base + py), bottom, top));
        fillBar(pen, left, to, width, Math.max(from - to, 0.5 * pen.ratio));
        if (!stacked) drawError(pen, point, left + width / 2);
        if (labelled && (!stacked || isTop)) labelBar(pen, left + width / 2, base + py, stacked ? base + py : point[3] ?? py);
        drawn++;
    }
    return drawn;
}

/** Grid lines do not show through pale bars. */
function fillBar(pen: Pen, left: number, top: number, width: number, height: number): void {
    const { ctx } = pen.plot;
    for (const [colour, alpha] of [["paper", 1], [`k${pen.group.colour}`, BAR_ALPHA[pen.group.colour]]] as const) {
        ctx.fillStyle = pen.colour(colour);
        ctx.globalAlpha = alpha;
        ctx.fillRect(left, top, width, height);
    }
    ctx.globalAlpha = 1;
}

function clamp(value: number, low: number, high: number): number {
    return Math.min(Math.max(value, low), high);
}

function hasRoomForLabels(pen: Pen, room: number): boolean {
    const { groups, y: axis } = pen.panel;
    const totals = new Map<number, number>();
    let widest = 0;
    const see = (value: number) => { widest = Math.max(widest, textWidth(quantity(value, axis.unit, true))); };
    for (const group of groups.filter(isBar))
        for (const [px, py] of group.points) {
            if (px === null || py === null) continue;
            see(py);
            if (group.style === "stacked") totals.set(px, (totals.get(px) ?? 0) + py);
        }
    totals.forEach(see);
    return room > (widest + 3) * pen.ratio;
}

function labelBar(pen: Pen, at: number, value: number, top: number): void {
    const { ctx } = pen.plot, [low, high] = yRange(pen);
    ctx.save();
    ctx.font = `${TICK_FONT * pen.ratio}px ${FONT}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    ctx.fillStyle = pen.colour("quiet");
    ctx.fillText(quantity(value, pen.panel.y.unit, true), at, y(pen, clamp(top, low, high)) - 2 * pen.ratio);
    ctx.restore();
}
