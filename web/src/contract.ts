// The JSON API as its OpenAPI file describes it: only the types.

export interface Info {
    what: "live" | "sm" | "fabric";
    version: string;
    name: string;
    seed?: number;
    /** Unix time in ms at t = 0; absent: times are virtual. */
    begin?: number;
    generation: number;
    capabilities: string[];
    actions: ActionRow[];
    engines?: string[];
}

/** A row of src/console/actions.def that this server applies. */
export interface ActionRow {
    do: string;
    usage: string;
    arguments: string[];
    fault: boolean;
    label?: string;
    done?: string;
    state?: "any" | "present" | "failed" | "up" | "faulty";
    value?: number;
    undo?: string;
}

export interface Topology {
    generation: number;
    kind: string;
    layout: "tree" | "grid" | "dragonfly" | "ring" | "rooms" | "free";
    nodes: {
        name: string[]; kind: number[]; guid: string[]; ports: number[]; level: number[]; group: number[];
        parent: number[]; x: number[]; y: number[];
        /** Empty: the fabric is one subnet. */
        subnet: number[];
    };
    /** Places by the names of the switches; empty columns: the names have no rooms. */
    rooms: {
        name: string[]; left: number[]; top: number[]; right: number[]; bottom: number[]; of: number[]; x: number[]; y: number[];
    };
    links: {
        a: number[]; ap: number[]; b: number[]; bp: number[]; width: number[]; speed: number[]; gbps: number[];
    };
    speeds: string[];
}

export interface Traffic {
    made: number;
    delivered: number;
    travelling: number;
    waiting: number;
    unroutable: number;
    lost: Record<string, number>;
    throughput: number;
    latency: number | null;
    latency_max: number | null;
    deadlocks: number;
}

export interface Manager {
    id: number;
    node: number;
    name: string;
    state: string;
    phase: string;
    wave: number;
    waves: number;
    draining: boolean;
    priority: number;
    engine: string;
    settled: boolean;
    nodes: number;
    /** Of its subnet; a manager knows it of itself alone. */
    prefix?: string;
    change: number | null;
    /** Nanoseconds between two polls of a standby, and how many without an answer make it take over. */
    poll?: number;
    polls?: number;
}

export interface Change {
    id: number;
    manager: number;
    cause: string;
    fault: number | null;
    begin: number;
    routing: number | null;
    routed: number | null;
    end: number | null;
    finished: boolean;
    gets: number;
    sets: number;
    blocks: number;
    draining: number;
}

export interface LogEvent { t: number; kind: string; who: string; text: string; node: number | null }

export interface Problem {
    kind: string;
    place: string;
    text: string;
    advice: string;
    severity: number;
    since: number | null;
    node: number | null;
    link: number | null;
}

export interface Deadlock {
    t: number;
    hops: { node: number; port: number; link: number; dir: number; vl: number }[];
}

export interface Flow { id: number; text: string; running: boolean }

export interface Machine {
    name: string;
    node: number | null;
    state: string;
    /** What waits until its hypervisor returns. */
    pending?: string;
    lid: number;
    moves?: number;
    smps?: number;
    downtime: number | null;
}

export interface Tick {
    seq: number;
    full?: boolean;
    live?: boolean;
    t: number;
    running: boolean;
    pace: number;
    behind?: boolean;
    /** Time runs without pace: until the subnet is up, to the next event, to a moment. */
    work?: "start" | "event" | "replay" | null;
    /** Nanoseconds over which loads are means; 0: too few packets until now. */
    window?: number;
    halted?: string | null;
    nodes?: [number, number][];
    links?: [number, number][];
    waves?: [number, number][];
    load?: string;
    wait?: string;
    vl?: string;
    errors?: [number, number][];
    traffic?: Traffic;
    smps?: number;
    hash?: string;
    managers?: Manager[];
    changes?: Change[];
    events?: LogEvent[];
    problems?: Problem[];
    deadlock?: Deadlock | null;
    flows?: Flow[];
    vms?: Machine[];
    hypervisors?: number[];
}

export interface Path {
    from: number;
    to: number;
    reason: string | null;
    dlid: number;
    sl: number;
    allowed: boolean;
    pkey: number | null;
    hops: { node: number; port: number; link: number; dir: number; vl: number; load: number }[];
    alternatives: number[][];
    shortest: number;
}

export interface History {
    t: number[];
    seq: number[];
    throughput: number[];
    latency: (number | null)[];
    lost: number[];
    smps: number[];
}

export interface TableVersion {
    id: number; t: number; manager: number; engine: string; cause: string; entries: number; changed: number;
}

export interface TableDifference {
    a: number; b: number; entries: number; switches: [number, number][]; links: [number, number, number, number][];
}

export interface Routing {
    engine: string;
    error?: string | null;
    vls: number;
    longest: number;
    mean_hops: number;
    max_load: number;
    mean_load: number;
    bisection: number;
    deadlock_free: boolean;
    changed: number;
    loads?: string;
}

export interface Partition { pkey: number; name: string; full: number[]; limited: number[] }
export interface Group { mlid: number; mgid: string; members: number[]; links: number[] }
export interface Connection {
    number: number;
    node: number;
    peer: number;
    from: string;
    to: string;
    service: string;
    operation: string;
    state: string;
    /** Why it is broken. */
    reason?: string;
    messages: number;
    /** bit/s */
    goodput: number;
    retries: number;
    /** Seconds. */
    outage: number;
}
export interface CableDifference { kind: string; text: string; node: number | null; link: number | null }

export interface Action {
    do: string;
    link?: number; node?: number; peer?: number; manager?: number; flow?: number; percent?: number; count?: number; ns?: number;
    t?: number; value?: number; seed?: number; engine?: string; name?: string; pkey?: number; nodes?: number[];
    limited?: number[]; mgid?: string; text?: string;
}

export interface ActionResult { t: number; statements: string[] }
