// A server that follows the contract of the API without a simulation behind it: the test fixture of the page.
//
//   node test/mock.mjs [FABRIC] [PORT]      FABRIC is a name of fabrics.mjs
//
// It is deterministic: loads are a function of link and time, and a fault starts a change that passes through
// detection, discovery, computation and two waves. Time passes while it runs, or by step, next and seek.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fabrics } from "./fabrics.mjs";

const DETECTION = 100e3, DISCOVERY = 300e3, COMPUTATION = 200e3, WAVE = 150e3, WAVES = 2;
export const TOKEN = "mock-token";
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

class Refused extends Error {
    constructor(status, text) {
        super(text);
        this.status = status;
    }
}

export class Mock {
    constructor(topology, name) {
        this.topology = topology;
        this.name = name;
        const { nodes } = topology;
        this.switches = nodes.kind.flatMap((kind, id) => kind === 2 ? [id] : []);
        this.hosts = nodes.kind.flatMap((kind, id) => kind === 1 ? [id] : []);
        this.incident = nodes.name.map(() => []);
        topology.links.a.forEach((a, link) => { this.incident[a].push(link); this.incident[topology.links.b[link]].push(link); });
        this.streams = new Set();
        this.recorded = [];
        this.seq = 0;
        this.start();
    }

    start() {
        this.t = 0;
        this.running = false;
        this.pace = 0.001;
        this.linkState = new Map();
        this.nodeState = new Map();
        this.errors = new Map();
        this.changes = [];
        this.events = [];
        this.lost = {};
        this.deadlock = null;
        this.history = [];
        this.vms = [{ name: "vm1", node: this.hosts[0], state: "running", lid: 900, moves: 0, smps: 4, downtime: null }];
        this.partitions = [{ pkey: 0x7fff, name: "Default", full: [...this.hosts], limited: [] }];
        this.groups = [];
        this.managers = [0, 1].map(id => ({
            id, node: this.hosts[id * (this.hosts.length - 1)], name: `sm${id}`, state: id ? "standby" : "master", phase: "idle", wave: 0, waves: 0,
            draining: false, priority: 8 - id, engine: "updn", settled: true, nodes: this.topology.nodes.name.length, change: null,
        }));
        this.sample();
    }

    // The run.

    /** Load of a direction of a link in percent, 0 if nothing can pass. */
    load(link, direction) {
        if ([1, 2].includes(this.linkState.get(link))) return 0;
        return (link * 37 + direction * 11 + Math.floor(this.t / 1e6) * 7) % 97;
    }

    waveOf(change, node) {
        if (!change || change.routed === null) return 0;
        const at = this.switches.indexOf(node) % WAVES, begin = change.routed + at * WAVE;
        return this.t < begin ? 1 : this.t < begin + WAVE / 2 ? 2 : 3;
    }

    advance(ns) {
        this.t += ns;
        const change = this.changes.find(one => !one.finished);
        const master = this.managers.find(one => one.state === "master");
        if (change && master) this.progress(change, master);
        this.sample();
    }

    progress(change, master) {
        const passed = this.t - change.begin;
        if (passed < 0) return;
        master.change = change.id;
        master.settled = false;
        master.phase = "discover";
        if (passed >= DISCOVERY) { change.routing = change.begin + DISCOVERY; master.phase = "compute"; }
        if (passed >= DISCOVERY + COMPUTATION) {
            change.routed = change.begin + DISCOVERY + COMPUTATION;
            master.phase = "waves";
            master.waves = WAVES;
            master.wave = Math.min(WAVES, 1 + Math.floor((this.t - change.routed) / WAVE));
        }
        if (passed >= DISCOVERY + COMPUTATION + WAVES * WAVE) {
            change.end = change.routed + WAVES * WAVE;
            change.finished = true;
            Object.assign(master, { phase: "idle", wave: 0, waves: 0, settled: true, change: null });
            this.log("event", master.name, `change ${change.id} finished`);
        }
    }

    fault(cause, packets) {
        this.lost.link = (this.lost.link ?? 0) + packets;
        this.changes.push({ id: this.changes.length, manager: 0, cause, fault: this.t, begin: this.t + DETECTION, routing: null, routed: null, end: null,
            finished: false, gets: 12, sets: 40, blocks: 36, draining: 0 });
    }

    log(kind, who, text, node = null) {
        this.events.push({ t: this.t, kind, who, text, node });
    }

    sample() {
        this.history.push(JSON.stringify(this.tick()));
        this.push("tick", this.history[this.history.length - 1]);
    }

