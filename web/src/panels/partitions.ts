// Partitions: hosts are painted in the colour of a partition, members are chosen on the map, and a pair of
// hosts can be tried. Multicast groups: the tree of a group on the map.
import type { App, Panel } from "../app";
import { get } from "../api";
import type { Group, Partition } from "../contract";
import { button, facts, fill, h, refill, swatch } from "../dom";
import { hex, plural } from "../format";

export function partitionsPanel(app: App, tryPair: () => void): Panel {
    const list = h("div", { id: "partitions" });
    const name = h("input", { id: "partition-name", value: "blue", size: "8", "aria-label": "Name of the partition" });
    const key = h("input", { id: "partition-key", value: "0x0002", size: "8", "aria-label": "P_Key" });
    const chosen = new Set<number>();
    const summary = h("p", { id: "partition-members" });
    let partitions: Partition[] = [];
    let painting = false;

    async function read(): Promise<void> {
        try {
            partitions = (await get<{ partitions: Partition[] }>("/partitions")).partitions;
            draw();
        } catch (error) {
            app.report(error);
        }
    }

    function colour(at: number): string {
        return `vl-${at % 8}`;
    }

    function paint(): void {
        const of = new Map<number, string>();
        partitions.forEach((partition, at) => {
            // The default partition contains all: the others are painted over it.
            for (const node of [...partition.full, ...partition.limited]) if (at > 0 || partitions.length === 1 || !of.has(node)) of.set(node, colour(at));
        });
        for (const node of chosen) of.set(node, "accent");
        app.view.paint(node => node.kind === "host" ? of.get(node.index) ?? "host" : leafColour(node.hosts, of));
    }

    /** A folded switch has the colour of its hosts, if they agree. */
    function leafColour(hosts: number[], of: Map<number, string>): string | null {
        const colours = new Set(hosts.map(host => of.get(host) ?? "host"));
        return hosts.length && colours.size === 1 ? [...colours][0] : null;
    }

    function draw(): void {
        paint();
        refill(list, partitions.map((partition, at) => h("section", { class: "card", "data-pkey": partition.pkey },
            h("header", {}, h("b", {}, swatch(colour(at), true), ` ${partition.name || "unnamed"}`), h("code", {}, hex(partition.pkey))),
            facts([["Members", `${plural(partition.full.length, "full", "full")}, ${plural(partition.limited.length, "limited", "limited")}`]]))));
        fill(summary, chosen.size ? `${plural(chosen.size, "host")} chosen.` : "Choose hosts on the map: a click on a switch takes all its hosts.");
    }

    function takeNext(): void {
        if (!painting) return;
        app.pick = node => {
            const hosts = app.store.fabric.nodes[node].kind === "host" ? [node] : app.store.fabric.nodes[node].hosts;
            const remove = hosts.every(host => chosen.has(host));
            for (const host of hosts) if (remove) chosen.delete(host); else chosen.add(host);
            draw();
            takeNext();
        };
    }

    async function apply(): Promise<void> {
        const done = await app.run({ do: "partition", name: name.value.trim(), pkey: Number(key.value), nodes: [...chosen], limited: [] }, `Partition ${name.value.trim()} is written to the ports`);
        if (done) { chosen.clear(); await read(); }
    }

    return {
        id: "partitions", title: "Partitions", needs: "partitions",
        render(root) {
            painting = app.store.can("memberships");
            fill(root, list, painting && h("h3", {}, "New partition"), painting && summary,
                painting && h("div", { class: "actions" }, name, key, button("Apply", () => void apply(), { class: "main" }), button("Choose none", () => { chosen.clear(); draw(); })),
                h("div", { class: "actions" }, button("Try a pair of hosts", tryPair), button("Read again", () => void read())));
            if (painting) takeNext();
            void read();
        },
        update(delta) { if (delta.members.has("changes")) void read(); },
        leave() { painting = false; app.pick = null; app.view.paint(null); },
    };
}

export function groupsPanel(app: App): Panel {
    const list = h("div", { id: "groups" });
    let groups: Group[] = [], shown = -1;

    async function read(): Promise<void> {
        try {
            groups = (await get<{ groups: Group[] }>("/groups")).groups;
            draw();
        } catch (error) {
            app.report(error);
        }
    }

    function show(group: Group | undefined): void {
        shown = group?.mlid ?? -1;
        app.view.mark("group", group?.links.map(link => ({ link, colour: "vl-3", width: 3 })) ?? [],
            group?.members.slice(0, 200).map(node => ({ node, colour: "vl-3" })) ?? []);
    }

    function draw(): void {
        show(groups.find(group => group.mlid === shown));
        refill(list, groups.length === 0 ? h("p", { class: "quiet" }, "There is no multicast group.") : groups.map(group =>
            h("section", { class: "card", "data-mlid": group.mlid },
                h("header", {}, h("code", {}, group.mgid), h("code", {}, hex(group.mlid))),
                facts([["Members", plural(group.members.length, "host")], ["Tree", plural(group.links.length, "link")]]),
                h("div", { class: "actions" },
                    button("Show tree", () => { show(group); draw(); }, { "aria-pressed": String(shown === group.mlid), "data-key": `tree ${group.mlid}` }),
                    app.store.can("memberships") && button("Join", () => member("join", group), { title: "The selected host joins", "data-key": `join ${group.mlid}` }),
                    app.store.can("memberships") && button("Leave", () => member("leave", group), { title: "The selected host leaves", "data-key": `leave ${group.mlid}` })))));
    }

    function member(action: "join" | "leave", group: Group): void {
        const node = app.selection?.kind === "node" ? app.store.fabric.nodes[app.selection.index] : null;
        if (node?.kind !== "host") { app.report(new Error("Select a host on the map first.")); return; }
        void app.run({ do: action, node: node.index, mgid: group.mgid }, `${node.name}: ${action}`).then(() => read());
    }

    return {
        id: "groups", title: "Multicast", needs: "groups",
        render(root) { fill(root, h("div", { class: "actions" }, button("Read again", () => void read())), list); void read(); },
        update(delta) { if (delta.members.has("changes")) void read(); },
        leave() { show(undefined); },
    };
}
