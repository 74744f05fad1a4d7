// The state of the page: the fabric, and the last tick with all members. Ticks of the stream are merged into
// it. While the past is shown, ticks only move the end of the time line.
import { bytes, get, openStream } from "./api";
import type { Change, History, Info, LogEvent, Tick, Topology, Traffic } from "./contract";
import { makeFabric, type Fabric } from "./fabric";

/** What a tick changed, so that observers draw only that. */
export interface Delta {
    nodes: Set<number>;
    links: Set<number>;
    /** Load, wait, VLs: figures of all links. */
    figures: boolean;
    members: Set<keyof Tick>;
}

export type Observer = (delta: Delta) => void;

const LOG_LENGTH = 400;
const SERIES_LENGTH = 4096;

function emptyTick(): Tick {
    return { seq: 0, t: 0, running: false, pace: 0, managers: [], changes: [], events: [], problems: [], flows: [],
        vms: [], hypervisors: [], deadlock: null };
}

export class Store {
    info!: Info;
    fabric!: Fabric;
    tick: Tick = emptyTick();
    series: History = { t: [], seq: [], throughput: [], latency: [], lost: [], smps: [] };
    connected = false;
    /** The time of the newest tick, also while the past is shown. */
    latest = 0;
    past = false;
    onTopology: () => void = () => {};
    onConnection: () => void = () => {};
    private readonly observers: Observer[] = [];
    private stream: EventSource | null = null;
    private loading: Promise<void> | null = null;
    private seq = 0;
    /** Ticks that came while the state is being read; null: none is being read. */
    private early: Tick[] | null = null;

    observe(observer: Observer): void {
        this.observers.push(observer);
    }

    can(capability: string): boolean {
        return this.info.capabilities.includes(capability);
    }

    /** The nodes of all masters: one for each subnet. */
    masters(): Set<number> {
        return new Set((this.tick.managers ?? []).filter(manager => manager.state === "master").map(manager => manager.node));
    }

    /** Opens the stream, reads everything, then applies the ticks that came meanwhile. */
    load(): Promise<void> {
        this.loading ??= this.read().finally(() => { this.loading = null; });
        return this.loading;
    }

    private async read(): Promise<void> {
        this.stream?.close();
        this.early = [];
        this.stream = openStream({
            tick: tick => this.receive(tick),
            reset: () => void this.load(),
            gap: () => void this.readState(),
            connected: connected => { this.connected = connected; this.onConnection(); },
        });
        const [info, topology] = await Promise.all([get<Info>("/info"), get<Topology>("/topology")]);
        this.info = info;
        this.fabric = makeFabric(topology);
        this.tick = emptyTick();
        this.past = false;
        this.latest = 0;
        this.onTopology();
        await this.readState();
        if (this.can("history")) this.series = await get<History>("/history");
        this.notify(nothing("t", "traffic"));
    }

    /** Reads the complete state, and applies the ticks that are newer. */
    private async readState(): Promise<void> {
        this.early ??= [];
        const state = await get<Tick>("/state");
        const later = (this.early ?? []).filter(tick => tick.seq > state.seq);
        this.early = null;
        this.latest = state.t;
        this.seq = state.seq;
        if (!this.past) this.merge({ ...state, full: true });
        for (const tick of later) this.receive(tick);
    }

    private receive(tick: Tick): void {
        if (this.early) { this.early.push(tick); return; }
        if (tick.seq <= this.seq) return;
        const gap = tick.seq > this.seq + 1;
        this.seq = tick.seq;
        this.latest = Math.max(this.latest, tick.t);
        this.sample(tick);
        if (gap && !this.past) void this.readState();
        else if (this.past) this.notify(nothing("seq"));
        else this.merge(tick);
    }

    /** Adds a point to the plots. A tick without traffic means that its figures have not changed. */
    private sample(tick: Tick): void {
        const { series } = this;
        this.traffic = tick.traffic ?? this.traffic;
        if (series.t.length && tick.t <= series.t[series.t.length - 1]) return;
        const lost = lostPackets(this.traffic);
        series.t.push(tick.t);
        series.seq.push(tick.seq);
        series.throughput.push(this.traffic?.throughput ?? 0);
        series.latency.push(this.traffic?.latency ?? null);
        series.lost.push(Math.max(0, lost - this.lostBefore));
        series.smps.push(Math.max(0, (tick.smps ?? this.smpsBefore) - this.smpsBefore));
        this.lostBefore = lost;
        this.smpsBefore = tick.smps ?? this.smpsBefore;
        if (series.t.length > SERIES_LENGTH) for (const column of Object.values(series)) (column as unknown[]).shift();
    }