    bytes(value) {
        const values = Buffer.alloc(this.topology.links.a.length * 2);
        for (let link = 0; link < this.topology.links.a.length; link++)
            for (const direction of [0, 1]) values[2 * link + direction] = value(link, direction);
        return values.toString("base64");
    }

    problems() {
        const { links, nodes } = this.topology;
        return [...this.linkState].filter(([, state]) => state === 1).map(([link]) => ({
            kind: "link down", place: `${nodes.name[links.a[link]]}/${links.ap[link]}`, text: "The link was active and is down.", severity: 0, since: 0, node: links.a[link], link,
        }));
    }

    tick() {
        const change = this.changes.find(one => !one.finished);
        return {
            seq: ++this.seq, full: true, live: true, t: this.t, running: this.running, pace: this.pace, behind: false, halted: null,
            nodes: [...this.nodeState], links: [...this.linkState],
            waves: this.switches.map(node => [node, this.waveOf(change, node)]).filter(([, wave]) => wave),
            load: this.bytes((link, direction) => this.load(link, direction)), wait: this.bytes((link, direction) => this.load(link, direction) >> 1),
            vl: this.bytes(link => link % 9 === 0 ? 0 : 1 << link % 2), errors: [...this.errors],
            traffic: { made: Math.floor(this.t / 100), delivered: Math.floor(this.t / 110), travelling: 12, waiting: 3, unroutable: 0, lost: { ...this.lost },
                throughput: change ? 6e11 : 1e12 + (this.t / 1e4) % 100 * 1e9, latency: this.t ? 1500 + (this.t / 1e4) % 50 * 10 : null, latency_max: this.t ? 9000 : null, deadlocks: this.deadlock ? 1 : 0 },
            smps: Math.floor(this.t / 1e4), hash: (0x1234567 + this.t).toString(16).padStart(16, "0"), managers: this.managers.map(one => ({ ...one })),
            changes: this.changes.map(one => ({ ...one })), events: this.events.slice(-200), problems: this.problems(), deadlock: this.deadlock,
            flows: [{ id: 1, text: "traffic uniform load 0.1", running: true }], vms: this.vms.map(one => ({ ...one })), hypervisors: this.hosts.slice(0, 16),
        };
    }

    // Requests.

    info() {
        return { what: "live", version: "mock", name: this.name, seed: 1, generation: this.topology.generation, engines: ["updn", "minhop", "nue"],
            capabilities: ["time", "links", "faults", "switches", "managers", "reroute", "path", "tables", "history", "seek", "deadlock", "whatif", "engine", "vms", "partitions", "groups", "memberships", "cabling", "scenario", "pcap", "traffic"] };
    }

    path(from, to) {
        const before = new Map([[from, -1]]), queue = [from], { links } = this.topology;
        for (let at = 0; at < queue.length && !before.has(to); at++)
            for (const link of this.incident[queue[at]]) {
                const other = links.a[link] === queue[at] ? links.b[link] : links.a[link];
                if (before.has(other) || this.linkState.get(link) === 1) continue;
                before.set(other, link);
                queue.push(other);
            }
        const hops = [];
        for (let at = to; before.has(to) && at !== from;) {
            const link = before.get(at), node = links.a[link] === at ? links.b[link] : links.a[link], dir = links.a[link] === node ? 0 : 1;
            hops.unshift({ node, port: dir ? links.bp[link] : links.ap[link], link, dir, vl: 0, load: this.load(link, dir) });
            at = node;
        }
        const shared = this.partitions.find(one => one.full.includes(from) && one.full.includes(to));
        return { from, to, reason: hops.length ? null : "a link on the way is down", dlid: to + 1, sl: 0, allowed: Boolean(shared), pkey: shared?.pkey ?? null, hops,
            alternatives: hops.length > 2 ? [hops.map(hop => hop.link)] : [], shortest: hops.length > 2 ? 2 : 1 };
    }

