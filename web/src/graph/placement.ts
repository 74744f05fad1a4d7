// Positions on the canvas.
//
// The server lays the map out: src/topology/drawing/layout_network.c places the switches by structure, and
// src/host/api/topology_json.c sends their positions. Here they are only scaled: both axes to one frame, so that a
// tree of three rows and 324 columns fills the window as well as a ring does. A row of a tree that is too
// long to be read is broken into several shorter rows, which keeps neighbours together. Hosts are placed
// beside their switch: below it in a tree, in the gaps between its links elsewhere. A link that would pass through a switch
// is bent around it.
//
// Another arrangement is that of rooms: the API places the switches by their names then, and gives each room a frame.
import { isTrunk, type Fabric, type FabricLink, type FabricNode, type Room } from "../fabric";
import type { Point } from "./camera";
import { bend, distance, pointOn, type Curve } from "./curve";

export type Arrangement = "structure" | "rooms";

export interface Placement {
    /** By node index; hosts included. Units are pixels of the window at the first zoom; y grows downwards. */
    x: Float64Array;
    y: Float64Array;
    /** Least distance between two switches: hosts fit into a part of it. */
    pitch: number;
    /** Frames of the rooms, if they are shown. */
    rooms: Room[];
    /** By link index: control points of the links that are bent. */
    via: Map<number, Point>;
    width: number;
    height: number;
}

/** Room for the tools above the map, the legend below it, and the names at both sides. */
const ABOVE = 80, BELOW = 118, BESIDE = 44;
const LONGEST_ROW = 60;
/** Columns between two groups of a long row. */
const GROUP_GAP = 0.7;

export interface Box { left: number; top: number; right: number; bottom: number }

/** The frame that the window shows at the first zoom. */
export function frame(placement: Placement): Box {
    return { left: -BESIDE, top: -ABOVE, right: placement.width + BESIDE, bottom: placement.height + BELOW };
}

export function place(fabric: Fabric, arrangement: Arrangement, windowWidth: number, windowHeight: number): Placement {
    const count = fabric.nodes.length;
    const placement: Placement = {
        x: new Float64Array(count), y: new Float64Array(count), pitch: 0, rooms: [], via: new Map(),
        width: Math.max(200, windowWidth - 2 * BESIDE), height: Math.max(160, windowHeight - ABOVE - BELOW),
    };
    const switches = fabric.nodes.filter(node => node.kind === "switch" || node.leaf < 0);
    const rows = rowsOf(switches);
    if (fabric.rooms.length && (arrangement === "rooms" || fabric.layout === "rooms")) placeRooms(fabric.rooms, switches, placement);
    else if (fabric.layout === "tree" && rows.some(row => row.length > LONGEST_ROW)) placeLongRows(rows, placement);
    else scale(switches, placement);
    placement.pitch = leastDistance(switches, placement);
    const curves = bendLinks(fabric, switches, placement);
    for (const node of switches) placeHosts(fabric, node, placement, curves);
    return placement;
}

/** The radius of a switch at the first zoom. */
export function switchSize(pitch: number): number {
    return Math.max(1.6, Math.min(9, pitch * 0.26));
}

export function curveOf({ x, y, via }: Placement, { a, b, index }: FabricLink): Curve {
    return { from: { x: x[a], y: y[a] }, to: { x: x[b], y: y[b] }, via: via.get(index) };
}

/** Pixels between a link and a switch that is not its end. */
const CLEARANCE = 3;
/** Larger fabrics, by links times switches, have straight links: their lines are too many to follow one of them. */
const MOST_BENT = 200000;