    private traffic: Traffic | undefined;
    private lostBefore = 0;
    private smpsBefore = 0;

    /** Shows a moment of the past, as the server kept it. */
    async showPast(t: number): Promise<void> {
        const tick = await get<Tick>("/history/at", { t: Math.round(t) });
        this.past = true;
        this.merge({ ...tick, full: true });
    }

    async showPresent(): Promise<void> {
        if (!this.past) return;
        this.past = false;
        await this.readState();
    }

    private merge(tick: Tick): void {
        const delta: Delta = { nodes: new Set(), links: new Set(), figures: false,
            members: new Set(Object.keys(tick) as (keyof Tick)[]) };
        const { nodes, links } = this.fabric;
        if (tick.full) this.clearStates(tick, delta);
        for (const [id, state] of tick.nodes ?? []) { nodes[id].state = state; delta.nodes.add(id); }
        for (const [id, wave] of tick.waves ?? []) { nodes[id].wave = wave; delta.nodes.add(id); }
        for (const [id, state] of tick.links ?? []) { links[id].state = state; delta.links.add(id); }
        for (const [id, errors] of tick.errors ?? []) { links[id].errors = errors; delta.links.add(id); }
        if (tick.load) { this.spread(tick.load, "load"); delta.figures = true; }
        if (tick.wait) { this.spread(tick.wait, "wait"); delta.figures = true; }
        if (tick.vl) { this.spread(tick.vl, "vls"); delta.figures = true; }
        this.tick = {
            ...this.tick, ...tick,
            changes: tick.full ? tick.changes ?? [] : mergeChanges(this.tick.changes ?? [], tick.changes ?? []),
            events: tick.full ? tick.events ?? [] : mergeEvents(this.tick.events ?? [], tick.events ?? []),
        };
        if (tick.full && !this.past) {
            this.traffic = tick.traffic;
            this.lostBefore = lostPackets(tick.traffic);
            this.smpsBefore = tick.smps ?? 0;
        }
        this.notify(delta);
    }

    /** A complete tick lists only what is not normal. */
    private clearStates(tick: Tick, delta: Delta): void {
        for (const node of this.fabric.nodes) {
            if (node.state || node.wave) delta.nodes.add(node.index);
            node.state = node.wave = 0;
        }
        for (const link of this.fabric.links) {
            if (link.state || link.errors) delta.links.add(link.index);
            link.state = link.errors = 0;
        }
        if (tick.deadlock === undefined) tick.deadlock = null;
    }

    private spread(text: string, member: "load" | "wait" | "vls"): void {
        const values = bytes(text);
        for (const link of this.fabric.links) {
            const there = values[2 * link.index] ?? 0, back = values[2 * link.index + 1] ?? 0;
            const figures = link[member];
            figures[0] = there === 255 && member !== "vls" ? 0 : there;
            figures[1] = back === 255 && member !== "vls" ? 0 : back;
        }
    }

    private notify(delta: Delta): void {
        for (const observer of this.observers) observer(delta);
    }
}

function lostPackets(traffic: Traffic | undefined): number {
    return Object.values(traffic?.lost ?? {}).reduce((sum, count) => sum + count, 0);
}

function nothing(...members: (keyof Tick)[]): Delta {
    return { nodes: new Set(), links: new Set(), figures: false, members: new Set(members) };
}

function mergeChanges(known: Change[], fresh: Change[]): Change[] {
    if (!fresh.length) return known;
    const byId = new Map(known.map(change => [change.id, change]));
    for (const change of fresh) byId.set(change.id, change);
    return [...byId.values()].sort((one, other) => one.id - other.id).slice(-50);
}

function mergeEvents(known: LogEvent[], fresh: LogEvent[]): LogEvent[] {
    return fresh.length ? [...known, ...fresh].slice(-LOG_LENGTH) : known;
}
