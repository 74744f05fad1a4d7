// The graph of the fabric, drawn by sigma (WebGL).
//
// Switches and the links between them are always in the graph. The hosts of a switch are added when the
// switches are far enough apart on the screen (UNFOLD_PITCH pixels), and only those in the window: a
// fabric of 11,664 hosts never has more than some hundred of them in the graph. Links are found by their
// distance from the pointer instead of sigma's picking layer, which would draw every link twice.
import Graph from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";
import { isDown, isTrunk, type Fabric, type FabricLink, type FabricNode } from "../fabric";
import { Palette, faintness, linkColour, loadColour, nodeColour, type Colouring } from "./colour";
import { Overlay, type Ring, type Stroke } from "./overlay";
import { movement, NodeProgram, RestingEdgeProgram, SAMPLE } from "./sampled";
import { frame, place, type Placement } from "./placement";

export type Selection = { kind: "node" | "link"; index: number } | null;

/** Links drawn over the others: a path, a cycle, a tree. `from` is the node at which the arrow starts. */
export interface Mark { link: number; from?: number; colour: string; label?: string; dash?: boolean; width?: number }

export interface NodeMark { node: number; colour: string; label?: string }

interface LabelData { x: number; y: number; size: number; label: string; short: string; host: boolean }

const UNFOLD_PITCH = 46;
const HIT_PIXELS = 7;
const MANY_LINKS = 3000;

export class GraphView {
    readonly sigma: Sigma;
    readonly overlay: Overlay;
    palette: Palette;
    placement!: Placement;
    fabric!: Fabric;
    colouring: Colouring = "state";
    onSelect: (selection: Selection) => void = () => {};
    onView: () => void = () => {};
    private graph: Graph;
    private selection: Selection = null;
    private readonly marks = new Map<string, { links: Mark[]; nodes: NodeMark[] }>();
    private masters = new Set<number>();
    private painted: ((node: FabricNode) => string | null) | null = null;
    private figures: ((link: number) => number) | null = null;
    private unfolded = new Set<number>();
    private unindexed = false;
    private hovered = -1;

    constructor(private readonly container: HTMLElement) {
        this.palette = new Palette(document.documentElement);
        this.graph = new Graph({ multi: true, type: "undirected", allowSelfLoops: true });
        this.sigma = new Sigma(this.graph, container, {
            allowInvalidContainer: true,
            renderEdgeLabels: false,
            enableEdgeEvents: false,
            defaultEdgeType: "line",
            edgeProgramClasses: { line: EdgeLineProgram, resting: RestingEdgeProgram, rectangle: EdgeRectangleProgram },
            nodeProgramClasses: { circle: NodeProgram },
            labelFont: "system-ui, sans-serif",
            labelSize: 11,
            labelDensity: 0.6,
            labelGridCellSize: 90,
            labelRenderedSizeThreshold: 0,
            defaultDrawNodeLabel: (context, data) => this.drawLabel(context, data as unknown as LabelData),
            defaultDrawNodeHover: () => {},
            minEdgeThickness: 0.7,
            stagePadding: 0,
            zIndex: false,
            minCameraRatio: 0.002,
            maxCameraRatio: 4,
            nodeReducer: (key, data) => this.reduceNode(key, data),
            edgeReducer: (key, data) => this.reduceEdge(key, data),
        });
        // Layers that are never drawn on still cost the browser time to compose them.
        for (const layer of ["edgeLabels", "hovers", "hoverNodes"]) this.sigma.getCanvases()[layer].style.display = "none";
        this.overlay = new Overlay(this.sigma, () => [this.palette.get("text"), this.palette.get("panel")]);
        this.listen();
    }