/** Bends links around switches. Returns the curves of all links between switches; none if there are too many. */
function bendLinks(fabric: Fabric, switches: FabricNode[], placement: Placement): Curve[] {
    const trunks = fabric.links.filter(link => isTrunk(fabric, link)), { x, y, via } = placement;
    if (trunks.length * switches.length > MOST_BENT) return [];
    const clearance = switchSize(placement.pitch) + Math.min(CLEARANCE, placement.pitch / 8), known = new Map<string, Point | undefined>();
    for (const { a, b, index } of trunks) {
        const cable = `${Math.min(a, b)} ${Math.max(a, b)}`; // Parallel cables are one line.
        if (!known.has(cable)) {
            const others = switches.filter(node => node.index !== a && node.index !== b).map(node => ({ x: x[node.index], y: y[node.index] }));
            known.set(cable, bend({ x: x[a], y: y[a] }, { x: x[b], y: y[b] }, others, clearance));
        }
        const bent = known.get(cable);
        if (bent) via.set(index, bent);
    }
    return trunks.map(link => curveOf(placement, link));
}

/** Switches by y, each row ordered by x. */
function rowsOf(switches: FabricNode[]): FabricNode[][] {
    const rows = new Map<number, FabricNode[]>();
    for (const node of switches) {
        const key = Math.round(node.y * 1000);
        const row = rows.get(key);
        if (row) row.push(node);
        else rows.set(key, [node]);
    }
    return [...rows.entries()].sort((one, other) => one[0] - other[0])
        .map(([, row]) => row.sort((one, other) => one.x - other.x));
}

/** Rooms keep their proportions: names fit into their frames. */
function placeRooms(rooms: Room[], switches: FabricNode[], placement: Placement): void {
    const least = (values: number[]) => Math.min(...values), most = (values: number[]) => Math.max(...values);
    const left = least([...rooms.map(room => room.left), ...switches.map(node => node.roomX)]), right = most([...rooms.map(room => room.right), ...switches.map(node => node.roomX)]);
    const top = least([...rooms.map(room => room.top), ...switches.map(node => node.roomY)]), bottom = most([...rooms.map(room => room.bottom), ...switches.map(node => node.roomY)]);
    const across = placement.width / Math.max(1e-3, right - left), down = placement.height / Math.max(1e-3, bottom - top);
    const x = (value: number) => (value - left) * across, y = (value: number) => (value - top) * down;
    for (const node of switches) { placement.x[node.index] = x(node.roomX); placement.y[node.index] = y(node.roomY); }
    placement.rooms = rooms.map(room => ({ name: room.name, left: x(room.left), top: y(room.top), right: x(room.right), bottom: y(room.bottom) }));
}

function scale(switches: FabricNode[], placement: Placement): void {
    const xs = switches.map(node => node.x), ys = switches.map(node => node.y);
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
    for (const node of switches) {
        placement.x[node.index] = right > left ? (node.x - left) / (right - left) * placement.width
            : placement.width / 2;
        placement.y[node.index] = bottom > top ? (node.y - top) / (bottom - top) * placement.height
            : placement.height / 2;
    }
}

/** Lines of the block of a row: about a tenth of its columns, and such that the columns of a group are equally long. */
function depthOf(row: FabricNode[]): number {
    const ideal = Math.max(1, Math.round(Math.sqrt(row.length / 10)));
    const group = row[0].group < 0 ? row.length : row.filter(node => node.group === row[0].group).length;
    return Math.ceil(group / Math.ceil(group / ideal));
}

/** A row of n switches becomes a block: columns of `depth` switches in the order of the row, with a gap between
 * groups (the pods of a tree). */
function placeLongRows(rows: FabricNode[][], placement: Placement): void {
    const depth = rows.map(depthOf);
    const total = depth.reduce((sum, lines) => sum + lines, 0);
    const gap = total * 0.75 / Math.max(1, rows.length - 1);
    const unit = placement.height / (total + gap * (rows.length - 1));
    let y = 0;
    rows.forEach((row, level) => {
        const lines = depth[level];
        const column = new Float64Array(row.length), line = new Float64Array(row.length);
        let at = -1, filled = lines;
        row.forEach((node, index) => {
            const next = index > 0 && node.group !== row[index - 1].group;
            if (next && node.group >= 0) { at += 1 + GROUP_GAP; filled = 0; }
            else if (filled === lines) { at += 1; filled = 0; }
            column[index] = at;
            line[index] = filled++;
        });
        row.forEach((node, index) => {
            placement.x[node.index] = (column[index] + 0.5) / (at + 1) * placement.width;
            placement.y[node.index] = y + (line[index] + 0.5) * unit;
        });
        y += (lines + gap) * unit;
    });
}

