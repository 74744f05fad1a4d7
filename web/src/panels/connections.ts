// Connections between hosts: their state and figures, and a new one between two hosts that are typed or clicked.
import type { App, Panel } from "../app";
import { get } from "../api";
import { hostField } from "../chooser";
import type { Connection } from "../contract";
import { button, facts, fill, h, notify, refill } from "../dom";
import { count, instant, plural, rate } from "../format";

const BADGES: Record<string, string> = { established: "good", broken: "bad", refused: "bad" };
const INTERVAL = 500; /* ms between two readings while time runs */

export function connectionsPanel(app: App): Panel {
    const list = h("div", { id: "connections" });
    const chosen = { node: -1, peer: -1 };
    const fields = {
        node: hostField(app, "connect-from", "From", node => set("node", node)),
        peer: hostField(app, "connect-to", "To", node => set("peer", node)),
    };
    const pace = h("input", { id: "connect-pace", placeholder: "every 10us", "aria-label": "Pace of the messages",
        title: "every TIME, load SHARE of the first host's link, or rate BYTES per second; by default every 10 µs", size: "14" });
    let shown = false, timer = 0, asked = 0;

    function set(end: "node" | "peer", node: number): void {
        const { name, kind } = app.store.fabric.nodes[node];
        if (kind !== "host") { notify(`${name} is a switch; choose a host.`, "error"); return; }
        chosen[end] = node;
        fields[end].input.value = name;
        mark();
    }

    function mark(): void {
        app.view.mark("connection", [], Object.values(chosen).filter(node => node >= 0)
            .map(node => ({ node, colour: "accent", label: app.store.fabric.nodes[node].name })));
    }

    async function read(): Promise<void> {
        const request = ++asked;
        try {
            const { total, connections } = await get<{ total: number; connections: Connection[] }>("/connections");
            if (shown && request === asked) draw(total, connections);
        } catch (error) {
            app.report(error);
        }
    }

    /** The newest is the first. */
    function draw(total: number, connections: Connection[]): void {
        refill(list, total === 0 ? h("p", { class: "quiet" }, "There is no connection.") : h("p", { id: "connections-total" },
            `${plural(total, "connection")}${total > connections.length ? `, the last ${connections.length} of which are:` : ""}`),
        connections.reverse().map(one => h("section", { class: "card", "data-connection": one.number, "aria-label": `Connection ${one.number}` },
            h("header", {}, h("span", {}, app.nodeButton(one.node), " → ", app.nodeButton(one.peer)),
                h("span", { class: `badge ${BADGES[one.state] ?? ""}` }, one.state)),
            facts([["Service", `${one.service.toUpperCase()} ${one.operation}`], ["Reason", one.reason], ["Messages", count(one.messages)], ["Rate", rate(one.goodput)],
                ["Retries", count(one.retries)], ["Outage", instant(Math.round(one.outage * 1e12))]]))));
    }

    async function connect(): Promise<void> {
        const { node, peer } = chosen;
        if (node < 0 || peer < 0) { notify("Choose two hosts first.", "error"); return; }
        const { nodes } = app.store.fabric;
        const words = pace.value.trim();
        if (await app.run({ do: "connect", node, peer, ...words ? { pace: words } : {} }, `${nodes[node].name} is connected to ${nodes[peer].name}`)) await read();
    }

    return {
        id: "connections", title: "Connections", needs: "connections",
        render(root) {
            shown = true;
            fill(root, fields.node.row, fields.peer.row, h("div", { class: "actions" }, pace,
                button("Connect", () => void connect(), { class: "main", title: "The first host writes messages of 4,096 bytes to the second" })), list);
            mark();
            void read();
        },
        update() {
            timer ||= window.setTimeout(() => { timer = 0; if (shown) void read(); }, INTERVAL);
        },
        leave() { shown = false; app.pick = null; app.view.mark("connection"); },
    };
}
