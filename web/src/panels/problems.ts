// What the managers and the checks complain about, the most serious first, each with its place; and the
// differences between the plan of the cables and the links that are up.
import type { App, Panel } from "../app";
import { get } from "../api";
import type { CableDifference } from "../contract";
import { button, fill, h, refill } from "../dom";
import { moment, plural } from "../format";
import type { Selection } from "../graph/view";

/** The place of a problem: its link if it is known, else its node. */
function placeOf(node: number | null | undefined, link: number | null | undefined): Selection {
    if (link !== null && link !== undefined) return { kind: "link", index: link };
    return node !== null && node !== undefined ? { kind: "node", index: node } : null;
}

function placeButton(app: App, text: string, place: Selection): HTMLElement {
    return place ? button(text, () => app.select(place, true), { class: "place", title: "Show on the map" }) : h("span", {}, text);
}

export function problemsPanel(app: App): Panel {
    const list = h("ul", { class: "list", id: "problems", "aria-label": "Problems" });

    /** The master alone watches the subnet. The first manager of weft sm is that of the page. */
    function nothing(): string {
        const managers = app.store.tick.managers ?? [], master = managers.find(manager => manager.state === "master");
        if (app.store.can("managers") || managers[0]?.state !== "standby") return "No problems.";
        return `No problems of this standby. Only the master${master ? `, at ${master.name},` : ""} lists those of the subnet.`;
    }

    function update(): void {
        const problems = app.store.tick.problems ?? [];
        refill(list, problems.length === 0 ? h("li", { class: "quiet" }, nothing()) : problems.map(problem => h("li", { "data-problem": problem.kind },
            h("span", { class: `badge ${problem.severity === 0 ? "bad" : problem.severity === 1 ? "warn" : ""}` }, problem.kind), " ",
            placeButton(app, problem.place || "place not known", placeOf(problem.node, problem.link)),
            h("div", {}, problem.text),
            h("div", { class: "quiet" }, problem.advice),
            problem.since !== null && problem.since !== undefined && h("div", { class: "quiet" }, `since ${moment(problem.since)}`))));
    }

    return {
        id: "problems", title: "Problems", managed: true, update, badge: () => (app.store.tick.problems ?? []).filter(problem => problem.severity < 2).length,
        render(root) { fill(root, list); update(); },
    };
}

export function cablingPanel(app: App): Panel {
    const list = h("div", { id: "cabling" });

    async function read(): Promise<void> {
        try {
            const { plan, differences } = await get<{ plan: string; differences: CableDifference[] }>("/cabling");
            app.view.mark("cabling", differences.filter(one => one.link !== null && one.link !== undefined)
                .map(one => ({ link: one.link as number, colour: one.kind === "extra" ? "flap" : "warn", width: 3 })));
            fill(list, h("p", {}, `${plural(differences.length, "difference")} from the plan (${plan}).`),
                h("ul", { class: "list" }, differences.map(one => h("li", { "data-difference": one.kind },
                    h("span", { class: "badge warn" }, one.kind), " ", placeButton(app, one.text, placeOf(one.node, one.link))))));
        } catch (error) {
            app.report(error);
        }
    }

    return {
        id: "cabling", title: "Cabling", needs: "cabling",
        render(root) { fill(root, h("div", { class: "actions" }, button("Compare again", () => void read())), list); void read(); },
        leave() { app.view.mark("cabling"); },
    };
}
