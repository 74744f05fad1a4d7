// The page of weft reproduce: a section for each paper, with a part for each of its figures: the description, the plots,
// one sentence on whether a reader would recognise the figure, and the claims.
import { h } from "../dom";
import type { Claim, Experiment, Finding, Papers } from "./data";
import { note, paragraph, plot, put, section, table, tiles, type Cell } from "./page";

const PRESETS = ["paper", "today"] as const;
const KINDS: Record<string, string> = { result: "results of the papers", fitted: "fitted values", check: "checks" };

const finding = (claim: Claim, preset: typeof PRESETS[number]): Finding => claim[`preset_${preset}`];

function cells({ outcome, expected, measured }: Finding): Cell[] {
    return [measured, { text: outcome, tone: expected !== "either" && outcome !== expected ? "bad" : outcome === "holds" ? "good" : "" }];
}

/** Why a claim does not hold; a claim that holds has no reason to show. */
const reasonOf = ({ outcome, reason }: Finding) => outcome === "holds" ? undefined : reason;

/** A reason is written once if several claims, or both presets, share it. */
function putReasons({ claims }: Experiment): void {
    for (const [at, claim] of claims.entries()) {
        const both = claim.preset_paper.reason !== undefined && claim.preset_paper.reason === claim.preset_today.reason;
        for (const preset of PRESETS) {
            const reason = reasonOf(finding(claim, preset)), sharing = claims.filter(one => reasonOf(finding(one, preset)) === reason);
            if (!reason) continue;
            if (sharing.length > 1) put(claims.indexOf(sharing[0]) === at && note(`${sharing.length} claims, preset ${preset}: ${reason}.`));
            else if (!both || preset === "paper") put(note(`${claim.claim}, ${both ? "both presets" : `preset ${preset}`}: ${reason}.`));
        }
    }
}

/** The README.md of an experiment: paragraphs without headings. */
function putReadme(text: string): void {
    for (const block of text.replaceAll("`", "").replace(/^#.*$/gm, "").split(/\n\s*\n/))
        put(block.trim() !== "" && paragraph(block.trim().replace(/\s*\n\s*/g, " ")));
}

function putExperiment(experiment: Experiment): void {
    const { name, title, readme, pictures, summary, claims, failed, checks_do_not_hold } = experiment, figure = /-fig0*(\d+)/.exec(name);
    section(figure ? `Figure ${figure[1]}: ${title} (${name})` : `${name}: ${title}`, "h3");
    putReadme(readme);
    for (const which of new Set(pictures.map(({ plot }) => plot))) /* both presets side by side */
        put(h("div", { class: "columns" }, pictures.filter(one => one.plot === which).map(({ chart, caption }) => plot(chart, caption))));
    put(summary !== "" && paragraph(summary),
        claims.length > 0 && table(["claim", "kind", "place", "paper", "tolerance", "preset paper", "", "preset today", ""], claims.map(claim =>
            [claim.claim, claim.kind, claim.place, claim.paper, claim.tolerance, ...PRESETS.flatMap(preset => cells(finding(claim, preset)))])));
    putReasons(experiment);
    if (failed || checks_do_not_hold) put(note(`Of this experiment's runs ${failed} failed, and ${checks_do_not_hold} have checks that do not hold.`));
}

export function putPapers({ kinds, runs, experiments }: Papers): void {
    put(tiles([...Object.entries(kinds).flatMap(([kind, tally]) => PRESETS.map((preset): [string, string] =>
        [`${tally[`hold_with_preset_${preset}`]} of ${tally.claims}`, `${KINDS[kind] ?? kind} hold with preset ${preset}`])), [String(runs), "runs"]]));
    const titles = new Set(experiments.map(({ of }) => of?.title).filter(title => title !== undefined));
    for (const title of [...titles, undefined]) {
        const members = experiments.filter(({ of }) => of?.title === title), of = members[0]?.of;
        if (!members.length) continue;
        section(title ?? "Other experiments");
        if (of) put(paragraph(`${of.authors}. ${of.venue}, ${of.year}.`));
        members.forEach(putExperiment);
    }
}
