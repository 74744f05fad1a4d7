// Start of the page: makes the parts, and connects the store with them.
import "./style.css";
import { formatAddress, parseAddress, type ViewAddress } from "./address";
import { keepToken } from "./api";
import { App, type Panel } from "./app";
import { suggest } from "./chooser";
import { byId, button, fill, h, notify, swatch } from "./dom";
import { count, duration, moment, setBegin } from "./format";
import { linkLegend, nodeLegend, TITLES, type Colouring } from "./graph/colour";
import { GraphView, type Selection } from "./graph/view";
import type { Arrangement } from "./graph/placement";
import { bindKeys } from "./keys";
import { changePanel } from "./panels/change";
import { connectionsPanel } from "./panels/connections";
import { exportPanel } from "./panels/export";
import { machinesPanel } from "./panels/machines";
import { managersPanel } from "./panels/managers";
import { groupsPanel, partitionsPanel } from "./panels/partitions";
import { pathPanel, type PathPanel } from "./panels/path";
import { placePanel } from "./panels/place";
import { cablingPanel, problemsPanel } from "./panels/problems";
import { tablesPanel } from "./panels/tables";
import { whatifPanel } from "./panels/whatif";
import { Plots } from "./plots";
import { Store, type Delta } from "./store";
import { Transport } from "./transport";
import { Work } from "./work";

/** The tabs, in the order of Page.panels. */
const GROUPS: [string, string[]][] = [["State", ["place", "change", "managers", "problems"]], ["Routes", ["path", "tables", "whatif", "connections"]],
    ["Members", ["machines", "partitions", "groups"]], ["Files", ["cabling", "export"]]];

const PANEL_INTERVAL = 200; /* ms between two drawings of a panel or the legend */

class Page {
    private readonly store = new Store();
    private readonly view = new GraphView(byId("graph"));
    private readonly app = new App(this.store, this.view);
    private readonly transport = new Transport(this.app);
    private readonly work = new Work(this.app);
    private readonly plots = new Plots(this.app, t => void this.transport.show(t));
    private readonly path: PathPanel = pathPanel(this.app);
    private readonly panels: Panel[] = [
        placePanel(this.app, (node, end) => this.path.set(end, node)), changePanel(this.app), managersPanel(this.app),
        problemsPanel(this.app), this.path, tablesPanel(this.app), whatifPanel(this.app), connectionsPanel(this.app), machinesPanel(this.app),
        partitionsPanel(this.app, () => this.app.show("path")), groupsPanel(this.app), cablingPanel(this.app),
        exportPanel(this.app, () => `${location.origin}/${this.address()}`),
    ];
    private shown: Panel | null = null;
    private pending: Delta | null = null;
    private addressTimer = 0;
    private wanted: ViewAddress = parseAddress(location.hash);

    async start(): Promise<void> {
        performance.mark("weft-start");
        if (this.wanted.token) {
            keepToken(this.wanted.token);
            history.replaceState(null, "", formatAddress(this.wanted));
        }
        setTheme(storedTheme());
        this.view.themeChanged();
        this.connect();
        try {
            await this.store.load();
        } catch (error) {
            byId("connection").textContent = "no server";
            this.app.report(error);
            return;
        }
        await this.restore(this.wanted);
        document.documentElement.dataset.ready = "yes";
        performance.mark("weft-ready");
    }

