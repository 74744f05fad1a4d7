// The page of a run.
import { h } from "../dom";
import { instant, quantity } from "../format";
import type { Change, Happening, Measured, Results, Run } from "./data";
import { bar, code, note, paragraph, picture, plot, put, section, table, tiles, type Cell } from "./page";

const EVENTS_SHOWN = 200, SIMULTANEOUS_SHOWN = 3;
const TILES = [["throughput", "throughput"], ["throughput.received", "received"], ["delivered", "packets delivered"],
    ["latency.mean", "mean latency"], ["latency.p99", "latency, 99th percentile"]];
/** The figures of these names are in these tables; those of `ELSEWHERE` in other sections. */
const GROUPS: [string, string[]][] = [["Latency", ["latency"]], ["Network latency", ["network-latency"]],
    ["Throughput", ["throughput", "offered", "accepted"]], ["Traffic stopped", ["traffic"]]];
const ELSEWHERE = ["lost", "change", ...GROUPS.flatMap(([, names]) => names)];

const first = (name: string) => name.split(".")[0];
const shown = ({ value, unit }: Measured) => quantity(value ?? NaN, unit);
const seconds = (ps: number) => quantity(ps / 1e12, "s");

function putTiles({ lost, recovery, smps, end_ps, figures }: Results): void {
    const known = TILES.flatMap(([name, label]): [string, string][] => {
        const found = figures.find(figure => figure.name === name);
        return found ? [[quantity(found.value ?? NaN, found.unit === "packets" ? "" : found.unit), label]] : [];
    });
    put(tiles([...(recovery === null ? [] : [[quantity(recovery, "s"), "longest recovery, simulated"] as [string, string]]),
        ...(lost === null ? [] : [[quantity(lost, ""), "packets lost"] as [string, string]]), ...known,
        [quantity(smps, ""), "SMPs sent"], [seconds(end_ps), "simulated"]]));
}

function putTimeline({ windows }: Results): void {
    section("Timeline");
    for (const { from_ps, origin_ps, moment, left_out, chart } of windows)
        put(h("h3", {}, moment ? `${moment}, at ${instant(origin_ps)}` : from_ps > 0 ? "While traffic flowed" : "The whole run"),
            plot(chart, left_out ? `Not shown: ${left_out} more series of the store.` : ""));
}

/** When its phases began, and when the last one ended: detect, discover, compute, distribute. */
function limits({ fault_ps, begin_ps, routing_ps, computing_ps, end_ps }: Change): number[] {
    const routing = routing_ps ?? end_ps;
    return [fault_ps ?? begin_ps, begin_ps, routing, routing + (computing_ps ?? 0), end_ps];
}

function putChanges({ changes, changes_made }: Results): void {
    if (!changes.length) return;
    section("Changes of the managers");
    put(table([">at", "cause", ">detect", ">discover", ">compute", ">distribute", ">in all", ">gets", ">sets", ">blocks"], changes.map(change => {
        const at = limits(change), phases = at.slice(1).map((end, i) => end > at[i] ? seconds(end - at[i]) : "–");
        return [instant(change.begin_ps), change.cause + (change.finished ? "" : " (given up)"), ...phases, seconds(change.end_ps - Math.min(at[0], at[1])),
            ...[change.gets, change.sets, change.blocks].map(count => quantity(count, ""))];
    })), note("Gets and sets are SMPs; blocks are sets of forwarding tables."),
    changes_made > changes.length && note(`${changes_made - changes.length} more are in the store.`));
}

function putLosses({ lost, figures }: Results): void {
    if (lost === null) return;
    section("Packets lost, by cause");
    const causes = figures.filter(({ name, unit, value }) => name.startsWith("lost.") && unit === "packets" && name !== "lost.total" && (value ?? 0) > 0);
    const most = Math.max(...causes.map(({ value }) => value!));
    put(lost === 0 ? paragraph("None.") : table(["cause", ">packets", ">of all lost", ""], causes.map(({ name, value }) =>
        [name.slice(5).replace(/[._-]/g, " "), quantity(value!, ""), quantity(value! / lost, "share"), bar(value! / most)])));
}

function putFigures({ figures }: Results): void {
    if (!figures.length) return;
    const groups = GROUPS.map(([heading, names]) => ({ heading, members: figures.filter(({ name }) => names.includes(first(name))) }));
    groups.push({ heading: "Other figures", members: figures.filter(({ name }) => !ELSEWHERE.includes(first(name))) });
    section("Latency, throughput and the rest");
    put(h("div", { class: "columns" }, groups.filter(({ members }) => members.length).map(({ heading, members }) =>
        h("div", {}, h("h3", {}, heading), table(["figure", ">value"], members.map(figure => [figure.name, shown(figure)]))))));
}

function putChecks({ checks }: Results): void {
    if (!checks.length) return;
    section("Checks");
    put(table([">at", "", "check", "found"], checks.map(({ time_ps, holds, statement, finding }) =>
        [instant(time_ps), holds ? { text: "holds", tone: "good" } : { text: "FAILS", tone: "bad" }, statement, finding])));
}

/** Checks have a table of their own. Many events at the same time are abbreviated; in a long timeline only actions and
 * alarms continue. */
function putEvents({ timeline }: Results): void {
    const rows: Cell[][] = [], tones: Record<string, string> = { action: "strong", alarm: "bad" };
    const row = ({ time_ps, who }: Happening, text: string, tone = "") => rows.push([instant(time_ps), who, { text, tone }]);
    const beside = (a: Happening, b?: Happening) => b?.kind === "event" && a.kind === "event" && a.time_ps === b.time_ps && a.who === b.who;
    for (let at = 0, same; at < timeline.length && rows.length < 2 * EVENTS_SHOWN; at += same) {
        const event = timeline[at];
        for (same = 1; beside(event, timeline[at + same]);) same++;
        if (event.kind === "check" || (rows.length >= EVENTS_SHOWN && !(event.kind in tones))) continue;
        const most = same > SIMULTANEOUS_SHOWN + 1 ? SIMULTANEOUS_SHOWN : same;
        for (const one of timeline.slice(at, at + most)) row(one, one.text, tones[one.kind]);
        if (most < same) row(event, `… and ${same - most} more at this moment`);
    }
    if (!rows.length) return;
    if (rows.length >= EVENTS_SHOWN) row(timeline[timeline.length - 1], "(events were left out; all are in the store)");
    section("Events");
    put(table([">at", "who", "what"], rows));
}

export function putRun(run: Run): void {
    const results = run.windows ? run as Results : null;
    if (results) putTiles(results);
    picture(run.no_picture, "As the run began. Red dashes: what the scenario touched.");
    if (results) for (const part of [putTimeline, putChanges, putLosses, putFigures, putChecks, putEvents]) part(results);
    section("How to run it again");
    put(run.replay && code(run.replay),
        paragraph(`Seed ${run.seed}, weft ${run.version}. Trace hash ${run.trace_hash}; identical runs have the same hash.`),
        ...(run.scenario ? [paragraph("The scenario:"), code(run.scenario)] : []));
}
