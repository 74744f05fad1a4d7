// The page of a sweep.
import type { Sweep } from "./data";
import { code, note, paragraph, plot, put, section, table } from "./page";

/** The first row of cells has names, the second units. */
function putPoints({ cells, columns, points, repetitions }: Sweep): void {
    if (!points) return;
    const rows = Array.from({ length: cells.length / columns }, (_, at) => cells.slice(at * columns, (at + 1) * columns));
    const [names, units, ...body] = rows, numbers = names.map((_, at) => body.every(row => !/[a-z]/i.test(row[at].replace(/^[\d.]+e/, ""))));
    section("Points");
    put(table(names.map((name, at) => (numbers[at] ? ">" : "") + (units[at] ? `${name} (${units[at]})` : name)),
        body.map(row => row.map((cell, at) => names[at] === "runs" ? (cell.endsWith("*") ? "saturated, " : "") + parseInt(cell) : cell))),
        repetitions > 1 && note("Mean ± half width of the 95 % confidence interval."),
        points > body.length && note(`${points - body.length} more points are in the store.`));
}

function putFailures({ failures, failures_in_all }: Sweep): void {
    if (!failures.length) return;
    section("Runs that failed");
    put(table(["point", ">repetition", "what", "command that repeats it"], failures.map(({ point, repetition, error, checks_failed, replay }) =>
        [point, repetition, error || `${checks_failed} checks`, replay])),
        failures_in_all > failures.length && note(`${failures_in_all - failures.length} more are in the store.`));
}

export function putSweep(sweep: Sweep): void {
    const fixed = Object.entries(sweep.fixed).map(([name, value]) => `${name}=${value}`);
    put(fixed.length > 0 && note(`The same in all runs: ${fixed.join(", ")}.`));
    if (sweep.charts.length) {
        section("Curves");
        put(...sweep.charts.map(chart => plot(chart)), sweep.repetitions > 1 && note("Means over repetitions; bars are 95 % confidence intervals."),
            ...sweep.pooled.map(name => note(`The means are also over ${name}.`)));
    }
    putPoints(sweep);
    putFailures(sweep);
    if (sweep.replay === undefined) return;
    section("How to run it again");
    put(paragraph("The first point:"), code(sweep.replay), paragraph(`Seed ${sweep.seed}, trace hash ${sweep.trace_hash}, weft ${sweep.version}.`));
}
