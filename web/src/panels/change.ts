// A change of the subnet as a time line: detection, discovery, computation, distribution. While it is under
// way the switches are counted by what their tables hold: the same colours as on the map.
import type { App, Panel } from "../app";
import type { Change } from "../contract";
import { button, facts, fill, h, refill, swatch, type Child } from "../dom";
import { count, duration, moment } from "../format";
import { phaseText } from "./managers";
import { trafficFacts } from "./place";

interface Phase { label: string; colour: string; from: number; to: number }

/** The phases of a change; the last one ends now if the change is under way. */
export function phases(change: Change, now: number): Phase[] {
    const list: Phase[] = [];
    const end = change.end ?? now;
    const add = (label: string, colour: string, from: number | null, to: number | null) => {
        if (from !== null && to !== null && to >= from) list.push({ label, colour, from, to });
    };
    add("Detection", "flap", change.fault, change.begin);
    add("Discovery", "vl-0", change.begin, change.routing ?? end);
    add("Computation", "vl-5", change.routing, change.routed ?? (change.routing === null ? null : end));
    add("Waves", "confirmed", change.routed, change.routed === null ? null : end);
    return list;
}

export function changePanel(app: App): Panel {
    let chosen: number | null = null;
    const root_ = h("div", { id: "change" });

    function changes(): Change[] {
        return app.store.tick.changes ?? [];
    }

    function describe(change: Change): HTMLElement[] {
        const now = app.store.tick.t, list = phases(change, now);
        const total = list.length ? list[list.length - 1].to - list[0].from : 0;
        const bar = h("div", { class: "phases", role: "img", "aria-label": list.map(phase => `${phase.label} ${duration(phase.to - phase.from)}`).join(", ") },
            list.map(phase => {
                const span = h("span", { title: `${phase.label}: ${duration(phase.to - phase.from)}` });
                span.style.setProperty("--swatch", `var(--${phase.colour})`);
                span.style.flexGrow = String(Math.max(total / 200, phase.to - phase.from));
                return span;
            }));
        const manager = app.store.tick.managers?.find(one => one.id === change.manager);
        return [
            h("h2", {}, change.cause || "Change"), bar,
            facts([...list.map((phase): [Child[], Child] =>
                [[swatch(phase.colour, true), ` ${phase.label}`], duration(phase.to - phase.from)]),
                ["Began", moment(change.begin)], ["Whole change", duration(total) + (change.end === null ? ", under way" : change.finished ? "" : ", given up")],
                ["Drains", change.draining > 0 && duration(change.draining)],
                ["SMPs", `${count(change.gets)} Gets, ${count(change.sets)} Sets, ${count(change.blocks)} of them LFT blocks`],
                ["Manager", manager && `${manager.name}: ${phaseText(manager)}`]]),
            h("div", { class: "actions" }, app.store.can("history") && button("Show its start", () =>
                void app.store.showPast(change.fault ?? change.begin).catch(error => app.report(error)))),
        ];
    }

    function progress(): HTMLElement {
        const counts = [0, 0, 0, 0];
        for (const node of app.store.fabric.nodes) if (node.kind === "switch") counts[node.wave]++;
        const labels: [number, string, string][] = [[1, "wait", "waiting"], [2, "being written", "written"], [3, "confirmed", "confirmed"]];
        const bar = h("div", { class: "bar" });
        for (const [wave, , colour] of labels) {
            const span = h("span");
            span.style.setProperty("--swatch", `var(--${colour})`);
            span.style.flexGrow = String(counts[wave]);
            bar.append(span);
        }
        return h("div", { id: "waves" }, counts[1] + counts[2] + counts[3] > 0 ? bar : "",
            h("div", { class: "actions" }, labels.map(([wave, label, colour]) =>
                h("span", { "data-wave": wave }, swatch(colour, true), ` ${count(counts[wave])} ${label}`))));
    }

    function update(): void {
        const all = changes();
        const change = all.find(one => one.id === chosen) ?? all.findLast(one => one.end === null || one.finished) ?? all[all.length - 1];
        refill(root_,
            change ? describe(change) : h("p", { class: "quiet" }, "No manager has changed the subnet yet."),
            h("h3", {}, "Tables of the switches"), progress(),
            h("h3", {}, "Traffic meanwhile"), trafficFacts(app),
            h("h3", {}, "Changes"),
            h("ul", { class: "list", "aria-label": "Changes" }, all.slice(-20).reverse().map(one => h("li", {},
                button(`${moment(one.begin)}  ${one.cause}`, () => { chosen = one.id; update(); },
                    { class: "place", "data-key": `change ${one.id}` }),
                h("span", { class: "quiet" }, one.end === null ? " under way" : one.finished ? ` ${duration(one.end - (one.fault ?? one.begin))}` : " given up")))));
    }

    return { id: "change", title: "Change", managed: true, update, render(root) { fill(root, root_); update(); } };
}
