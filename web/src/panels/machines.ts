// Virtual machines: start, move and stop them. A machine is moved by dragging its name onto a hypervisor on
// the map, or with the list of hypervisors beside it.
import type { App, Panel } from "../app";
import type { Machine } from "../contract";
import { button, byId, facts, fill, h, refill } from "../dom";
import { count, duration } from "../format";

export function machinesPanel(app: App): Panel {
    const list = h("div", { id: "machines" });
    const name = h("input", { id: "machine-name", placeholder: "name", "aria-label": "Name of the machine", size: "10" });
    let dragging = false;
    const where = h("select", { id: "machine-node", "aria-label": "Hypervisor" });

    function hypervisors(chosen: number | null): HTMLElement[] {
        return (app.store.tick.hypervisors ?? []).slice(0, 500).map(node =>
            h("option", { value: node, selected: node === chosen }, app.store.fabric.nodes[node].name));
    }

    function move(machine: Machine, node: number): void {
        void app.run({ do: "vm-move", name: machine.name, node }, `${machine.name} moves to ${app.store.fabric.nodes[node].name}`);
    }

    /** The name follows the pointer, also that of a finger, until it is released above a hypervisor on the map. */
    function drag(start: PointerEvent, chip: HTMLElement, machine: Machine): void {
        start.preventDefault();
        chip.setPointerCapture(start.pointerId);
        dragging = true;
        chip.onpointermove = event => { chip.style.translate = `${event.clientX - start.clientX}px ${event.clientY - start.clientY}px`; };
        chip.onpointercancel = () => { dragging = false; chip.style.translate = ""; };
        chip.onpointerup = event => {
            dragging = false;
            chip.onpointermove = null;
            chip.style.translate = "";
            const box = byId("graph").getBoundingClientRect(), hypervisors = new Set(app.store.tick.hypervisors ?? []);
            const node = app.view.nodeNear(event.clientX - box.left, event.clientY - box.top, index => hypervisors.has(index));
            if (node >= 0) move(machine, node);
            update();
        };
    }

    function card(machine: Machine): HTMLElement {
        const target = h("select", { "aria-label": `Move ${machine.name} to`, "data-key": `target ${machine.name}` },
            h("option", { value: "" }, "Move to …"), hypervisors(null));
        target.addEventListener("change", () => { const node = Number(target.value); target.blur(); if (target.value) move(machine, node); });
        const chip = h("span", { class: "chip", title: "Drag onto a hypervisor" }, machine.name);
        chip.addEventListener("pointerdown", event => drag(event, chip, machine));
        return h("section", { class: "card", "data-machine": machine.name },
            h("header", {}, chip, h("span", { class: `badge ${machine.state === "running" ? "good" : ""}` }, machine.state)),
            facts([["Hypervisor", machine.node !== null && app.nodeButton(machine.node)], ["Waits", machine.pending], ["LID", machine.lid > 0 && String(machine.lid)],
                ["Moves", machine.moves !== undefined && count(machine.moves)], ["SMPs", machine.smps !== undefined && `${count(machine.smps)} for the last start or move`],
                ["Downtime", machine.downtime !== null && machine.downtime !== undefined && duration(machine.downtime)]]),
            h("div", { class: "actions" }, target,
                button("Stop", () => void app.run({ do: "vm-stop", name: machine.name }, `${machine.name} stops`), { "data-key": `stop ${machine.name}`, disabled: machine.state !== "running" })));
    }

    function update(): void {
        if (dragging) return;
        const machines = app.store.tick.vms ?? [];
        refill(list, machines.length ? machines.map(card) : h("p", { class: "quiet" }, "No virtual machine runs."));
    }

    return {
        id: "machines", title: "VMs", needs: "vms", update,
        render(root) {
            fill(where, h("option", { value: "" }, "any hypervisor"), hypervisors(null));
            fill(root, h("div", { class: "actions" }, name, where, button("Start", () => {
                const node = where.value === "" ? undefined : Number(where.value);
                void app.run({ do: "vm-start", name: name.value.trim(), node }, `${name.value.trim()} starts`);
            }, { class: "main" })), list);
            update();
        },
    };
}
