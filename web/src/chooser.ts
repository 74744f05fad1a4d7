// A field in which one types a part of a node's name and chooses among the first matches.
import type { App } from "./app";
import { button, h } from "./dom";
import type { Fabric, FabricNode } from "./fabric";

const SHOWN = 10;

export function matches(fabric: Fabric, text: string, accept: (node: FabricNode) => boolean): FabricNode[] {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const first: FabricNode[] = [], rest: FabricNode[] = [];
    for (const node of fabric.nodes) {
        if (!accept(node)) continue;
        const name = node.name.toLowerCase();
        if (name === wanted) first.unshift(node);
        else if (name.startsWith(wanted)) first.push(node);
        else if (rest.length < SHOWN && (name.includes(wanted) || node.guid.toLowerCase().includes(wanted))) rest.push(node);
    }
    return [...first, ...rest].slice(0, SHOWN);
}

/** Connects an input with a list of suggestions: arrow keys move, Enter chooses, Escape closes. */
export function suggest(input: HTMLInputElement, list: HTMLElement, fabric: () => Fabric,
                        accept: (node: FabricNode) => boolean, choose: (node: FabricNode) => void): void {
    let found: FabricNode[] = [], at = 0;
    const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
    const take = (node: FabricNode | undefined) => { if (!node) return; close(); choose(node); };
    const draw = () => {
        list.hidden = found.length === 0;
        input.setAttribute("aria-expanded", String(!list.hidden));
        list.replaceChildren(...found.map((node, index) => h("li", {
            role: "option", id: `${list.id}-${index}`, "aria-selected": String(index === at),
            onpointerdown: event => { event.preventDefault(); take(node); },
        }, node.name, " ", h("span", { class: "quiet" }, node.kind))));
        if (list.hidden) input.removeAttribute("aria-activedescendant");
        else input.setAttribute("aria-activedescendant", `${list.id}-${at}`);
    };
    input.addEventListener("input", () => { found = matches(fabric(), input.value, accept); at = 0; draw(); });
    input.addEventListener("blur", close);
    input.addEventListener("keydown", event => {
        if (event.key === "Escape") { close(); input.blur(); return; }
        if (event.key === "Enter") { event.preventDefault(); take(found[at]); return; }
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (!step || !found.length) return;
        event.preventDefault();
        at = (at + step + found.length) % found.length;
        draw();
    });
}

/** A row in which one types the name of a host, or takes the next node that is clicked on the map. */
export function hostField(app: App, id: string, label: string, choose: (node: number) => void): { row: HTMLElement; input: HTMLInputElement } {
    const list = h("ul", { class: "suggest", role: "listbox", id: `${id}-list`, hidden: true, "aria-label": `Hosts for '${label}'` });
    const input = h("input", { type: "search", id, autocomplete: "off", spellcheck: "false", role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, placeholder: "name of a host" });
    suggest(input, list, () => app.store.fabric, node => node.kind === "host", node => choose(node.index));
    const pick = button("Pick", () => { app.pick = choose; }, { title: "The next host that you click on the map", "data-key": `pick ${id}` });
    return { input, row: h("div", { class: "choose" }, h("label", { for: id }, label), input, pick, list) };
}
