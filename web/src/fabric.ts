// What the page knows of the fabric: nodes and links by dense index, their states and their figures.
// store.ts fills it from the API; the graph and the panels read it.
import type { Topology } from "./contract";

/** Positions in these lists are the numbers of the API. */
export const NODE_STATES = ["up", "down", "agent mute", "agent slow", "not in the subnet", "degraded"];
const LINK_STATES = ["active", "cut", "down", "not active", "lossy", "bit errors", "training", "degraded"];
export const WAVE_STATES = ["no change", "waits", "being written", "confirmed"];

export interface FabricNode {
    index: number;
    name: string;
    kind: "switch" | "host";
    guid: string;
    ports: number;
    level: number;
    group: number;
    /** Its subnet, from 0; -1: none, or several. */
    subnet: number;
    /** It joins subnets, and is drawn as switches are. */
    router: boolean;
    x: number;
    y: number;
    /** Position in the rooms of the fabric; -1: none. */
    room: number;
    roomX: number;
    roomY: number;
    /** Hosts: the switch that they are folded into; -1: none. */
    leaf: number;
    /** Position in NODE_STATES. */
    state: number;
    /** Position in WAVE_STATES. */
    wave: number;
    links: number[];
    /** Switches: the hosts folded into this one. */
    hosts: number[];
}

/** Switches whose names begin with the same place, and its frame on the map of rooms. */
export interface Room { name: string; left: number; top: number; right: number; bottom: number }

export interface FabricLink {
    index: number;
    a: number;
    aPort: number;
    b: number;
    bPort: number;
    rate: string;
    gbps: number;
    /** Position in LINK_STATES. */
    state: number;
    /** By direction (a to b, b to a): percent of the time in use, percent of the buffers filled, set of VLs. */
    load: [number, number];
    wait: [number, number];
    vls: [number, number];
    errors: number;
}

export interface Fabric {
    kind: string;
    layout: Topology["layout"];
    nodes: FabricNode[];
    links: FabricLink[];
    /** Empty: the names of the switches have no rooms. */
    rooms: Room[];
    switches: number;
    hosts: number;
    subnets: number;
}

/** The state in words. A link may be down although both ends are up: it is unplugged or disabled. */
export function linkState(fabric: Fabric, link: FabricLink): string {
    if (link.state !== 2) return LINK_STATES[link.state];
    const down = [link.a, link.b].map(end => fabric.nodes[end]).filter(end => end.state === 1).map(end => end.name);
    return down.length ? `down: ${down.join(" and ")} ${down.length > 1 ? "are" : "is"} down` : "down, both ends are up";
}

export function isDown(link: FabricLink): boolean {
    return link.state === 1 || link.state === 2 || link.state === 6;
}

/** True if the link joins two switches or routers: these are always drawn, links of hosts only unfolded. */
export function isTrunk(fabric: Fabric, link: FabricLink): boolean {
    return [link.a, link.b].every(end => fabric.nodes[end].kind === "switch" || fabric.nodes[end].router);
}

export function otherEnd(link: FabricLink, node: number): number {
    return link.a === node ? link.b : link.a;
}

/** `direction` 0: from a to b, 1: from b to a; absent: the cable. */
export function linkName(fabric: Fabric, link: FabricLink, direction?: number): string {
    const a = `${fabric.nodes[link.a].name} port ${link.aPort}`, b = `${fabric.nodes[link.b].name} port ${link.bPort}`;
    return direction === undefined ? `${a} – ${b}` : direction === 0 ? `${a} → ${b}` : `${b} → ${a}`;
}

const SWITCH = 2, ROUTER = 3;

export function makeFabric(topology: Topology): Fabric {
    const { nodes, links, rooms, speeds } = topology;
    const fabric: Fabric = {
        kind: topology.kind, layout: topology.layout, switches: 0, hosts: 0, rooms: [],
        subnets: Math.max(0, ...new Set(nodes.subnet)) + 1,
        nodes: nodes.name.map((name, index) => ({
            index, name, kind: nodes.kind[index] === SWITCH ? "switch" : "host", guid: nodes.guid[index],
            ports: nodes.ports[index], level: nodes.level[index], group: nodes.group[index],
            subnet: nodes.subnet[index] ?? -1, router: nodes.kind[index] === ROUTER && nodes.parent[index] < 0,
            x: nodes.x[index], y: nodes.y[index],
            room: rooms.of[index] ?? -1, roomX: rooms.x[index] ?? 0, roomY: rooms.y[index] ?? 0, leaf: nodes.parent[index], state: 0, wave: 0, links: [], hosts: [],
        })),
        links: links.a.map((a, index) => ({
            index, a, aPort: links.ap[index], b: links.b[index], bPort: links.bp[index],
            rate: `${links.width[index]}x ${speeds[links.speed[index]] ?? "?"}`, gbps: links.gbps[index],
            state: 0, load: [0, 0], wait: [0, 0], vls: [0, 0], errors: 0,
        })),
    };
    fabric.rooms = rooms.name.map((name, room) =>
        ({ name, left: rooms.left[room], top: rooms.top[room], right: rooms.right[room], bottom: rooms.bottom[room] }));
    for (const link of fabric.links) {
        fabric.nodes[link.a].links.push(link.index);
        if (link.b !== link.a) fabric.nodes[link.b].links.push(link.index);
    }
    for (const node of fabric.nodes) {
        if (node.kind === "switch") fabric.switches++;
        else if (!node.router) fabric.hosts++;
        if (node.kind === "host" && node.leaf >= 0) fabric.nodes[node.leaf].hosts.push(node.index);
    }
    return fabric;
}
