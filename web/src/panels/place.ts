// The place that is selected: a link or a node with its actions; without a selection, the whole fabric.
import type { App, Panel } from "../app";
import { button, facts, fill, h, refill, table } from "../dom";
import { isDown, linkName, linkState, NODE_STATES, otherEnd, WAVE_STATES, type FabricLink, type FabricNode } from "../fabric";
import { count, duration, moment, rate } from "../format";

export function placePanel(app: App, pathFrom: (node: number, end: "from" | "to") => void): Panel {
    let live: (() => void) | null = null;

    function render(root: HTMLElement): void {
        const { fabric } = app.store;
        const selection = app.selection;
        if (selection?.kind === "link" && fabric.links[selection.index]) live = renderLink(app, root, fabric.links[selection.index]);
        else if (selection?.kind === "node" && fabric.nodes[selection.index])
            live = renderNode(app, root, fabric.nodes[selection.index], pathFrom);
        else live = renderFabric(app, root);
        live();
    }

    return { id: "place", title: "Place", render, update: () => live?.() };
}

/** The buttons of the server's actions at a link or node. `is` tells whether an action of this state can be used now. An
 * action that can be undone has a field for its value, and a button that sends 0. */
function actionButtons(app: App, kind: "link" | "node", index: number, is: (state: string) => boolean): [HTMLElement[], () => void] {
    const plain: HTMLElement[] = [], valued: HTMLElement[] = [], enabled: [HTMLButtonElement, string][] = [];
    for (const row of app.store.info.actions.filter(one => one.label && one.arguments.includes(kind))) {
        const { label = "", done, state = "any", value, undo } = row;
        const argument = row.arguments.find(one => one !== kind && value);
        const send = (amount: number | undefined, said: string | undefined) =>
            void app.run({ do: row.do, [kind]: index, ...argument ? { [argument]: amount } : {} }, said);
        if (undo) {
            const field = h("input", { type: "number", min: "0", max: "100", step: "any", value: String(value), "aria-label": label });
            const back = button(undo, () => send(0, `${undo}: done`));
            valued.push(h("div", { class: "actions" }, h("label", {}, field, argument === "percent" && "%"),
                button(label, () => send(Number(field.value), done)), back));
            enabled.push([back, "faulty"]);
        } else {
            const one = button(label, () => send(value, done), state === "present" ? { class: "danger" } : {});
            plain.push(one);
            enabled.push([one, state]);
        }
    }
    const group = plain.length ? [h("div", { class: "actions", role: "group", "aria-label": `Actions on the ${kind}` }, plain)] : [];
    return [[...group, ...valued], () => enabled.forEach(([one, state]) => { one.disabled = !is(state); })];
}

function renderLink(app: App, root: HTMLElement, link: FabricLink): () => void {
    const { fabric } = app.store;
    const figures = h("div");
    const [buttons, enable] = actionButtons(app, "link", link.index, state =>
        ({ any: true, present: link.state !== 1, failed: link.state === 1, up: !isDown(link), faulty: [4, 5, 7].includes(link.state) })[state] ?? false);
    fill(root,
        h("h2", {}, linkName(fabric, link)),
        buttons,
        figures);
    return () => {
        enable();
        const direction = (from: number, to: number, at: 0 | 1) =>
            [h("span", {}, fabric.nodes[from].name, " → ", fabric.nodes[to].name), `${link.load[at]} %`, `${link.wait[at]} %`, vlSet(link.vls[at])];
        refill(figures,
            facts([["State", linkState(fabric, link)], ["Rate", `${link.rate}, ${link.gbps} Gbit/s`], ["Errors", count(link.errors)],
                ["Ends", [app.nodeButton(link.a), " and ", app.nodeButton(link.b)]]]),
            table("Directions of the link", ["direction", "load", "waiting", "VLs"],
                [direction(link.a, link.b, 0), direction(link.b, link.a, 1)]));
    };
}

export function vlSet(set: number): string {
    const vls = [];
    for (let vl = 0; vl < 8; vl++) if (set & 1 << vl) vls.push(vl);
    return vls.join(", ") || "–";
}