    /** Draws another fabric. The camera stays if `keepCamera`. */
    setFabric(fabric: Fabric, keepCamera = false): void {
        this.fabric = fabric;
        const { width, height } = this.sigma.resize(true).getDimensions();
        this.placement = place(fabric, width, height);
        this.unfolded.clear();
        const graph = new Graph({ multi: true, type: "undirected", allowSelfLoops: true });
        for (const node of fabric.nodes) if (node.kind === "switch" || node.leaf < 0) this.addNode(graph, node);
        for (const link of fabric.links) if (isTrunk(fabric, link)) this.addLink(graph, link);
        this.graph = graph;
        this.sigma.setCustomBBox(frame(this.placement));
        this.unindexed = true;
        this.sigma.setGraph(graph);
        if (!keepCamera) this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
        this.unfold();
        this.drawOverlay();
    }

    private addNode(graph: Graph, node: FabricNode): void {
        graph.addNode(`n${node.index}`, {
            x: this.placement.x[node.index], y: this.placement.y[node.index], index: node.index, size: this.nodeSize(node),
        });
    }

    private addLink(graph: Graph, link: FabricLink): void {
        if (!graph.hasNode(`n${link.a}`) || !graph.hasNode(`n${link.b}`)) return;
        graph.addEdgeWithKey(`l${link.index}`, `n${link.a}`, `n${link.b}`, { index: link.index });
    }

    private nodeSize(node: FabricNode): number {
        const size = Math.max(1.6, Math.min(9, this.placement.pitch * 0.26));
        return node.kind === "host" ? Math.max(0.8, size * 0.3) : size;
    }

    /** A name beside its node, if it fits between this node and the next; without the number of hosts if only that fits. */
    private drawLabel(context: CanvasRenderingContext2D, data: LabelData): void {
        const room = (data.host ? Math.min(60, this.placement.pitch * 0.16) : this.placement.pitch) * this.pixelsPerUnit() - 2 * data.size - 6;
        context.font = "11px system-ui, sans-serif";
        const text = [data.label, data.short].find(name => context.measureText(name).width <= room);
        if (!text) return;
        context.fillStyle = this.palette.get("text");
        context.fillText(text, data.x + data.size + 4, data.y + 4);
    }

    /** The window has another shape: the same fabric is placed anew. */
    private replace(): void {
        if (!this.fabric) return;
        const { width, height } = this.sigma.getDimensions();
        this.placement = place(this.fabric, width, height);
        this.sigma.setCustomBBox(frame(this.placement));
        this.graph.updateEachNodeAttributes((_key, attributes) => {
            const node = this.fabric.nodes[attributes.index as number];
            return { ...attributes, x: this.placement.x[node.index], y: this.placement.y[node.index], size: this.nodeSize(node) };
        });
        this.sigma.refresh();
        this.unfold();
        this.drawOverlay();
    }

    /** Pixels of the screen for a unit of the placement, at the present zoom. */
    private pixelsPerUnit(): number {
        const origin = this.sigma.graphToViewport({ x: 0, y: 0 }), one = this.sigma.graphToViewport({ x: 1, y: 0 });
        return Math.hypot(one.x - origin.x, one.y - origin.y) || 1;
    }

    private reduceNode(_key: string, data: Record<string, unknown>): Record<string, unknown> {
        const node = this.fabric.nodes[data.index as number];
        const colour = this.painted?.(node) ?? nodeColour(node, this.masters.has(node.index));
        const folded = node.hosts.length > 0 && !this.unfolded.has(node.index);
        return {
            ...data,
            color: colour.startsWith("#") ? colour : this.palette.get(colour),
            label: folded ? `${node.name} · ${node.hosts.length}` : node.name,
            short: node.name,
            host: node.kind === "host",
            type: "circle",
        };
    }

    private reduceEdge(_key: string, data: Record<string, unknown>): Record<string, unknown> {
        const link = this.fabric.links[data.index as number];
        const links = this.fabric.links.length, few = links < MANY_LINKS, thin = this.colouring === "state" && !this.figures;
        const colour = this.figures ? loadColour(this.figures(link.index)) : linkColour(link, this.colouring);
        return {
            ...data,
            color: few ? this.palette.get(colour) : this.palette.faint(colour, faintness(colour)),
            size: (thin ? 1.2 : 1.8) * (links < 300 ? 1.5 : 1),
            type: few ? "rectangle" : link.index % SAMPLE ? "resting" : "line",
            hidden: isDown(link),
        };
    }