    private connect(): void {
        this.store.onTopology = () => this.topologyChanged();
        this.store.onConnection = () => this.showConnection();
        this.store.observe(delta => this.changed(delta));
        this.view.onSelect = selection => this.app.select(selection);
        this.view.onView = () => this.saveAddress();
        this.view.onFigures = () => this.drawLegend();
        this.app.onSelection = () => this.selectionChanged();
        this.app.onTab = () => this.showTab();
        const colouring = byId<HTMLSelectElement>("colouring");
        colouring.addEventListener("change", () => this.setColouring(colouring.value as Colouring));
        const arrangement = byId<HTMLSelectElement>("arrangement");
        arrangement.addEventListener("change", () => { this.view.arrange(arrangement.value as Arrangement); this.saveAddress(); });
        byId("zoom-in").addEventListener("click", () => this.view.zoom(0.6));
        byId("zoom-out").addEventListener("click", () => this.view.zoom(1.6));
        byId("zoom-fit").addEventListener("click", () => this.view.fit());
        byId("theme").addEventListener("click", () => this.toggleTheme());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setTheme(storedTheme()); this.themeChanged(); });
        const find = byId<HTMLInputElement>("find");
        suggest(find, byId("found"), () => this.store.fabric, () => true, node => {
            find.value = "";
            find.blur();
            this.app.select({ kind: "node", index: node.index }, true);
        });
        bindKeys(this.app, this.transport, () => this.toggleTheme(), () => this.offered().map(panel => panel.id));
        new ResizeObserver(() => this.plots.resize()).observe(byId("timeline"));
    }

    private offered(): Panel[] {
        return this.panels.filter(panel => (!panel.needs || this.store.can(panel.needs)) && !(panel.managed && this.store.info.what === "fabric"));
    }

    private topologyChanged(): void {
        performance.mark("weft-topology");
        const { info, fabric } = this.store;
        setBegin(info.begin);
        const name = (info.name.split("/").pop() || info.name).replace(/^weft /, "");
        document.title = `weft: ${name}`;
        fill(byId("fabric-name"), name);
        fill(byId("counts"), `${count(fabric.switches)} switches, ${count(fabric.hosts)} hosts, ${count(fabric.links.length)} links`);
        byId("arrange").hidden = fabric.rooms.length === 0 || fabric.layout === "rooms";
        this.transport.build();
        this.drawTabs();
        this.view.setFabric(fabric, this.view.fabric !== undefined && this.view.fabric.nodes.length === fabric.nodes.length);
        this.plots.build(byId("timeline").querySelector<HTMLElement>(".plots"));
        this.showTab();
    }

    private showConnection(): void {
        const badge = byId("connection");
        badge.textContent = this.store.connected ? "connected" : "disconnected";
        badge.className = `badge ${this.store.connected ? "good" : "bad"}`;
    }

    /** Draws what a tick changed: the map at once, panels and legend at most every PANEL_INTERVAL. */
    private changed(delta: Delta): void {
        const measured = this.view.colouring === "load" || this.view.colouring === "wait" || this.view.colouring === "vl";
        if (delta.members.has("managers")) this.view.setMasters(this.store.masters());
        else if (delta.nodes.size || delta.links.size || (delta.figures && measured)) this.view.repaint();
        if (delta.members.has("deadlock")) this.showDeadlock();
        this.transport.update();
        this.work.update();
        this.plots.update(delta.members.has("seq") && this.store.past);
        if (this.pending) {
            for (const member of delta.members) this.pending.members.add(member);
            return;
        }
        this.pending = { ...delta, members: new Set(delta.members) };
        setTimeout(() => this.drawPanels(), PANEL_INTERVAL);
    }

    private drawPanels(): void {
        const delta = this.pending;
        this.pending = null;
        if (!delta) return;
        this.shown?.update?.(delta);
        this.drawLegend();
        this.drawBadges();
    }

    private showDeadlock(): void {
        const { deadlock } = this.store.tick;
        const alarm = byId("alarm");
        this.view.mark("deadlock", deadlock?.hops.map(hop => ({ link: hop.link, from: hop.node, colour: "bad", width: 5, label: `VL ${hop.vl}` })) ?? []);
        if (!deadlock) { alarm.hidden = true; return; }
        fill(alarm, h("span", {}, `Deadlock at ${moment(deadlock.t)}: ${deadlock.hops.length} buffers wait for each other`),
            button("Show", () => this.app.select({ kind: "link", index: deadlock.hops[0].link }, true)));
        alarm.hidden = false;
    }

    private setColouring(colouring: Colouring): void {
        byId<HTMLSelectElement>("colouring").value = colouring;
        this.view.setColouring(colouring);
        this.drawLegend();
        this.saveAddress();
    }

    private drawLegend(): void {
        const { colouring, figures } = this.view;
        const rows = linkLegend(this.store.fabric, colouring, figures).map(row => h("span", { class: "row", "data-step": row.label },
            swatch(row.colour), `${row.label} `, h("span", { class: "quiet number" }, count(row.count))));
        const nodes = this.view.isPainted() ? [] : nodeLegend(this.store.fabric, this.store.masters());
        const { window: ns } = this.store.tick, measured = colouring !== "load" || ns === undefined ? "" : ns > 0 ? `, mean of ${duration(ns)}` : ", too few packets yet";
        fill(byId("legend"), h("div", {}, h("span", { class: "title" }, figures ? "Paths, of the most on a link" : TITLES[colouring] + measured), rows),
            h("div", {}, nodes.map(({ label, colour }) => h("span", { class: "row" }, swatch(colour, true), label)),
                this.view.hasFoldedHosts() && h("span", { class: "row quiet" }, "name · 4: a switch with 4 hosts")));
    }

    // Tabs.

    private drawTabs(): void {
        const offered = this.offered();
        const tab = (panel: Panel, at: number) => h("button", {
            type: "button", role: "tab", id: `tab-${panel.id}`, "aria-controls": "panel", title: at < 9 ? `${panel.title} (${at + 1})` : panel.title,
            onclick: () => this.app.show(panel.id),
        }, panel.title, h("span", { class: "count" }));
        fill(byId("tabs"), GROUPS.map(([name, ids]) => {
            const tabs = offered.flatMap((panel, at) => ids.includes(panel.id) ? [tab(panel, at)] : []);
            return tabs.length > 0 && h("div", { class: "group", role: "presentation" }, h("span", { class: "quiet", "aria-hidden": "true" }, name), tabs);
        }));
        byId("tabs").onkeydown = event => {
            const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            if (!step) return;
            const ids = this.offered().map(panel => panel.id);
            this.app.show(ids[(ids.indexOf(this.app.tab) + step + ids.length) % ids.length]);
            byId(`tab-${this.app.tab}`).focus();
        };
    }

    private drawBadges(): void {
        for (const panel of this.offered()) {
            const badge = document.querySelector(`#tab-${panel.id} .count`);
            const number = panel.badge?.() ?? 0;
            if (badge) badge.textContent = number > 0 ? String(number) : "";
        }
    }

    private showTab(): void {
        const panel = this.offered().find(one => one.id === this.app.tab) ?? this.panels[0];
        if (this.shown && this.shown !== panel) this.shown.leave?.();
        this.shown = panel;
        for (const tab of byId("tabs").querySelectorAll("button")) {
            const chosen = tab.id === `tab-${panel.id}`;
            tab.setAttribute("aria-selected", String(chosen));
            tab.setAttribute("tabindex", chosen ? "0" : "-1");
        }
        const place = byId("panel");
        place.setAttribute("aria-labelledby", `tab-${panel.id}`);
        place.scrollTop = 0;
        panel.render(place);
        this.saveAddress();
    }

    private selectionChanged(): void {
        const stays = ["groups", "connections", "tables", "cabling", "problems", "machines", "export"];
        if (this.app.selection && !stays.includes(this.app.tab)) this.app.show("place");
        else if (this.app.tab === "place") this.showTab();
        this.saveAddress();
    }

    // The address of this view.

    private address(): string {
        const { x, y, ratio } = this.view.camera.getState();
        const { selection } = this.app, ends = this.path.ends();
        return formatAddress({
            tab: this.app.tab, colour: this.view.colouring, place: this.view.arrangement === "rooms" ? "rooms" : undefined,
            select: selection ? `${selection.kind === "node" ? "n" : "l"}${selection.index}` : undefined,
            camera: Math.abs(ratio - 1) + Math.abs(x - 0.5) + Math.abs(y - 0.5) > 1e-3 ? [x, y, ratio] : undefined,
            t: this.store.past ? this.store.tick.t : undefined,
            path: ends.from >= 0 && ends.to >= 0 ? [ends.from, ends.to] : undefined,
        });
    }

    private saveAddress(): void {
        clearTimeout(this.addressTimer);
        this.addressTimer = window.setTimeout(() => {
            if (document.documentElement.dataset.ready) history.replaceState(null, "", this.address());
        }, 300);
    }

    private async restore(view: ViewAddress): Promise<void> {
        const { fabric } = this.store;
        if (view.colour && view.colour in TITLES) this.setColouring(view.colour as Colouring);
        else this.drawLegend();
        if (view.place === "rooms" && fabric.rooms.length) {
            byId<HTMLSelectElement>("arrangement").value = "rooms";
            this.view.arrange("rooms");
        }
        if (view.camera) this.view.camera.setState({ x: view.camera[0], y: view.camera[1], ratio: view.camera[2] });
        if (view.select) {
            const selection: Selection = { kind: view.select[0] === "n" ? "node" : "link", index: Number(view.select.slice(1)) };
            if ((selection.kind === "node" ? fabric.nodes : fabric.links)[selection.index]) this.app.select(selection);
        }
        if (view.path && view.path.every(node => fabric.nodes[node]?.kind === "host")) {
            this.path.set("from", view.path[0]);
            this.path.set("to", view.path[1]);
        }
        if (view.tab) this.app.show(view.tab);
        if (view.t !== undefined && this.store.can("history")) await this.transport.show(view.t);
    }

    private toggleTheme(): void {
        const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
        try { localStorage.setItem("weft-theme", theme); } catch { /* not kept */ }
        setTheme(theme);
        this.themeChanged();
    }

    private themeChanged(): void {
        this.view.themeChanged();
        this.plots.build(byId("timeline").querySelector<HTMLElement>(".plots"));
    }

    /** For the tests: the parts of the page. */
    parts() {
        return { store: this.store, view: this.view, app: this.app, hasDrawn: () => this.pending === null };
    }
}

function storedTheme(): string {
    let theme: string | null = null;
    try { theme = localStorage.getItem("weft-theme"); } catch { /* not kept */ }
    return theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function setTheme(theme: string): void {
    document.documentElement.dataset.theme = theme;
}

const page = new Page();
(window as unknown as { weft: unknown }).weft = page.parts();
page.start().catch((error: unknown) => notify(String(error), "error"));
