// The path between two hosts by the tables in the switches: SL, VLs, load on the way, alternatives.
import type { App, Panel } from "../app";
import { get } from "../api";
import { hostField } from "../chooser";
import type { Path } from "../contract";
import { button, facts, fill, h, table } from "../dom";
import type { Mark } from "../graph/view";
import { count, hex, plural } from "../format";

export interface PathPanel extends Panel {
    set(end: "from" | "to", node: number): void;
    ends(): { from: number; to: number };
}

export function pathPanel(app: App): PathPanel {
    const chosen = { from: -1, to: -1 };
    const result = h("div", { id: "path", "aria-live": "polite" });
    const fields = {
        from: hostField(app, "path-from", "From", node => set("from", node)),
        to: hostField(app, "path-to", "To", node => set("to", node)),
    };
    let asked = 0;

    function set(end: "from" | "to", node: number): void {
        if (app.store.fabric.nodes[node].kind !== "host") {
            fill(result, h("p", {}, `${app.store.fabric.nodes[node].name} is a switch; choose a host.`));
            return;
        }
        chosen[end] = node;
        fields[end].input.value = app.store.fabric.nodes[node].name;
        void ask();
    }

    async function ask(): Promise<void> {
        if (chosen.from < 0 || chosen.to < 0) { draw(null); return; }
        const request = ++asked;
        try {
            const path = await get<Path>("/path", { from: chosen.from, to: chosen.to });
            if (request === asked) draw(path);
        } catch (error) {
            app.report(error);
        }
    }

    function marks(path: Path): Mark[] {
        return path.hops.map(hop => ({ link: hop.link, from: hop.node, colour: "accent", width: 4, label: `VL ${hop.vl}` }));
    }

    function showAlternative(path: Path, links: number[]): void {
        app.view.mark("path", [...marks(path).map(mark => ({ ...mark, label: undefined, width: 2 })),
            ...links.map(link => ({ link, colour: "warn", width: 4, dash: true }))], ends());
    }

    function ends() {
        const nodes = [];
        if (chosen.from >= 0) nodes.push({ node: chosen.from, colour: "accent", label: app.store.fabric.nodes[chosen.from].name });
        if (chosen.to >= 0) nodes.push({ node: chosen.to, colour: "accent", label: app.store.fabric.nodes[chosen.to].name });
        return nodes;
    }

    function draw(path: Path | null): void {
        app.view.mark("path", path ? marks(path) : [], ends());
        if (!path) { fill(result, h("p", { class: "quiet" }, "Choose two hosts.")); return; }
        const partition = path.allowed ? path.pkey === null ? "shared" : `shared, P_Key ${hex(path.pkey)}` : "none in common: packets between these hosts are refused";
        fill(result,
            path.reason !== null && h("p", { class: "message error" }, `No path: ${path.reason}`),
            facts([["SL", String(path.sl)], ["DLID", String(path.dlid)], ["Hops", h("span", { id: "path-hops" }, plural(path.hops.length, "link"))],
                ["VLs", [...new Set(path.hops.map(hop => hop.vl))].join(", ") || "–"], ["Partition", partition],
                ["Most loaded", path.hops.length > 0 && `${Math.max(...path.hops.map(hop => hop.load))} %`]]),
            path.hops.length > 0 && table("Links of the path", ["from", "port", "VL", "load"], path.hops.map(hop =>
                [app.nodeButton(hop.node), button(String(hop.port), () => app.select({ kind: "link", index: hop.link }, true), { class: "place", title: "Select the link" }),
                    String(hop.vl), `${hop.load} %`])),
            h("h3", {}, "Alternatives"),
            h("p", {}, path.shortest === 1 ? "This is the only shortest path." : `${count(path.shortest)} shortest paths; ${path.alternatives.length} others:`),
            h("div", { class: "actions" }, path.alternatives.map((links, at) =>
                button(`${at + 1}: ${middle(path, links)}`, () => showAlternative(path, links)))));
    }

    /** The switches in the middle of an alternative tell it from the others. */
    function middle(path: Path, links: number[]): string {
        const { fabric } = app.store;
        let at = path.from;
        const names: string[] = [];
        for (const index of links) {
            const link = fabric.links[index];
            at = link.a === at ? link.b : link.a;
            names.push(fabric.nodes[at].name);
        }
        return names.slice(Math.floor((names.length - 1) / 2), Math.floor((names.length - 1) / 2) + 1).join("") || "direct";
    }

    return {
        id: "path", title: "Path", needs: "path",
        set(end, node) { app.show("path"); set(end, node); },
        ends: () => ({ ...chosen }),
        render(root) {
            fill(root, fields.from.row, fields.to.row,
                h("div", { class: "actions" },
                    button("Exchange", () => {
                        [chosen.from, chosen.to] = [chosen.to, chosen.from];
                        [fields.from.input.value, fields.to.input.value] = [fields.to.input.value, fields.from.input.value];
                        void ask();
                    }),
                    button("Read again", () => void ask()),
                    button("Clear", () => { chosen.from = chosen.to = -1; fields.from.input.value = fields.to.input.value = ""; draw(null); })),
                result);
            if (!result.childElementCount) draw(null);
            else void ask();
        },
        update(delta) { if (delta.members.has("changes")) void ask(); },
        leave() { app.pick = null; app.view.mark("path"); },
    };
}