    /** Adds the hosts of the switches in the window, or removes those that no longer need to be shown. */
    private unfold(): void {
        if (!this.fabric) return;
        const shown = this.placement.pitch * this.pixelsPerUnit() >= UNFOLD_PITCH;
        const { width, height } = this.sigma.getDimensions();
        const wanted = new Set<number>();
        if (shown) {
            for (const node of this.fabric.nodes) {
                if (!node.hosts.length) continue;
                const at = this.sigma.graphToViewport({ x: this.placement.x[node.index], y: this.placement.y[node.index] });
                if (at.x > -100 && at.y > -100 && at.x < width + 100 && at.y < height + 100) wanted.add(node.index);
            }
        }
        let changed = false;
        for (const leaf of [...this.unfolded]) {
            if (wanted.has(leaf)) continue;
            for (const host of this.fabric.nodes[leaf].hosts) this.graph.dropNode(`n${host}`);
            this.unfolded.delete(leaf);
            changed = true;
        }
        for (const leaf of wanted) {
            if (this.unfolded.has(leaf)) continue;
            const hosts = this.fabric.nodes[leaf].hosts;
            for (const host of hosts) this.addNode(this.graph, this.fabric.nodes[host]);
            for (const host of hosts)
                for (const link of this.fabric.nodes[host].links)
                    if (!this.graph.hasEdge(`l${link}`)) this.addLink(this.graph, this.fabric.links[link]);
            this.unfolded.add(leaf);
            changed = true;
        }
        if (!changed) return;
        this.unindexed = true;
        this.sigma.scheduleRefresh();
    }

    /** How many hosts are drawn one by one. */
    unfoldedHosts(): number {
        let hosts = 0;
        for (const leaf of this.unfolded) hosts += this.fabric.nodes[leaf].hosts.length;
        return hosts;
    }

    // Changes of what is drawn.

    /** Computes colours again. Sigma cannot do it for a part of the graph that it has not indexed yet. */
    private redraw(partialGraph: { nodes?: string[]; edges?: string[] }): void {
        if (this.unindexed) this.sigma.scheduleRefresh();
        else this.sigma.refresh({ partialGraph, skipIndexation: true, schedule: true });
    }

    updateLinks(indices: number[]): void {
        const edges = indices.map(index => `l${index}`).filter(key => this.graph.hasEdge(key));
        this.redraw({ edges });
        this.drawOverlay();
    }

    updateNodes(indices: number[]): void {
        const nodes = indices.map(index => `n${index}`).filter(key => this.graph.hasNode(key));
        this.redraw({ nodes });
    }

    repaint(): void {
        this.redraw({ nodes: this.graph.nodes(), edges: this.graph.edges() });
        this.drawOverlay();
    }

    setColouring(colouring: Colouring): void {
        this.colouring = colouring;
        this.repaint();
    }

    setMasters(masters: Iterable<number>): void {
        this.masters = new Set(masters);
        this.repaint();
    }

    /** Colours nodes by another rule (partitions); null: by state. */
    paint(rule: ((node: FabricNode) => string | null) | null): void {
        this.painted = rule;
        this.repaint();
    }

    /** Colours links by figures that are not the fabric's own (0 to 100 by link index); null: its own again. */
    showFigures(figures: ((link: number) => number) | null): void {
        this.figures = figures;
        this.repaint();
    }

    themeChanged(): void {
        this.palette = new Palette(document.documentElement);
        this.sigma.setSetting("labelColor", { color: this.palette.get("text") });
        this.repaint();
    }

    /** Draws links and rings around nodes above the map; each layer ("path", "deadlock") replaces what it had. */
    mark(layer: string, links: Mark[] = [], nodes: NodeMark[] = []): void {
        if (links.length || nodes.length) this.marks.set(layer, { links, nodes });
        else this.marks.delete(layer);
        this.drawOverlay();
    }

