// Another routing engine beside the present one: loads, VLs, bisection bandwidth; then apply it.
import type { App, Panel } from "../app";
import { bytes, post } from "../api";
import type { Routing } from "../contract";
import { button, fill, h, table, type Child } from "../dom";
import { count } from "../format";

interface Answer { present: Routing; other: Routing }

const ROWS: [string, (routing: Routing) => Child][] = [
    ["VLs", routing => String(routing.vls)],
    ["Deadlock-free", routing => routing.deadlock_free ? "yes" : "no"],
    ["Longest path", routing => `${routing.longest} switches`],
    ["Mean hops", routing => routing.mean_hops.toFixed(2)],
    ["Paths on the busiest link", routing => count(routing.max_load)],
    ["Paths per link, mean", routing => routing.mean_load.toFixed(1)],
    ["Bisection bandwidth", routing => `${(routing.bisection * 100).toFixed(1)} %`],
    ["Entries that change", routing => count(routing.changed)],
];

export function whatifPanel(app: App): Panel {
    const engine = h("select", { id: "whatif-engine", "aria-label": "Routing engine" });
    const result = h("div", { id: "whatif", "aria-live": "polite" });

    async function compute(): Promise<void> {
        fill(result, h("p", { class: "quiet" }, `Computing the tables of ${engine.value} …`));
        try {
            show(await post<Answer>("/whatif", { engine: engine.value }));
        } catch (error) {
            fill(result);
            app.report(error);
        }
    }

    function show({ present, other }: Answer): void {
        if (other.error) {
            fill(result, h("p", { class: "message error" }, `${other.engine} refuses this fabric: ${other.error}`));
            return;
        }
        fill(result,
            table("The present engine and the other one", ["", present.engine, other.engine], ROWS.map(([label, value]) => [label, value(present), value(other)])),
            h("div", { class: "actions" },
                loadsButton(present), loadsButton(other),
                app.store.can("engine") && button(`Apply ${other.engine}`, () => void apply(other.engine), { class: "main" })));
    }

    function loadsButton(routing: Routing): HTMLElement | null {
        if (!routing.loads) return null;
        const loads = bytes(routing.loads);
        return button(`Show paths of ${routing.engine}`, () => app.view.showFigures(link => Math.max(loads[2 * link] ?? 0, loads[2 * link + 1] ?? 0)));
    }

    async function apply(name: string): Promise<void> {
        const master = app.store.tick.managers?.find(manager => manager.state === "master");
        if (master) await app.run({ do: "engine", manager: master.id, engine: name }, `${master.name} routes with ${name}`);
    }

    return {
        id: "whatif", title: "What if", needs: "whatif",
        render(root) {
            const chosen = engine.value;
            fill(engine, (app.store.info.engines ?? []).map(name => h("option", { value: name }, name)));
            if (chosen) engine.value = chosen;
            fill(root, h("p", {}, "Computes the tables of another engine for the fabric as it is now. Nothing changes until you apply them."),
                h("div", { class: "actions" }, engine, button("Compute", () => void compute(), { class: "main" })), result);
        },
        leave() { app.view.showFigures(null); },
    };
}
