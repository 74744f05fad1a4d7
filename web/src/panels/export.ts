// What one takes along: a link to this view, a picture, the packets, and the scenario that repeats the run.
import type { App, Panel } from "../app";
import { exportFile } from "../api";
import { button, download, facts, fill, h, notify } from "../dom";
import { picturePng, pictureSvg } from "../graph/picture";

export function exportPanel(app: App, address: () => string): Panel {
    const field = h("input", { id: "view-link", readonly: true, "aria-label": "Link to this view" });
    const figures = h("div");

    async function copy(): Promise<void> {
        field.value = address();
        field.select();
        try {
            await navigator.clipboard.writeText(field.value);
            notify("The link is copied. It does not contain the token.");
        } catch {
            notify("Copy the link from the field.");
        }
    }

    async function png(): Promise<void> {
        try {
            download("fabric.png", await picturePng(app.view));
        } catch (error) {
            app.report(error);
        }
    }

    async function save(name: string, target: string): Promise<void> {
        try {
            download(target, await exportFile(name));
        } catch (error) {
            app.report(error);
        }
    }

    function file(name: string, title: string, target: string): HTMLElement {
        return button(title, () => void save(name, target), { "data-export": name });
    }

    function update(): void {
        fill(figures, facts([["Seed", app.store.info.seed !== undefined && String(app.store.info.seed)],
            ["Trace hash", app.store.tick.hash && h("code", { id: "hash" }, app.store.tick.hash)]]));
    }

    return {
        id: "export", title: "Export", update,
        render(root) {
            field.value = address();
            fill(root,
                h("h3", {}, "This view"), h("div", { class: "actions" }, field, button("Copy link", () => void copy())),
                h("h3", {}, "Picture"), h("div", { class: "actions" },
                    button("SVG", () => download("fabric.svg", pictureSvg(app.view), "image/svg+xml"), { id: "export-svg" }),
                    button("PNG", () => void png(), { id: "export-png" })),
                h("h3", {}, "Run"), figures,
                h("ul", { class: "list" },
                    app.store.can("scenario") && h("li", {}, file("scenario", "Scenario", "live.weft"), h("div", { class: "quiet" }, "Everything done by hand here; “weft sim live.weft” repeats it with the same hash.")),
                    app.store.can("pcap") && h("li", {}, file("pcap", "Packets", "live.pcapng"), h("div", { class: "quiet" }, "All MADs, for Wireshark.")),
                    h("li", {}, file("state", "State", "state.json"), h("div", { class: "quiet" }, "The present state as JSON.")),
                    h("li", {}, file("topology", "Topology", "fabric.topo"), h("div", { class: "quiet" }, "In the format of ibnetdiscover."))));
            update();
        },
    };
}
