// Draws the map: links, nodes and names, on a two-dimensional canvas.
//
// Links between switches are always drawn; the hosts of a switch only when the switches are far enough apart on the
// screen (UNFOLD_PITCH pixels). The work is a generator, so that a picture of ten thousand links can be drawn in parts
// between frames. Strong colours come last: a busy link is above thousands of idle ones.
import { isDown, isTrunk, type Fabric, type FabricLink, type FabricNode, type Room } from "../fabric";
import type { Projection } from "./camera";
import { faintness, type Palette } from "./colour";
import { LABEL_FONT, LabelPlaces, type Label } from "./labels";
import { switchSize, type Placement } from "./placement";

export const UNFOLD_PITCH = 46;
/** Fabrics with more links have thin, transparent lines, and are drawn in parts. */
export const MANY_LINKS = 3000;
/** Hosts that are closer, in pixels, have no names: a few of them would look like all. */
const HOST_SPACING = 14;
/** Between these numbers of links between switches, lines become as transparent as in large fabrics. */
const FEW_TRUNKS = 250, MANY_TRUNKS = 1000;
/** Lines of a path: enough to save calls, few enough that a part takes about a millisecond. */
const BATCH = 60;

/** The fabric, and how it looks now. */
export interface Scene {
    fabric: Fabric;
    placement: Placement;
    palette: Palette;
    /** Links between switches: a list made once for each fabric. */
    trunks: FabricLink[];
    /** Names of colours, or #rrggbb. */
    linkColour(link: FabricLink): string;
    nodeColour(node: FabricNode): string;
    /** Lines of one width for states, wider ones for figures. */
    lineWidth: number;
}

/** What a picture shows; links that are down are found, but drawn by the overlay. */
export interface Painted {
    links: FabricLink[];
    nodes: FabricNode[];
    /** Switches whose hosts are drawn. */
    unfolded: Set<number>;
    labels: Map<number, Label>;
    /** Names of rooms. */
    rooms: Label[];
}

export function trunksOf(fabric: Fabric): FabricLink[] {
    return fabric.links.filter(link => isTrunk(fabric, link));
}

export function nodeRadius(scene: Scene, node: FabricNode, scale: number): number {
    const size = switchSize(scene.placement.pitch);
    return Math.sqrt(scale) * (node.router ? size * 0.8 : node.kind === "host" ? Math.max(0.8, size * 0.3) : size);
}

/** What is in the window. */
export function choose(scene: Scene, projection: Projection): Painted {
    const { fabric, placement: { x, y, pitch } } = scene, { scale, left, top, width, height } = projection;
    const inside = (node: number, by: number) => {
        const across = x[node] * scale + left, down = y[node] * scale + top;
        return across > -by && down > -by && across < width + by && down < height + by;
    };
    const chosen: Painted = { links: [], nodes: [], unfolded: new Set(), labels: new Map(), rooms: [] };
    const crosses = ({ a, b }: FabricLink) => {
        const ax = x[a] * scale + left, bx = x[b] * scale + left, ay = y[a] * scale + top, by = y[b] * scale + top;
        return Math.max(ax, bx) > 0 && Math.max(ay, by) > 0 && Math.min(ax, bx) < width && Math.min(ay, by) < height;
    };
    for (const link of scene.trunks) if (crosses(link)) chosen.links.push(link);
    const unfolds = pitch * scale >= UNFOLD_PITCH;
    for (const node of fabric.nodes) {
        if (node.kind === "host" && node.leaf >= 0) continue;
        if (inside(node.index, 20)) chosen.nodes.push(node);
        if (unfolds && node.hosts.length && inside(node.index, 100)) chosen.unfolded.add(node.index);
    }
    for (const leaf of chosen.unfolded)
        for (const host of fabric.nodes[leaf].hosts) {
            chosen.nodes.push(fabric.nodes[host]);
            for (const index of fabric.nodes[host].links) {
                const link = fabric.links[index], other = fabric.nodes[link.a === host ? link.b : link.a];
                if (other.kind === "switch" || link.a === host) chosen.links.push(link);
            }
        }
    return chosen;
}

export function* paint(context: CanvasRenderingContext2D, scene: Scene, projection: Projection, chosen: Painted): Generator<void, void> {
    context.fillStyle = scene.palette.get("back");
    context.fillRect(0, 0, projection.width, projection.height);
    paintRooms(context, scene, projection);
    yield* paintLinks(context, scene, projection, chosen.links);
    paintNodes(context, scene, projection, chosen.nodes);
    yield;
    paintLabels(context, scene, projection, chosen);
}

const ROOM_FONT = "600 11px system-ui, sans-serif";

/** The name of a room that fits into its frame; null: none does. */
function roomLabel(context: CanvasRenderingContext2D, room: Room, { scale, left, top }: Projection): Label | null {
    const width = (room.right - room.left) * scale - 10;
    let text = room.name;
    context.font = ROOM_FONT;
    while (text.length > 2 && context.measureText(text).width > width) text = `${text.slice(0, text.endsWith("…") ? -2 : -1)}…`;
    return text.length > 2 || text === room.name ? { text, x: room.left * scale + left + 6, y: room.top * scale + top + 9 } : null;
}

function paintRooms(context: CanvasRenderingContext2D, scene: Scene, projection: Projection): void {
    const { scale, left, top } = projection;
    context.fillStyle = scene.palette.get("panel");
    context.strokeStyle = scene.palette.get("line");
    context.lineWidth = 1;
    for (const room of scene.placement.rooms) {
        context.beginPath();
        context.roundRect(room.left * scale + left, room.top * scale + top, (room.right - room.left) * scale, (room.bottom - room.top) * scale, 6);
        context.fill();
        context.stroke();
    }
}