    read(path, query) {
        const number = name => Number(query.get(name));
        switch (path) {
        case "/info": return this.info();
        case "/topology": return this.topology;
        case "/state": case "/export/state": return JSON.parse(this.history[this.history.length - 1]);
        case "/history": {
            const ticks = this.history.map(text => JSON.parse(text));
            return { t: ticks.map(one => one.t), seq: ticks.map(one => one.seq), throughput: ticks.map(one => one.traffic.throughput), latency: ticks.map(one => one.traffic.latency),
                lost: ticks.map(() => 0), smps: ticks.map(() => 0) };
        }
        case "/history/at": {
            const ticks = this.history.map(text => JSON.parse(text));
            return { ...(ticks.filter(one => one.t <= number("t")).pop() ?? ticks[0]), live: false };
        }
        case "/path": return this.path(number("from"), number("to"));
        case "/tables/versions": return { versions: this.versions() };
        case "/tables/compare": return { a: number("a"), b: number("b"), entries: 7, switches: [[this.switches[0], 4], [this.switches[1], 3]], links: [[0, 0, 5, 9], [1, 0, 9, 5]] };
        case "/partitions": return { partitions: this.partitions };
        case "/groups": return { groups: this.groups };
        case "/cabling": return { plan: "plan.net", differences: [{ kind: "missing", text: "S0 port 1 – S1 port 1", node: null, link: 0 }] };
        default: throw new Refused(404, "no such page");
        }
    }

    versions() {
        const row = (id, t, cause, changed) => ({ id, t, manager: 0, engine: "updn", cause, entries: 1000, changed });
        return [row(0, 0, "bring-up", 1000), ...this.changes.filter(one => one.finished).map((one, at) => row(at + 1, one.end, one.cause, 7))];
    }

    whatif(engine) {
        const routing = (name, load) => ({ engine: name, error: null, vls: 1, longest: 3, mean_hops: 2.5, max_load: load, mean_load: 10, bisection: 0.5, deadlock_free: true, changed: 42, loads: this.bytes(() => load) });
        if (engine === "nue") return { present: routing("updn", 60), other: { ...routing("nue", 0), error: "needs 8 VLs" } };
        return { present: routing("updn", 60), other: routing(engine, 40) };
    }

    act(form) {
        const action = form.get("do"), id = name => Number(form.get(name));
        const link = id("link"), node = id("node"), manager = this.managers[id("manager")];
        const statement = [...form].map(([name, value]) => `${name}=${value}`).join(" ");
        const actions = {
            cut: () => { this.linkState.set(link, 1); this.fault(`link ${link} down`, 3); },
            restore: () => { this.linkState.delete(link); this.fault(`link ${link} up`, 0); },
            flap: () => { this.fault(`link ${link} flapped`, 2); },
            lossy: () => { if (Number(form.get("percent")) > 0) this.linkState.set(link, 4); else this.linkState.delete(link); },
            "bit-errors": () => { this.errors.set(link, (this.errors.get(link) ?? 0) + id("count")); this.linkState.set(link, 5); },
            "kill-node": () => { this.nodeState.set(node, 1); for (const one of this.incident[node]) this.linkState.set(one, 2); this.fault(`node ${node} down`, 9); },
            "restore-node": () => { this.nodeState.delete(node); for (const one of this.incident[node]) this.linkState.delete(one); this.fault(`node ${node} up`, 0); },
            mute: () => { this.nodeState.set(node, 2); },
            slow: () => { this.nodeState.set(node, 3); },
            heal: () => { this.nodeState.delete(node); },
            "kill-manager": () => this.handOver(manager, "dead"),
            "stop-manager": () => this.handOver(manager, "not active"),
            "start-manager": () => { manager.state = this.managers.some(one => one.state === "master") ? "standby" : "master"; },
            reroute: () => this.fault("asked by hand", 0),
            engine: () => { manager.engine = form.get("engine"); this.fault(`engine ${manager.engine}`, 0); },
            "vm-start": () => { this.vms.push({ name: form.get("name"), node: form.has("node") ? node : this.hosts[1], state: "running", lid: 900 + this.vms.length, moves: 0, smps: 3, downtime: null }); },
            "vm-move": () => Object.assign(this.machine(form), { node, smps: 2, downtime: 42000, moves: this.machine(form).moves + 1 }),
            "vm-stop": () => { this.vms = this.vms.filter(one => one !== this.machine(form)); },
            partition: () => { this.partitions.push({ pkey: id("pkey"), name: form.get("name"), full: form.get("nodes").split(",").filter(Boolean).map(Number), limited: [] }); this.partitions[0].full = this.partitions[0].full.filter(host => !this.partitions.at(-1).full.includes(host)); },
            join: () => this.join(form.get("mgid"), node), leave: () => {},
            "start-traffic": () => {}, "stop-traffic": () => {}, statement: () => {},
            pause: () => { this.running = false; }, run: () => { this.running = true; }, pace: () => { this.pace = Number(form.get("value")); },
            step: () => this.advance(form.has("ns") ? id("ns") : 10000), next: () => this.advance(100000),
            seek: () => { this.start(); this.advance(id("t")); this.topology.generation++; this.push("reset", "{}"); },
            restart: () => { this.start(); this.topology.generation++; this.push("reset", "{}"); },
        };
        if (!actions[action]) throw new Refused(400, `no action '${action}'`);
        const t = this.t, statements = ["pause", "run", "pace", "step", "next", "seek", "restart"].includes(action) ? [] : [statement];
        actions[action]();
        for (const text of statements) { this.recorded.push(`at ${t}ns ${text}`); this.log("action", "", text); }
        this.sample();
        return { t, statements };
    }

