// Two versions of the forwarding tables side by side: which entries moved, and which links gained or lost
// destinations.
import type { App, Panel } from "../app";
import { get } from "../api";
import type { TableDifference, TableVersion } from "../contract";
import { button, facts, fill, h, swatch, table } from "../dom";
import { count, moment } from "../format";
import type { Mark } from "../graph/view";

const MARKED = 400;

export function tablesPanel(app: App): Panel {
    const before = h("select", { id: "tables-a", "aria-label": "Earlier version" });
    const after = h("select", { id: "tables-b", "aria-label": "Later version" });
    const result = h("div", { id: "tables" });

    async function read(): Promise<void> {
        try {
            const { versions } = await get<{ versions: TableVersion[] }>("/tables/versions");
            const option = (version: TableVersion) => h("option", { value: version.id },
                `${moment(version.t)} ${version.engine}, ${count(version.changed)} changed: ${version.cause}`);
            fill(before, versions.map(option));
            fill(after, versions.map(option));
            if (versions.length > 1) before.value = String(versions[versions.length - 2].id);
            if (versions.length) after.value = String(versions[versions.length - 1].id);
            if (versions.length > 1) await compare();
            else fill(result, h("p", { class: "quiet" }, "There is one version only: cut a link, and compare then."));
        } catch (error) {
            app.report(error);
        }
    }

    async function compare(): Promise<void> {
        try {
            show(await get<TableDifference>("/tables/compare", { a: Number(before.value), b: Number(after.value) }));
        } catch (error) {
            app.report(error);
        }
    }

    function show(difference: TableDifference): void {
        const moved = [...difference.links].sort((one, other) => Math.abs(other[3] - other[2]) - Math.abs(one[3] - one[2]));
        app.view.mark("tables", moved.slice(0, MARKED).map(([link, direction, was, is]): Mark => {
            const { a, b } = app.store.fabric.links[link];
            return { link, from: direction === 0 ? a : b, colour: is > was ? "good" : "warn", width: 2.5, beside: true };
        }));
        fill(result,
            facts([["Entries moved", h("b", { id: "tables-entries" }, count(difference.entries))],
                ["Switches", count(difference.switches.length)],
                [[swatch("good"), " Directions with more"], count(moved.filter(link => link[3] > link[2]).length)],
                [[swatch("warn"), " Directions with fewer"], count(moved.filter(link => link[3] < link[2]).length)]]),
            h("h3", {}, "Switches"),
            table("Switches by moved entries", ["switch", "entries"], [...difference.switches].sort((one, other) => other[1] - one[1])
                .slice(0, 30).map(([node, entries]) => [app.nodeButton(node), count(entries)])),
            h("h3", {}, "Links"),
            h("p", { class: "quiet" }, "LIDs that packets leave for by this port, each direction of a link for itself:"),
            table("Directions of links by destinations", ["from → to", "before", "after"], moved.slice(0, 30).map(([link, direction, was, is]) =>
                [app.linkButton(link, direction), count(was), count(is)])));
    }

    before.addEventListener("change", () => void compare());
    after.addEventListener("change", () => void compare());
    return {
        id: "tables", title: "Tables", needs: "tables",
        render(root) {
            fill(root, h("p", {}, "What moved between two versions of the forwarding tables:"),
                h("div", { class: "actions" }, before, after, button("Read again", () => void read())), result);
            void read();
        },
        leave() { app.view.mark("tables"); },
    };
}
