// Topologies for the mock server, as /api/v1/topology describes them.

class Builder {
    constructor(kind, layout) {
        this.topology = {
            generation: 1, kind, layout, speeds: ["SDR", "HDR", "NDR"],
            nodes: { name: [], kind: [], guid: [], ports: [], level: [], group: [], parent: [], x: [], y: [] },
            rooms: { name: [], left: [], top: [], right: [], bottom: [], of: [], x: [], y: [] },
            links: { a: [], ap: [], b: [], bp: [], width: [], speed: [], gbps: [] },
        };
        this.ports = [];
    }

    add(name, kind, level, parent, x, y, group = -1) {
        const { nodes } = this.topology, id = nodes.name.length;
        nodes.name.push(name);
        nodes.kind.push(kind);
        nodes.guid.push(`0x${(0x200000 + id).toString(16).padStart(16, "0")}`);
        nodes.ports.push(kind === 2 ? 36 : 1);
        nodes.level.push(level);
        nodes.group.push(group);
        nodes.parent.push(parent);
        nodes.x.push(x);
        nodes.y.push(y);
        this.ports.push(0);
        return id;
    }

    link(a, b) {
        const { links } = this.topology;
        links.a.push(a);
        links.ap.push(++this.ports[a]);
        links.b.push(b);
        links.bp.push(++this.ports[b]);
        links.width.push(4);
        links.speed.push(2);
        links.gbps.push(400);
    }

    hosts(leaf, number, offset = 0) {
        const { nodes } = this.topology;
        for (let at = 0; at < number; at++) {
            const host = this.add(`H${offset + at}`, 1, -1, leaf, nodes.x[leaf] + at / (number + 1), nodes.y[leaf] + 0.5, nodes.group[leaf]);
            this.link(host, leaf);
        }
    }
}

/** `half`-ary tree of two or three levels; `pods` groups of `half` leaves in the latter. */
export function tree(half, pods = 0) {
    const build = new Builder(pods ? `fat tree, 3 levels of ${2 * half}-port switches` : `fat tree, 2 levels`, "tree");
    const groups = pods || 1, leaves = groups * half, bottom = pods ? 2 : 1;
    const leaf = [], middle = [], top = [];
    for (let at = 0; at < leaves; at++) leaf.push(build.add(`L${at}`, 2, 0, -1, at, bottom, Math.floor(at / half)));
    for (let at = 0; at < (pods ? leaves : half); at++) middle.push(build.add(`M${at}`, 2, 1, -1, at, bottom - 1, pods ? Math.floor(at / half) : -1));
    const spines = pods ? half * half / (pods > half ? 1 : half / pods) : 0;
    for (let at = 0; at < spines; at++) top.push(build.add(`S${at}`, 2, 2, -1, (at + 0.5) * leaves / spines, 0));
    for (let group = 0; group < groups; group++)
        for (let from = 0; from < half; from++)
            for (let to = 0; to < half; to++) build.link(leaf[group * half + from], middle[group * half + to]);
    for (let at = 0; at < middle.length && pods; at++)
        for (let port = 0; port < half; port++) build.link(middle[at], top[(at % half * half + port) % top.length]);
    leaf.forEach((id, at) => build.hosts(id, half, at * half));
    return build.topology;
}

export function ring(switches, hosts = 1) {
    const build = new Builder("ring", "ring");
    for (let at = 0; at < switches; at++) {
        const angle = 2 * Math.PI * at / switches;
        build.add(`S${at}`, 2, 0, -1, Math.cos(angle) * switches / 6, Math.sin(angle) * switches / 6);
    }
    for (let at = 0; at < switches; at++) build.link(at, (at + 1) % switches);
    for (let at = 0; at < switches; at++) build.hosts(at, hosts, at * hosts);
    return build.topology;
}

export function torus(columns, rows, hosts = 2) {
    const build = new Builder(`torus ${columns}x${rows}`, "grid");
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) build.add(`S${row}.${column}`, 2, 0, -1, column, row);
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            build.link(row * columns + column, row * columns + (column + 1) % columns);
            build.link(row * columns + column, (row + 1) % rows * columns + column);
        }
    for (let at = 0; at < columns * rows; at++) build.hosts(at, hosts, at * hosts);
    return build.topology;
}

export function dragonfly(groups, switches, hosts) {
    const build = new Builder(`dragonfly, ${groups} groups`, "dragonfly");
    for (let group = 0; group < groups; group++)
        for (let at = 0; at < switches; at++) {
            const around = 2 * Math.PI * group / groups, inside = 2 * Math.PI * at / switches;
            build.add(`G${group}.${at}`, 2, 0, -1, Math.cos(around) * groups + Math.cos(inside) * switches / 5,
                Math.sin(around) * groups + Math.sin(inside) * switches / 5, group);
        }
    for (let group = 0; group < groups; group++)
        for (let from = 0; from < switches; from++)
            for (let to = from + 1; to < switches; to++) build.link(group * switches + from, group * switches + to);
    for (let group = 0, next = 0; group < groups; group++)
        for (let other = group + 1; other < groups; other++, next++)
            build.link(group * switches + next % switches, other * switches + next % switches);
    for (let at = 0; at < groups * switches; at++) build.hosts(at, hosts, at * hosts);
    return build.topology;
}

/** Racks of four switches in rows, with links at random places. */
export function rooms(racks, hosts) {
    const build = new Builder("irregular", "rooms"), { topology } = build, columns = 4;
    const names = [...Array(racks).keys()].map(rack => `rack${String(rack + 1).padStart(2, "0")}`);
    topology.rooms.name = names;
    names.forEach((name, rack) => {
        const left = rack % columns * 4, top = Math.floor(rack / columns) * 4;
        for (const [side, value] of Object.entries({ left, top, right: left + 3.6, bottom: top + 3.6 })) topology.rooms[side].push(value);
        for (let at = 0; at < 4; at++) {
            const x = left + 1 + at % 2 * 1.6, y = top + 1.2 + Math.floor(at / 2) * 1.6;
            build.add(`${name}-sw${at + 1}`, 2, 0, -1, x, y);
        }
    });
    for (let at = 1; at < racks * 4; at++) build.link(at, (at * 7 + 3) % at);
    for (let at = 0; at < racks * 4; at += 3) build.link(at, (at * 5 + 11) % (racks * 4));
    for (let at = 0; at < racks * 4; at++) build.hosts(at, hosts, at * hosts);
    topology.nodes.parent.forEach((parent, node) => {
        const at = parent >= 0 ? parent : node;
        topology.rooms.of.push(Math.floor(at / 4));
        topology.rooms.x.push(topology.nodes.x[at]);
        topology.rooms.y.push(topology.nodes.y[at]);
    });
    return topology;
}

export const fabrics = {
    ring8: () => ring(8),
    tree16: () => tree(4),
    tree324: () => tree(18),
    tree5832: () => tree(18, 18),
    tree11664: () => tree(18, 36),
    torus: () => torus(8, 6),
    rooms: () => rooms(12, 3),
    dragonfly: () => dragonfly(9, 8, 4),
};
