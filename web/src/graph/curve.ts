// Links as curves: straight, or bent around nodes that are not their ends.
import type { Point } from "./camera";

/** `via` is the control point of a quadratic curve; absent: a straight line. */
export interface Curve { from: Point; to: Point; via?: Point }

/** Pieces by which distances from a bent link are measured. */
const PIECES = 16, MOST_STEPS = 48;
/** The side of a bend, and where along the link its control point is. */
const SHAPES = [[1, 0.5], [-1, 0.5], [1, 0.25], [-1, 0.25], [1, 0.75], [-1, 0.75]];

export function pointOn({ from, to, via }: Curve, share: number): Point {
    const middle = via ?? { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }, rest = 1 - share;
    return { x: rest * rest * from.x + 2 * rest * share * middle.x + share * share * to.x,
        y: rest * rest * from.y + 2 * rest * share * middle.y + share * share * to.y };
}

function fromSegment({ x, y }: Point, a: Point, b: Point): number {
    const dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    const along = square > 0 ? Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / square)) : 0;
    return Math.hypot(x - a.x - along * dx, y - a.y - along * dy);
}

export function distance(at: Point, curve: Curve): number {
    if (!curve.via) return fromSegment(at, curve.from, curve.to);
    let least = Infinity, before = curve.from;
    for (let piece = 1; piece <= PIECES; piece++) {
        const next = pointOn(curve, piece / PIECES);
        least = Math.min(least, fromSegment(at, before, next));
        before = next;
    }
    return least;
}

/** The flattest curve that stays away from all obstacles, else the one that comes least near; undefined: the straight line. */
export function bend(from: Point, to: Point, obstacles: Point[], clearance: number): Point | undefined {
    const length = Math.hypot(to.x - from.x, to.y - from.y), least = (curve: Curve, enough: number) => {
        let gap = Infinity;
        for (const at of obstacles) {
            gap = Math.min(gap, distance(at, curve));
            if (gap < enough) return gap;
        }
        return gap;
    };
    if (length === 0 || least({ from, to }, clearance) >= clearance) return undefined;
    let best: Point | undefined, widest = 0;
    for (let step = 1; step <= MOST_STEPS; step++)
        for (const [side, share] of SHAPES) {
            const away = side * step * clearance; // The middle of the curve is half as far from the straight line.
            const via = { x: from.x + share * (to.x - from.x) - away * (to.y - from.y) / length,
                y: from.y + share * (to.y - from.y) + away * (to.x - from.x) / length };
            const gap = least({ from, to, via }, widest);
            if (gap >= clearance) return via;
            if (gap > widest) { widest = gap; best = via; }
        }
    return best;
}