/** Least distance between two switches, by a grid of buckets. */
function leastDistance(switches: FabricNode[], placement: Placement): number {
    const cell = Math.sqrt(placement.width * placement.height / Math.max(1, switches.length));
    const buckets = new Map<string, number[]>();
    let least = Math.max(placement.width, placement.height) / 4;
    for (const { index } of switches) {
        const column = Math.floor(placement.x[index] / cell), row = Math.floor(placement.y[index] / cell);
        for (let dx = -1; dx <= 1; dx++)
            for (let dy = -1; dy <= 1; dy++)
                for (const other of buckets.get(`${column + dx},${row + dy}`) ?? []) {
                    const distance = Math.hypot(placement.x[index] - placement.x[other],
                        placement.y[index] - placement.y[other]);
                    if (distance > 1e-6 && distance < least) least = distance;
                }
        const key = `${column},${row}`;
        const bucket = buckets.get(key);
        if (bucket) bucket.push(index);
        else buckets.set(key, [index]);
    }
    return least;
}

/** Farthest distance of hosts from their switch, so that those at the edge are in the window. */
const HOST_DISTANCE = 32;

/** The angles at which links cross a circle. */
function crossings(at: Point, radius: number, curves: Curve[]): number[] {
    const angles: number[] = [];
    for (const curve of curves) {
        if (distance(at, curve) > radius) continue;
        let before = Infinity;
        for (let piece = 0; piece <= 64; piece++) {
            const point = pointOn(curve, piece / 64), away = Math.hypot(point.x - at.x, point.y - at.y);
            if ((before > radius) !== (away > radius) && before !== Infinity) angles.push(Math.atan2(point.y - at.y, point.x - at.x));
            before = away;
        }
    }
    return angles;
}

/** `count` angles in the gaps between those that are taken, as far from them and from each other as can be. */
function spread(count: number, taken: number[]): number[] {
    const sorted = [...taken].sort((one, other) => one - other);
    const gaps = sorted.map((from, at) => ({ from, size: (at + 1 < sorted.length ? sorted[at + 1] : sorted[0] + 2 * Math.PI) - from, count: 0 }));
    for (let one = 0; one < count; one++)
        gaps.reduce((best, gap) => gap.size / (gap.count + 1) > best.size / (best.count + 1) ? gap : best).count++;
    return gaps.flatMap(gap => Array.from({ length: gap.count }, (_, at) => gap.from + gap.size * (at + 1) / (gap.count + 1)));
}

/** Hosts in rows below a leaf of a tree, else on a circle around their switch. */
function placeHosts(fabric: Fabric, leaf: FabricNode, placement: Placement, curves: Curve[]): void {
    const hosts = leaf.hosts, { x, y, pitch } = placement;
    const away = Math.min(pitch * 0.35, HOST_DISTANCE);
    if (fabric.layout === "tree" && !placement.rooms.length) {
        const columns = Math.min(hosts.length, Math.max(4, Math.ceil(Math.sqrt(hosts.length * 2))));
        const step = Math.min(pitch * 0.8, 2.4 * HOST_DISTANCE) / columns;
        hosts.forEach((host, at) => {
            const inRow = Math.min(columns, hosts.length - Math.floor(at / columns) * columns);
            x[host] = x[leaf.index] + (at % columns - (inRow - 1) / 2) * step;
            y[host] = y[leaf.index] + away + Math.floor(at / columns) * Math.min(step, 13);
        });
        return;
    }
    // Without links, the middle one away from the middle of the picture.
    const taken = crossings({ x: x[leaf.index], y: y[leaf.index] }, away, curves);
    const inwards = Math.atan2(placement.height / 2 - y[leaf.index], placement.width / 2 - x[leaf.index]);
    spread(hosts.length, taken.length ? taken : [inwards]).forEach((angle, at) => {
        x[hosts[at]] = x[leaf.index] + Math.cos(angle) * away;
        y[hosts[at]] = y[leaf.index] + Math.sin(angle) * away;
    });
}
