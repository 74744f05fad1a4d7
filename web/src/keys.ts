// Every action by keyboard, and the page that lists the keys.
import type { App } from "./app";
import { button, byId, fill, h } from "./dom";
import { otherEnd } from "./fabric";
import type { Transport } from "./transport";

interface Key { keys: string[]; text: string; run: (event: KeyboardEvent) => void }

/** The next link of the selected node, or the node at the other end of the selected link. */
class Walk {
    private from = -1;
    private at = 0;

    constructor(private readonly app: App) {}

    nextLink(step: number): void {
        const { selection, store } = this.app;
        if (selection?.kind === "node") { this.from = selection.index; this.at = step > 0 ? -1 : 0; }
        const links = store.fabric.nodes[this.from]?.links ?? [];
        if (!links.length) return;
        this.at = (this.at + step + links.length) % links.length;
        this.app.select({ kind: "link", index: links[this.at] });
    }

    follow(): void {
        const { selection, store } = this.app;
        if (selection?.kind !== "link") return;
        const link = store.fabric.links[selection.index];
        this.app.select({ kind: "node", index: otherEnd(link, this.from >= 0 ? this.from : link.a) }, true);
    }
}

export function bindKeys(app: App, transport: Transport, theme: () => void, tabs: () => string[]): void {
    const walk = new Walk(app);
    const colouring = byId<HTMLSelectElement>("colouring");
    const nextColouring = () => {
        colouring.selectedIndex = (colouring.selectedIndex + 1) % colouring.options.length;
        colouring.dispatchEvent(new Event("change"));
    };
    const arrangement = byId<HTMLSelectElement>("arrangement");
    const nextArrangement = () => {
        if (byId("arrange").hidden) return;
        arrangement.selectedIndex = 1 - arrangement.selectedIndex;
        arrangement.dispatchEvent(new Event("change"));
    };
    const pressed = (id: string) => () => document.querySelector<HTMLElement>(id)?.click();
    const keys: Key[] = [
        { keys: [" "], text: "Pause or run", run: () => transport.toggle() },
        { keys: ["."], text: "Step", run: () => transport.step() },
        { keys: ["n"], text: "Run to the next event", run: () => transport.next() },
        { keys: ["<", ">"], text: "Slower, faster", run: event => transport.faster(event.key === "<" ? -0.3 : 0.3) },
        { keys: [",", ";"], text: "Sample before, after (the past)", run: event => void transport.stepPast(event.key === "," ? -1 : 1) },
        { keys: ["End"], text: "Back to the present", run: () => void transport.toPresent() },
        { keys: ["/"], text: "Find a node", run: () => byId("find").focus() },
        { keys: ["[", "]"], text: "Previous, next link of the selected node", run: event => walk.nextLink(event.key === "[" ? -1 : 1) },
        { keys: ["o"], text: "To the other end of the selected link", run: () => walk.follow() },
        { keys: ["x"], text: "Cut the selected link, or kill the selected node", run: () => { app.show("place"); pressed("#panel button.danger")(); } },
        { keys: ["r"], text: "Restore the selected link or node", run: () => { app.show("place"); pressed('#panel button[data-key="Restore"]')(); } },
        { keys: ["c"], text: "Next colouring of the links", run: nextColouring },
        { keys: ["a"], text: "Place by structure or by rooms", run: nextArrangement },
        { keys: ["+", "-"], text: "Zoom", run: event => app.view.zoom(event.key === "+" ? 0.7 : 1.4) },
        { keys: ["0"], text: "Whole fabric", run: () => app.view.fit() },
        { keys: ["1–9"], text: "Tab of that number", run: () => {} },
        { keys: ["d"], text: "Light or dark", run: theme },
        { keys: ["Escape"], text: "Select nothing", run: () => { app.pick = null; app.select(null); } },
        { keys: ["?"], text: "This help", run: () => openHelp(keys) },
    ];
    byId("help-open").addEventListener("click", () => openHelp(keys));
    document.addEventListener("keydown", event => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("help").open) return;
        if (target.matches("input, select, textarea") && event.key !== "Escape") return;
        if (event.key === " " && target.matches("button, a")) return;
        if (target.id === "graph" && pan(app, event)) return;
        if (/^[1-9]$/.test(event.key)) { const tab = tabs()[Number(event.key) - 1]; if (tab) app.show(tab); return; }
        const key = keys.find(one => one.keys.includes(event.key) || (event.key === "=" && one.keys.includes("+")));
        if (!key) return;
        event.preventDefault();
        key.run(event);
    });
}

function pan(app: App, event: KeyboardEvent): boolean {
    const steps: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (!step) return false;
    event.preventDefault();
    app.view.pan(step[0], step[1]);
    return true;
}

function openHelp(keys: Key[]): void {
    const dialog = byId<HTMLDialogElement>("help");
    fill(dialog, h("h2", { id: "help-title" }, "What one can do here"),
        h("p", {}, "Click a link to cut, restore or disturb it; click a switch to kill it or mute its agent. Switches change colour while their tables are written. Zoom in to see hosts."),
        h("p", {}, "Click a plot, or move the slider below the map, to see the past. Arrow keys move the map while it has the focus."),
        h("dl", { class: "facts" }, keys.flatMap(key => [
            h("dt", {}, key.keys.flatMap((name, at) => [at ? " " : "", h("kbd", {}, name === " " ? "Space" : name)])), h("dd", {}, key.text)])),
        h("div", { class: "actions" }, button("Close", () => dialog.close(), { class: "main" })));
    dialog.showModal();
}
