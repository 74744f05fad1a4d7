// The pages of weft whatif: one failure, and a ranking of failures.
import { quantity } from "../format";
import type { Answer, Ranking } from "./data";
import { code, note, paragraph, picture, plot, put, section, table, tiles } from "./page";

const percent = (share: number) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 2 : 1)} %`;
const seconds = (ps: number) => quantity(ps / 1e12, "s");

function putTiles({ cut_off_adapters, engines: [first], traffic }: Answer): void {
    const pairs: [string, string][] = [[quantity(cut_off_adapters.length, ""), "adapters cut off"]];
    if (first.reacted && first.after) pairs.push([seconds(first.recovery_ps), "recovery, simulated"]);
    if (traffic) pairs.push([quantity(Math.round(traffic.lost_estimate), ""), traffic.simulated_share < 1 ? "packets lost (estimate)" : "packets lost"]);
    if (first.before && first.after) pairs.push([percent(first.before.most), "busiest link before"], [percent(first.after.most), "busiest link after"]);
    put(tiles(pairs));
}

function putCut({ cut_off_adapters, cut_off_switches, cut_off_before }: Answer): void {
    const names = [...cut_off_switches.map(name => `switch ${name}`), ...cut_off_adapters];
    section("Cut off");
    put(names.length ? code(names.join("\n")) : paragraph("Nobody."),
        cut_off_before > 0 && note(`${cut_off_before} nodes are not connected with the manager even without the failure.`));
}

function putLoads({ load, loads, links }: Answer): void {
    section("Link load");
    put(paragraph(`Uniform traffic in which every adapter port sends ${percent(load)} of its link's rate, by the tables that are in the switches.`),
        loads && plot(loads, "Links that carry nothing in a direction are left out."),
        links.length > 0 && table(["link", ">before", ">after"], links.map(({ link, before, after }) => [link, percent(before), percent(after)])));
}

export function putAnswer(answer: Answer): void {
    putTiles(answer);
    picture(answer.no_picture, "Red dashes: what fails.");
    putCut(answer);
    if (answer.engines[0].after) putLoads(answer);
    section("Engines");
    put(table(["engine", ">recovery", ">SMPs", ">blocks", ">most before", ">most after", ">hops after", "note"],
        answer.engines.map(({ engine, reacted, recovered, recovery_ps, smps, blocks, before, after, refusal, complaint }) =>
            [engine, ...(before && after ? [reacted && recovered ? seconds(recovery_ps) : "–", smps, blocks, percent(before.most), percent(after.most), after.hops.toFixed(2)]
                : ["–", "–", "–", "–", "–", "–"]), refusal ?? complaint ?? ""])));
    section("To repeat it");
    put(code(answer.command), ...(answer.scenario ? [paragraph("The run with traffic is this scenario of weft sim:"), code(answer.scenario)] : []));
}

export function putRanking({ cases, left_out, command }: Ranking): void {
    section("Ranking");
    put(table(["failure", ">adapters cut off", ">switches cut off", ">affected traffic", ">recovery", ">lost", ">busiest link before", ">after"],
        cases.map(one => [one.failure, one.cut_off_adapters, one.cut_off_switches, percent(one.affected),
            one.error ? "error" : !one.recovered ? "fails" : one.recovery_ps ? seconds(one.recovery_ps) : "none",
            quantity(one.lost_bytes, "bytes"), percent(one.load_most_before), percent(one.load_most_after)])),
        left_out > 0 && note(`${left_out} more failures are not shown.`));
    section("To repeat it");
    put(code(command));
}
