// Positions on the canvas.
//
// The API places the switches by structure. Here they are only scaled: both axes to one frame, so that a
// tree of three rows and 324 columns fills the window as well as a ring does. A row of a tree that is too
// long to be read is broken into several shorter rows, which keeps neighbours together. Hosts are placed
// beside their switch: below it in a tree, around it elsewhere.
import type { Fabric, FabricNode } from "../fabric";

export interface Placement {
    /** By node index; hosts included. */
    x: Float64Array;
    y: Float64Array;
    /** Least distance between two switches: hosts fit into a part of it. */
    pitch: number;
    width: number;
    height: number;
}

const WIDTH = 1000;
const LONGEST_ROW = 60;

export function place(fabric: Fabric, aspect: number): Placement {
    const count = fabric.nodes.length;
    const placement: Placement = {
        x: new Float64Array(count), y: new Float64Array(count), pitch: WIDTH, width: WIDTH, height: WIDTH / aspect,
    };
    const switches = fabric.nodes.filter(node => node.kind === "switch" || node.leaf < 0);
    const rows = rowsOf(switches);
    if (fabric.layout === "tree" && rows.some(row => row.length > LONGEST_ROW)) placeLongRows(rows, placement);
    else scale(switches, placement);
    placement.pitch = leastDistance(switches, placement);
    for (const node of switches) placeHosts(fabric, node, placement);
    return placement;
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

function scale(switches: FabricNode[], placement: Placement): void {
    const xs = switches.map(node => node.x), ys = switches.map(node => node.y);
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
    for (const node of switches) {
        placement.x[node.index] = right > left ? (node.x - left) / (right - left) * placement.width
            : placement.width / 2;
        // Sigma's y axis points upwards, the API's downwards.
        placement.y[node.index] = bottom > top ? (bottom - node.y) / (bottom - top) * placement.height
            : placement.height / 2;
    }
}

/** A row of n switches becomes a block: columns of `depth` switches, in the order of the row. */
function placeLongRows(rows: FabricNode[][], placement: Placement): void {
    const depth = rows.map(row => Math.max(1, Math.round(Math.sqrt(row.length / 10))));
    const total = depth.reduce((sum, lines) => sum + lines, 0);
    const gap = total * 0.75 / Math.max(1, rows.length - 1);
    const unit = placement.height / (total + gap * (rows.length - 1));
    let y = placement.height;
    rows.forEach((row, level) => {
        const lines = depth[level], columns = Math.ceil(row.length / lines);
        row.forEach((node, at) => {
            placement.x[node.index] = (Math.floor(at / lines) + 0.5) / columns * placement.width;
            placement.y[node.index] = y - (at % lines + 0.5) * unit;
        });
        y -= (lines + gap) * unit;
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

/** Hosts in rows below a leaf of a tree, else on a circle around their switch. */
function placeHosts(fabric: Fabric, leaf: FabricNode, placement: Placement): void {
    const hosts = leaf.hosts, { x, y, pitch } = placement;
    if (fabric.layout === "tree") {
        const columns = Math.min(hosts.length, Math.max(3, Math.ceil(Math.sqrt(hosts.length * 2))));
        const step = pitch * 0.8 / columns;
        hosts.forEach((host, at) => {
            const inRow = Math.min(columns, hosts.length - Math.floor(at / columns) * columns);
            x[host] = x[leaf.index] + (at % columns - (inRow - 1) / 2) * step;
            y[host] = y[leaf.index] - pitch * 0.35 - Math.floor(at / columns) * step;
        });
        return;
    }
    hosts.forEach((host, at) => {
        // The first host outside, away from the middle of the picture.
        const outwards = Math.atan2(y[leaf.index] - placement.height / 2, x[leaf.index] - placement.width / 2);
        const angle = outwards + 2 * Math.PI * (at - (hosts.length - 1) / 2) / Math.max(hosts.length, 5);
        x[host] = x[leaf.index] + Math.cos(angle) * pitch * 0.35;
        y[host] = y[leaf.index] + Math.sin(angle) * pitch * 0.35;
    });
}
