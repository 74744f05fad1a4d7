// What the parts of the page share: the store, the map, the selection, the tab, and the way to act.
import { act, ApiError, token } from "./api";
import type { Action, ActionResult } from "./contract";
import { button, notify } from "./dom";
import { linkName } from "./fabric";
import { GraphView, type Selection } from "./graph/view";
import type { Delta, Store } from "./store";

export interface Panel {
    id: string;
    title: string;
    /** A capability of the server; without it the panel is not offered. */
    needs?: string;
    /** Shows what managers do: not offered by a server that knows none. */
    managed?: boolean;
    render(root: HTMLElement): void;
    /** Called for ticks while the panel is shown. */
    update?(delta: Delta): void;
    /** Called when another panel is shown. */
    leave?(): void;
    /** A number beside the title, if it is not 0. */
    badge?(): number;
}

export class App {
    selection: Selection = null;
    tab = "place";
    /** Takes the next node that is clicked, instead of the selection. */
    pick: ((node: number) => void) | null = null;
    onSelection: () => void = () => {};
    onTab: () => void = () => {};

    constructor(readonly store: Store, readonly view: GraphView) {}

    select(selection: Selection, look = false): void {
        if (selection?.kind === "node" && this.pick) {
            const pick = this.pick;
            this.pick = null;
            pick(selection.index);
            return;
        }
        this.selection = selection;
        this.view.select(selection);
        if (look) this.view.focus(selection);
        this.onSelection();
    }

    show(tab: string): void {
        this.tab = tab;
        this.onTab();
    }

    /** Sends an action; says what the server refused. */
    async run(action: Action, done?: string): Promise<ActionResult | null> {
        if (this.store.past) await this.store.showPresent();
        try {
            const result = await act(action);
            if (done) notify(done);
            return result;
        } catch (error) {
            this.report(error);
            return null;
        }
    }

    report(error: unknown): void {
        if (!(error instanceof ApiError)) console.error(error);
        if (error instanceof ApiError && error.status === 401)
            notify(token() ? "The server does not accept the token of this page. Open the address that weft printed at its start."
                : "To change anything, open the address that weft printed at its start: it contains the token.", "error");
        else notify(error instanceof Error ? error.message : String(error), "error");
    }

    /** A button that selects a node and shows where it is. */
    nodeButton(index: number | null | undefined): HTMLElement | string {
        const node = index === null || index === undefined ? undefined : this.store.fabric.nodes[index];
        if (!node) return "–";
        return button(node.name, () => this.select({ kind: "node", index: node.index }, true),
            { class: "place", "data-key": `node ${node.index}`, title: "Show on the map" });
    }

    linkButton(index: number, direction?: number): HTMLElement | string {
        const link = this.store.fabric.links[index];
        if (!link) return "–";
        return button(linkName(this.store.fabric, link, direction), () => this.select({ kind: "link", index }, true),
            { class: "place", "data-key": `link ${index} ${direction ?? ""}`, title: "Show on the map" });
    }
}
