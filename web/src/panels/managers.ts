// The subnet managers: which one is master, what each does, and the ways to stop it.
import type { App, Panel } from "../app";
import type { Manager } from "../contract";
import { button, facts, fill, h, refill } from "../dom";
import { count } from "../format";

const BADGES: Record<string, string> = { master: "accent", standby: "good", dead: "bad" };

/** The phase in words: "waves, 2 of 3, draining". */
export function phaseText(manager: Manager): string {
    const wave = manager.phase === "waves" && manager.waves > 0 ? `, ${manager.wave} of ${manager.waves}` : "";
    return `${manager.phase}${wave}${manager.draining ? ", draining" : ""}`;
}

export function managersPanel(app: App): Panel {
    const list = h("div", { id: "managers" });

    function card(manager: Manager): HTMLElement {
        const { id } = manager, running = manager.state !== "dead" && manager.state !== "stopped";
        const own = manager.engine !== undefined; // a manager knows of others what SMInfo has
        const key = (action: string) => ({ "data-key": `${action} ${id}` });
        return h("section", { class: `card ${manager.state}`, "aria-label": `Manager ${manager.name}` },
            h("header", {}, h("b", {}, manager.name), h("span", { class: `badge ${BADGES[manager.state] ?? ""}` }, manager.state)),
            facts([["Node", app.nodeButton(manager.node)], ["Priority", String(manager.priority)], ["Phase", running && phaseText(manager)],
                ["Engine", app.store.can("engine") && running ? engineSelect(manager) : manager.engine],
                ["Subnet", own && running && `${count(manager.nodes)} nodes${manager.settled || manager.state === "standby" ? "" : ", not settled"}`]]),
            h("div", { class: "actions" }, app.store.can("managers") && [
                button("Kill", () => void app.run({ do: "kill-manager", manager: id }, `${manager.name} is killed`), { class: "danger", disabled: !running, ...key("kill") }),
                button("Stop", () => void app.run({ do: "stop-manager", manager: id }, `${manager.name} is stopped`), { disabled: !running, ...key("stop") }),
                button("Start", () => void app.run({ do: "start-manager", manager: id }, `${manager.name} starts`), { disabled: running && manager.state !== "not active", ...key("start") })],
                own && app.store.can("reroute") && button("Reroute", () => void app.run({ do: "reroute", manager: id }, `${manager.name} computes all tables`), { disabled: manager.state !== "master", ...key("reroute") }),
                own && app.store.can("sweep") && button("Sweep", () => void app.run({ do: "sweep" }, `${manager.name} discovers the whole subnet`), { disabled: manager.state !== "master", ...key("sweep") }),
                own && app.store.can("handover") && button("Hand over", () => void app.run({ do: "handover" }, `${manager.name} hands over to a standby`), { disabled: manager.state !== "master", ...key("handover") })));
    }

    function engineSelect(manager: Manager): HTMLElement {
        const engines = [...new Set([manager.engine, ...app.store.info.engines ?? []])];
        const select = h("select", { "aria-label": `Routing engine of ${manager.name}`, "data-key": `engine ${manager.id}` },
            engines.map(engine => h("option", { value: engine, selected: engine === manager.engine }, engine)));
        select.addEventListener("change", () => {
            void app.run({ do: "engine", manager: manager.id, engine: select.value }, `${manager.name} routes with ${select.value}`);
            select.blur();
        });
        return select;
    }

    function update(): void {
        const managers = app.store.tick.managers ?? [];
        const prefixes = [...new Set(managers.flatMap(manager => manager.prefix ?? []))];
        if (prefixes.length > 1) { // One list for each subnet.
            refill(list, prefixes.map(prefix => h("section", { class: "subnet", "aria-label": `Subnet ${prefix}` },
                h("h3", {}, `Subnet ${prefix}`), managers.filter(manager => manager.prefix === prefix).map(card))));
            return;
        }
        refill(list, managers.length ? managers.map(card) : h("p", { class: "quiet" }, "No manager runs here."));
    }

    return {
        id: "managers", title: "Managers", managed: true, update,
        render(root) { fill(root, list); update(); },
    };
}