    machine(form) {
        const machine = this.vms.find(one => one.name === form.get("name"));
        if (!machine) throw new Refused(404, `no machine '${form.get("name")}'`);
        return machine;
    }

    join(mgid, node) {
        const group = this.groups.find(one => one.mgid === mgid);
        if (group && !group.members.includes(node)) { group.members.push(node); group.links.push(this.incident[node][0]); }
    }

    handOver(manager, state) {
        const was = manager.state;
        manager.state = state;
        const standby = this.managers.find(one => one.state === "standby");
        if (was === "master" && standby) { standby.state = "master"; this.log("event", standby.name, "takes over as master", standby.node); }
    }

    push(name, data) {
        for (const stream of this.streams) stream.write(`event: ${name}\ndata: ${data}\n\n`);
    }

    // HTTP.

    async answer(request, response, folder) {
        const url = new URL(request.url, "http://mock");
        const send = (status, type, body, extra = {}) => response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": POLICY, ...extra }).end(body);
        const json = body => send(200, "application/json", JSON.stringify(body));
        const files = { "/": ["index.html", "text/html; charset=utf-8"], "/weft.js": ["weft.js", "text/javascript"], "/weft.css": ["weft.css", "text/css"] };
        if (files[url.pathname]) return send(200, files[url.pathname][1], await readFile(join(folder, files[url.pathname][0])));
        const path = url.pathname.replace("/api/v1", "");
        if (path === "/events") {
            response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": here\n\n");
            this.streams.add(response);
            return request.on("close", () => this.streams.delete(response));
        }
        if (path === "/export/scenario") return send(200, "text/plain", `topology mock\n${this.recorded.join("\n")}\n`);
        if (path === "/export/pcap") return send(200, "application/vnd.tcpdump.pcap", Buffer.from("0a0d0d0a", "hex"));
        if (path === "/export/topology") return send(200, "text/plain", "mock\n");
        if (request.method === "GET") return json(this.read(path, url.searchParams));
        if (request.headers["x-weft-token"] !== TOKEN) throw new Refused(401, "no token");
        let body = "";
        for await (const part of request) body += part;
        const form = new URLSearchParams(body);
        if (path === "/actions") return json(this.act(form));
        if (path === "/whatif") return json(this.whatif(form.get("engine")));
        throw new Refused(404, "no such page");
    }

    async listen(port, folder) {
        const server = createServer((request, response) => this.answer(request, response, folder).catch(error => {
            response.writeHead(error.status ?? 500, { "Content-Type": "application/json" }).end(JSON.stringify({ error: error.message }));
        }));
        await new Promise(resolve => server.listen(port, "127.0.0.1", resolve));
        const clock = setInterval(() => { if (this.running) this.advance(this.pace * 1e8); }, 100);
        this.close = () => { clearInterval(clock); for (const stream of this.streams) stream.end(); server.closeAllConnections(); server.close(); };
        return `http://127.0.0.1:${server.address().port}`;
    }
}

/** A mock of a named fabric that serves the files of a folder. */
export async function serve(fabric, folder, port = 0, change = () => {}) {
    const topology = fabrics[fabric]();
    change(topology);
    const mock = new Mock(topology, fabric);
    const leaf = mock.switches[0], members = mock.hosts.slice(0, 3);
    mock.groups.push({ mlid: 0xc000, mgid: "ff12:401b:ffff::1", members, links: members.map(host => mock.incident[host][0]) });
    mock.firstSwitch = leaf;
    mock.sample();
    return { mock, url: await mock.listen(port, folder) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const folder = join(dirname(fileURLToPath(import.meta.url)), "../dist");
    const { url, mock } = await serve(process.argv[2] ?? "tree324", folder, Number(process.argv[3] ?? 0));
    mock.running = true;
    console.log(`${url}/#token=${TOKEN}`);
}