function* paintLinks(context: CanvasRenderingContext2D, scene: Scene, { scale, left, top }: Projection, links: FabricLink[]): Generator<void, void> {
    const { x, y, via } = scene.placement, many = scene.fabric.links.length >= MANY_LINKS;
    const byColour = new Map<string, FabricLink[]>();
    for (const link of links) {
        if (isDown(link)) continue; // The overlay has them.
        const colour = scene.linkColour(link), list = byColour.get(colour);
        if (list) list.push(link);
        else byColour.set(colour, [link]);
    }
    const solid = Math.max(0, Math.min(1, (MANY_TRUNKS - scene.trunks.length) / (MANY_TRUNKS - FEW_TRUNKS)));
    // A line of one pixel of the screen is much cheaper than a wider one.
    context.lineWidth = many ? 1 / context.getTransform().a : scene.lineWidth;
    for (const [colour, list] of [...byColour].sort(([one], [other]) => faintness(one) - faintness(other))) {
        context.strokeStyle = scene.palette.faint(colour, faintness(colour) * (1 - solid) + solid);
        for (let from = 0; from < list.length; from += BATCH) {
            context.beginPath();
            for (const { a, b, index } of list.slice(from, from + BATCH)) {
                const bent = via.size ? via.get(index) : undefined;
                context.moveTo(x[a] * scale + left, y[a] * scale + top);
                if (bent) context.quadraticCurveTo(bent.x * scale + left, bent.y * scale + top, x[b] * scale + left, y[b] * scale + top);
                else context.lineTo(x[b] * scale + left, y[b] * scale + top);
            }
            context.stroke();
            yield;
        }
    }
}

function paintNodes(context: CanvasRenderingContext2D, scene: Scene, { scale, left, top }: Projection, nodes: FabricNode[]): void {
    const { x, y } = scene.placement;
    for (const node of nodes) {
        const colour = scene.nodeColour(node);
        context.fillStyle = colour.startsWith("#") ? colour : scene.palette.get(colour);
        context.beginPath();
        context.arc(x[node.index] * scale + left, y[node.index] * scale + top, nodeRadius(scene, node, scale), 0, 2 * Math.PI);
        context.fill();
    }
}

/** The distance between two hosts of a switch; the only host has room. */
function hostSpacing({ fabric, placement: { x, y } }: Scene, host: FabricNode): number {
    const [one, other] = fabric.nodes[host.leaf]?.hosts ?? [];
    return other === undefined ? Infinity : Math.hypot(x[one] - x[other], y[one] - y[other]);
}

/** Within the frame of a room, a name without that of the room. */
function nameInRoom(scene: Scene, node: FabricNode): string {
    const room = scene.placement.rooms[node.room];
    if (!room || !node.name.startsWith(room.name)) return node.name;
    return node.name.slice(room.name.length).replace(/^[^\p{L}\p{N}]+/u, "") || node.name;
}

/** Names where there is room: high levels of a tree first, hosts last. */
function paintLabels(context: CanvasRenderingContext2D, scene: Scene, projection: Projection, chosen: Painted): void {
    const { x, y } = scene.placement, { scale, left, top, width, height } = projection;
    context.font = LABEL_FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const places = new LabelPlaces(width, height, text => context.measureText(text).width);
    if (projection.inset) places.takeFrame(projection.inset); // No name is cut off by the edge of the window.
    const at = (node: FabricNode) => ({ x: x[node.index] * scale + left, y: y[node.index] * scale + top, radius: nodeRadius(scene, node, scale) });
    for (const node of chosen.nodes) {
        const { x: across, y: down, radius } = at(node);
        places.take(across - radius, down - radius, across + radius, down + radius);
    }
    for (const room of scene.placement.rooms) {
        const label = roomLabel(context, room, projection);
        if (!label) continue;
        chosen.rooms.push(label);
        places.take(label.x, label.y - 6, label.x + context.measureText(label.text).width, label.y + 6);
    }
    context.font = LABEL_FONT;
    const rank = (node: FabricNode) => node.router ? Infinity : node.kind === "host" ? -1 : node.level;
    const named = chosen.nodes.filter(node => node.kind !== "host" || node.router || hostSpacing(scene, node) * scale >= HOST_SPACING);
    for (const node of named.sort((one, other) => rank(other) - rank(one))) {
        const { x: across, y: down, radius } = at(node);
        const folded = node.hosts.length > 0 && !chosen.unfolded.has(node.index);
        const name = nameInRoom(scene, node);
        const label = places.place(across, down, radius, folded ? [`${name} · ${node.hosts.length}`, name] : [name]);
        if (label) chosen.labels.set(node.index, label);
    }
    writeLabels(context, scene.palette, chosen);
}

/** The names for which there is room; also above what the overlay draws. */
export function writeLabels(context: CanvasRenderingContext2D, palette: Palette, chosen: Painted): void {
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = LABEL_FONT;
    context.lineWidth = 3;
    context.strokeStyle = palette.get(chosen.rooms.length ? "panel" : "back");
    context.fillStyle = palette.get("text");
    for (const label of chosen.labels.values()) {
        context.strokeText(label.text, label.x, label.y);
        context.fillText(label.text, label.x, label.y);
    }
    context.font = ROOM_FONT;
    context.fillStyle = palette.get("quiet");
    for (const label of chosen.rooms) {
        context.strokeText(label.text, label.x, label.y);
        context.fillText(label.text, label.x, label.y);
    }
}