    /** The links and nodes that a layer draws. */
    marked(layer: string): { links: Mark[]; nodes: NodeMark[] } {
        return this.marks.get(layer) ?? { links: [], nodes: [] };
    }

    select(selection: Selection): void {
        this.selection = selection;
        this.drawOverlay();
    }

    private point(node: number): { x: number; y: number } {
        // A folded host is drawn at its switch.
        const { leaf, kind } = this.fabric.nodes[node];
        const at = kind === "host" && leaf >= 0 && !this.unfolded.has(leaf) ? leaf : node;
        return { x: this.placement.x[at], y: this.placement.y[at] };
    }

    private stroke(mark: Mark): Stroke {
        const link = this.fabric.links[mark.link];
        const from = mark.from ?? link.a, to = from === link.a ? link.b : link.a;
        return { from: this.point(from), to: this.point(to), colour: this.palette.get(mark.colour),
            width: mark.width ?? 3, arrow: mark.from !== undefined, label: mark.label, dash: mark.dash };
    }

    private drawOverlay(): void {
        if (!this.fabric) return;
        const strokes: Stroke[] = [], rings: Ring[] = [], { selection } = this;
        if (selection?.kind === "link" && this.fabric.links[selection.index])
            strokes.push(this.stroke({ link: selection.index, colour: "accent", width: 5 }));
        for (const link of this.fabric.links)
            if (isDown(link)) strokes.push(this.stroke({ link: link.index, colour: "bad", dash: true, width: 1.8 }));
        for (const { links, nodes } of this.marks.values()) {
            for (const mark of links) strokes.push(this.stroke(mark));
            for (const { node, colour, label } of nodes)
                rings.push({ at: this.point(node), colour: this.palette.get(colour), radius: 11, label });
        }
        if (selection?.kind === "node" && this.fabric.nodes[selection.index])
            for (const link of this.fabric.nodes[selection.index].links) strokes.push(this.stroke({ link, colour: "accent", width: 1.3 }));
        if (selection?.kind === "node" && this.fabric.nodes[selection.index])
            rings.push({ at: this.point(selection.index), colour: this.palette.get("accent"), radius: 12,
                label: this.fabric.nodes[selection.index].name });
        const hovered = this.fabric.nodes[this.hovered];
        if (hovered) rings.push({ at: this.point(hovered.index), colour: this.palette.get("quiet"), radius: 10,
            label: hovered.hosts.length ? `${hovered.name}, ${hovered.hosts.length} hosts` : hovered.name });
        this.overlay.strokes = strokes;
        this.overlay.rings = rings;
        this.sigma.scheduleRender();
    }

    // The camera.

    /** Moves the camera to a node or a link, if it is not seen well: outside the window, or among switches that are
     * so close to each other that hosts are folded. */
    focus(selection: Selection): void {
        if (!selection) return;
        const link = selection.kind === "link" ? this.fabric.links[selection.index] : null;
        const ends = link ? [link.a, link.b] : [selection.index];
        const middle = { x: 0, y: 0 }, { width, height } = this.sigma.getDimensions();
        let seen = true;
        for (const end of ends) {
            const at = this.viewportPoint(end);
            middle.x += at.x / ends.length;
            middle.y += at.y / ends.length;
            if (at.x < 20 || at.y < 50 || at.x > width - 20 || at.y > height - 40) seen = false;
        }
        const pitch = this.placement.pitch * this.pixelsPerUnit();
        if (seen && (link || pitch >= UNFOLD_PITCH)) return;
        const camera = this.sigma.getCamera(), present = camera.getState().ratio;
        const at = this.sigma.viewportToFramedGraph(middle);
        void camera.animate({ x: at.x, y: at.y, ratio: link ? present : Math.min(present, present * pitch / (UNFOLD_PITCH * 1.6)) },
            { duration: 250 });
    }