function renderNode(app: App, root: HTMLElement, node: FabricNode, pathFrom: (node: number, end: "from" | "to") => void): () => void {
    const { fabric } = app.store;
    const index = node.index, figures = h("div");
    const [buttons, enable] = actionButtons(app, "node", index, state =>
        ({ any: true, present: node.state !== 1, failed: node.state === 1, up: node.state === 0, faulty: [2, 3, 5].includes(node.state) })[state] ?? false);
    fill(root,
        h("h2", {}, node.name),
        buttons,
        node.kind === "host" && app.store.can("path") && h("div", { class: "actions" },
            button("Path from here", () => pathFrom(index, "from")), button("Path to here", () => pathFrom(index, "to"))),
        figures);
    return () => {
        enable();
        const manager = app.store.tick.managers?.find(one => one.node === index);
        refill(figures,
            facts([["State", NODE_STATES[node.state]], ["Kind", node.kind === "switch" ? `switch, level ${node.level}` : "host"],
                ["Tables", node.kind === "switch" && WAVE_STATES[node.wave]], ["GUID", node.guid],
                ["Manager", manager && `${manager.name}: ${manager.state}`],
                ["Switch", node.leaf >= 0 && app.nodeButton(node.leaf)], ["Hosts", node.hosts.length > 0 && count(node.hosts.length)]]),
            h("h3", {}, "Ports"),
            table("Ports of the node", ["port", "to", "state", "load"], node.links.map(link => portRow(app, node, fabric.links[link]))));
    };
}

function portRow(app: App, node: FabricNode, link: FabricLink): (HTMLElement | string)[] {
    const mine = link.a === node.index;
    const open = button(String(mine ? link.aPort : link.bPort), () => app.select({ kind: "link", index: link.index }),
        { class: "place", "data-key": `link ${link.index}`, title: "Select the link" });
    return [open, app.nodeButton(otherEnd(link, node.index)), linkState(app.store.fabric, link),
        `${link.load[mine ? 0 : 1]} % out, ${link.load[mine ? 1 : 0]} % in`];
}

function renderFabric(app: App, root: HTMLElement): () => void {
    const { fabric, info } = app.store;
    const figures = h("div"), traffic = h("div"), log = h("ul", { class: "list log", "aria-label": "Log" });
    const flows = h("div");
    fill(root, h("h2", {}, fabric.kind || "Fabric"), figures, app.store.can("traffic") && [h("h3", {}, "Traffic"), traffic, flows], h("h3", {}, "Log"), log);
    return () => {
        const { tick } = app.store;
        const down = fabric.links.filter(isDown).length, dead = fabric.nodes.filter(node => node.state === 1).length;
        refill(figures, facts([["Switches", count(fabric.switches)], ["Hosts", count(fabric.hosts)],
            ["Links", `${count(fabric.links.length)}${down ? `, ${count(down)} down` : ""}`], ["Nodes down", dead > 0 && count(dead)],
            ["SMPs sent", tick.smps !== undefined && count(tick.smps)],
            ["Seed", info.seed !== undefined && String(info.seed)], ["Trace hash", tick.hash && h("code", {}, tick.hash)],
            ["Run ended", tick.halted]]));
        refill(traffic, trafficFacts(app));
        refill(flows, (tick.flows ?? []).map(flow => h("div", { class: "actions" }, h("span", {}, flow.text),
            app.store.can("traffic") && button(flow.running ? "Stop" : "Start", () =>
                void app.run({ do: flow.running ? "stop-traffic" : "start-traffic", flow: flow.id }), { "data-key": `flow ${flow.id}` }))));
        refill(log, (tick.events ?? []).slice(-40).reverse().map(event => h("li", {},
            h("time", {}, moment(event.t)),
            h("span", { class: event.kind }, event.who && info.what !== "sm" ? `${event.who}: ` : "", event.text, event.node !== null && event.node !== undefined ? [" "] : [],
                event.node !== null && event.node !== undefined ? app.nodeButton(event.node) : null))));
    };
}

/** Counters of the data traffic, with losses by cause. */
export function trafficFacts(app: App): HTMLElement {
    const traffic = app.store.tick.traffic;
    if (!traffic) return h("p", { class: "quiet" }, "No traffic is counted here.");
    const causes = Object.entries(traffic.lost);
    return facts([
        ["Throughput", rate(traffic.throughput)],
        ["Latency", traffic.latency === null ? "–" : `${duration(traffic.latency)} mean${traffic.latency_max === null || traffic.latency_max === undefined ? "" : `, ${duration(traffic.latency_max)} most`}`],
        ["Packets", `${count(traffic.delivered)} of ${count(traffic.made)} delivered`],
        ["Under way", `${count(traffic.travelling)} travelling, ${count(traffic.waiting)} waiting`],
        ["No path", traffic.unroutable > 0 && count(traffic.unroutable)],
        ["Lost", causes.length ? h("span", { id: "lost" }, causes.map(([cause, packets]) => `${cause}: ${count(packets)}`).join(", ")) : h("span", { id: "lost" }, "none")],
    ]);
}