    fit(): void {
        void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1 }, { duration: 200 });
    }

    zoom(factor: number): void {
        const camera = this.sigma.getCamera();
        void camera.animate({ ratio: camera.getBoundedRatio(camera.getState().ratio * factor) }, { duration: 120 });
    }

    /** Moves by a part of the window. */
    pan(dx: number, dy: number): void {
        const camera = this.sigma.getCamera(), { x, y, ratio } = camera.getState();
        void camera.animate({ x: x + dx * ratio * 0.2, y: y - dy * ratio * 0.2 }, { duration: 120 });
    }

    // The pointer.

    private listen(): void {
        this.sigma.on("afterProcess", () => { this.unindexed = false; });
        this.sigma.on("clickNode", ({ node }) => this.onSelect({ kind: "node", index: Number(node.slice(1)) }));
        this.sigma.on("enterNode", ({ node }) => { this.hovered = Number(node.slice(1)); this.drawOverlay(); });
        this.sigma.on("leaveNode", () => { this.hovered = -1; this.drawOverlay(); });
        this.sigma.on("clickStage", ({ event }) => {
            const link = this.linkAt(event.x, event.y);
            this.onSelect(link < 0 ? null : { kind: "link", index: link });
        });
        // The camera rests if it has not moved for some frames: on a slow machine frames are far apart.
        let rest = 0, last = -1000;
        this.sigma.getCamera().on("updated", () => {
            const now = performance.now(), wait = now - last < 1000 ? Math.max(200, 2.5 * (now - last)) : 200;
            last = now;
            movement.moving = true;
            window.clearTimeout(rest);
            rest = window.setTimeout(() => { movement.moving = false; this.sigma.scheduleRender(); }, wait);
        });
        // After the frame and not at the camera's event: positions in the window are those of the last frame.
        let scheduled = 0, seen = "";
        this.sigma.on("afterRender", () => {
            const { x, y, ratio } = this.sigma.getCamera().getState(), view = `${x} ${y} ${ratio}`;
            if (view === seen) return;
            seen = view;
            window.clearTimeout(scheduled);
            scheduled = window.setTimeout(() => { this.unfold(); this.drawOverlay(); this.onView(); }, 80);
        });
        let resized = 0;
        new ResizeObserver(() => {
            this.sigma.resize();
            this.sigma.scheduleRender();
            window.clearTimeout(resized);
            resized = window.setTimeout(() => this.reshape(), 120);
        }).observe(this.container);
    }

    private reshape(): void {
        if (!this.placement) return;
        const { width, height } = this.sigma.getDimensions(), { x, y } = frame(this.placement);
        if (Math.abs(x[1] - x[0] - width) > 8 || Math.abs(y[1] - y[0] - height) > 8) this.replace();
    }

    /** The accepted node nearest to a point of the window, within 30 pixels; -1: none. */
    nodeNear(x: number, y: number, accept: (node: number) => boolean): number {
        let best = -1, least = 30;
        for (const node of this.fabric.nodes) {
            if (!accept(node.index)) continue;
            const at = this.sigma.graphToViewport(this.point(node.index));
            const distance = Math.hypot(at.x - x, at.y - y);
            if (distance < least) { least = distance; best = node.index; }
        }
        return best;
    }

    /** Where a node is in the window; folded hosts are at their switch. */
    viewportPoint(node: number): { x: number; y: number } {
        return this.sigma.graphToViewport(this.point(node));
    }

    /** The drawn link nearest to a point of the window, within HIT_PIXELS; -1: none. */
    linkAt(x: number, y: number): number {
        let best = -1, least = HIT_PIXELS;
        const at = this.sigma.viewportToGraph({ x, y });
        const unit = this.pixelsPerUnit();
        this.graph.forEachEdge((_key, attributes, _source, _target, from, to) => {
            const distance = segmentDistance(at.x, at.y, from.x as number, from.y as number,
                to.x as number, to.y as number) * unit;
            if (distance < least) { least = distance; best = attributes.index as number; }
        });
        return best;
    }
}

function segmentDistance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
    const dx = bx - ax, dy = by - ay, square = dx * dx + dy * dy;
    const along = square > 0 ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / square)) : 0;
    return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}
