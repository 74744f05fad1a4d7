// The map of the fabric: what is drawn, where the camera looks, and what the pointer does.
//
// painter.ts draws it, layers.ts decides when. A host that is not drawn is at its switch. Nodes and links are found by
// their distance from the pointer.
import { isDown, type Fabric, type FabricLink, type FabricNode } from "../fabric";
import { boundedRatio, Camera, cameraFor, WHOLE, type Point, type Projection } from "./camera";
import { Palette, linkColour, loadColour, nodeColour, type Colouring } from "./colour";
import { distance, pointOn } from "./curve";
import { Layers, type Picture } from "./layers";
import { Overlay, type Ring, type Stroke } from "./overlay";
import { choose, MANY_LINKS, nodeRadius, paint, trunksOf, UNFOLD_PITCH, writeLabels, type Painted, type Scene } from "./painter";
import { curveOf, frame, place, type Arrangement, type Placement } from "./placement";
import { followPointer } from "./pointer";

export type Selection = { kind: "node" | "link"; index: number } | null;

/** Links drawn over the others: a path, a cycle, a tree. `from` is the node at which the arrow starts. */
/** `beside`: with a place of its own for each direction. */
export interface Mark { link: number; from?: number; colour: string; label?: string; dash?: boolean; width?: number; beside?: boolean }

export interface NodeMark { node: number; colour: string; label?: string }

const NODE_PIXELS = 3, LINK_PIXELS = 7, BESIDE_PIXELS = 4;
const NOTHING: Painted = { links: [], nodes: [], unfolded: new Set(), labels: new Map(), rooms: [] };

export class GraphView {
    readonly camera = new Camera();
    readonly overlay = new Overlay(() => [this.palette.get("text"), this.palette.get("panel")]);
    palette = new Palette(document.documentElement);
    placement!: Placement;
    fabric!: Fabric;
    colouring: Colouring = "state";
    arrangement: Arrangement = "structure";
    /** Percentages by link that are shown instead of the colouring. */
    figures: ((link: number) => number) | null = null;
    onSelect: (selection: Selection) => void = () => {};
    onView: () => void = () => {};
    onFigures: () => void = () => {};
    private readonly layers: Layers<Painted>;
    private trunks: FabricLink[] = [];
    private painted = NOTHING;
    private selection: Selection = null;
    private readonly marks = new Map<string, { links: Mark[]; nodes: NodeMark[] }>();
    private masters = new Set<number>();
    private rule: ((node: FabricNode) => string | null) | null = null;
    private hovered = -1;

    constructor(private readonly container: HTMLElement) {
        this.layers = new Layers<Painted>(container, {
            isSmall: () => this.fabric.links.length < MANY_LINKS,
            choose: projection => choose(this.scene(), projection),
            paint: (context, projection, painted) => paint(context, this.scene(), projection, painted),
            paintOverlay: (context, projection, painted) => this.paintOverlay(context, projection, painted),
            camera: () => this.camera.getState(),
            frame: () => frame(this.placement),
            shown: painted => { this.painted = painted; },
        });
        this.listen();
    }

    /** Draws another fabric. The camera stays if `keepCamera`. */
    setFabric(fabric: Fabric, keepCamera = false): void {
        this.fabric = fabric;
        this.trunks = trunksOf(fabric);
        this.hovered = -1;
        this.replace();
        if (!keepCamera) this.camera.setState(WHOLE);
    }

    /** Another fabric, or a window of another shape. */
    private replace(): void {
        this.layers.measure();
        this.placement = place(this.fabric, this.arrangement, this.layers.width, this.layers.height);
        this.painted = NOTHING;
        this.updateOverlay();
        this.layers.restart();
    }

    private scene(): Scene {
        const { fabric, placement, palette, trunks } = this, few = fabric.links.length < 300;
        return { fabric, placement, palette, trunks, linkColour: link => this.linkColour(link), nodeColour: node => this.nodeColour(node),
            lineWidth: (this.colouring === "state" && !this.figures ? 1.2 : 1.8) * (few ? 1.5 : 1) };
    }

    /** The name of a colour. */
    linkColour(link: FabricLink): string {
        return this.figures ? loadColour(this.figures(link.index)) : linkColour(link, this.colouring);
    }

    /** The name of a colour, or #rrggbb. */
    nodeColour(node: FabricNode): string {
        return this.rule?.(node) ?? nodeColour(node, this.masters.has(node.index), this.fabric.subnets);
    }

    /** Pixels of the window, at the present zoom. */
    radius(node: FabricNode): number {
        return nodeRadius(this.scene(), node, this.layers.projection().scale);
    }

    /** True if the picture shows the present fabric, and the camera rests. */
    isSettled(): boolean {
        return this.layers.isSettled() && !this.camera.isAnimated();
    }

    copy(): Picture<Painted> & { canvas: HTMLCanvasElement } {
        return this.layers.copy();
    }

    /** How many hosts are drawn one by one. */
    unfoldedHosts(): number {
        let hosts = 0;
        for (const leaf of this.painted.unfolded) hosts += this.fabric.nodes[leaf].hosts.length;
        return hosts;
    }

    // Changes of what is drawn.

    repaint(): void {
        if (!this.fabric) return;
        this.updateOverlay();
        this.layers.change();
    }

    setColouring(colouring: Colouring): void {
        this.colouring = colouring;
        this.repaint();
    }

    /** Places the nodes by structure or by rooms. */
    arrange(arrangement: Arrangement): void {
        this.arrangement = arrangement;
        if (!this.fabric) return;
        this.replace();
        this.camera.setState(WHOLE);
    }

    setMasters(masters: Iterable<number>): void {
        this.masters = new Set(masters);
        this.repaint();
    }

    /** Colours nodes by another rule (partitions); null: by state. */
    paint(rule: ((node: FabricNode) => string | null) | null): void {
        this.rule = rule;
        this.repaint();
    }

    /** True: another rule than the state colours the nodes. */
    isPainted(): boolean {
        return this.rule !== null;
    }

    /** Colours links by figures that are not the fabric's own (0 to 100 by link index); null: its own again. */
    showFigures(figures: ((link: number) => number) | null): void {
        if (this.figures === figures) return;
        this.figures = figures;
        this.repaint();
        this.onFigures();
    }

    themeChanged(): void {
        this.palette = new Palette(document.documentElement);
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

    private point(node: number): Point {
        const { leaf, kind } = this.fabric.nodes[node];
        const at = kind === "host" && leaf >= 0 && !this.painted.unfolded.has(leaf) ? leaf : node;
        return { x: this.placement.x[at], y: this.placement.y[at] };
    }

    /** A colour by its name; "accent/0.3": transparent. */
    private colour(name: string): string {
        const [solid, alpha] = name.split("/");
        return alpha ? this.palette.faint(solid, Number(alpha)) : this.palette.get(solid);
    }

    private stroke(mark: Mark): Stroke {
        const link = this.fabric.links[mark.link];
        const from = mark.from ?? link.a, to = from === link.a ? link.b : link.a;
        return { from: this.point(from), to: this.point(to), via: this.placement.via.get(mark.link), colour: this.colour(mark.colour),
            width: mark.width ?? 3, arrow: mark.from !== undefined, label: mark.label, dash: mark.dash,
            shift: mark.beside ? BESIDE_PIXELS : undefined };
    }

    private drawOverlay(): void {
        if (!this.fabric) return;
        this.updateOverlay();
        this.layers.changeOverlay();
    }

    private paintOverlay(context: CanvasRenderingContext2D, projection: Projection, painted: Painted): boolean {
        if (painted !== this.painted) { this.painted = painted; this.updateOverlay(); }
        context.clearRect(0, 0, projection.width, projection.height);
        const drawn = this.overlay.draw(context, projection);
        if (drawn) writeLabels(context, this.palette, painted);
        return drawn;
    }

    private updateOverlay(): void {
        const strokes: Stroke[] = [], rings: Ring[] = [], { selection } = this;
        const chosen = selection?.kind === "link" ? this.fabric.links[selection.index] : undefined;
        if (chosen) strokes.push(this.stroke({ link: chosen.index, colour: isDown(chosen) ? "accent/0.3" : "accent", width: isDown(chosen) ? 14 : 5 }));
        const named = new Set(this.painted.labels.keys());
        // A name is drawn once: not again if the map has it.
        const ring = (node: number, colour: string, radius: number, label?: string) => {
            rings.push({ at: this.point(node), colour: this.palette.get(colour), radius, label: named.has(node) ? undefined : label });
            if (label) named.add(node);
        };
        for (const { links, nodes } of this.marks.values()) {
            for (const mark of links) strokes.push(this.stroke(mark));
            for (const { node, colour, label } of nodes) ring(node, colour, 11, label);
        }
        if (selection?.kind === "node" && this.fabric.nodes[selection.index])
            for (const link of this.fabric.nodes[selection.index].links)
                if (!isDown(this.fabric.links[link])) strokes.push(this.stroke({ link, colour: "accent", width: 1.3 }));
        // A link that is down stays red, whatever else is shown of it.
        for (const link of this.fabric.links)
            if (isDown(link)) strokes.push(this.stroke({ link: link.index, colour: "bad", dash: true, width: link === chosen ? 4 : 1.8 }));
        if (selection?.kind === "node" && this.fabric.nodes[selection.index])
            ring(selection.index, "accent", 12, this.fabric.nodes[selection.index].name);
        const hovered = this.fabric.nodes[this.hovered];
        if (hovered) ring(hovered.index, "quiet", 10, hovered.hosts.length ? `${hovered.name}, ${hovered.hosts.length} hosts` : hovered.name);
        this.overlay.strokes = strokes;
        this.overlay.rings = rings;
    }

    // The camera.

    /** Moves the camera to a node or a link, if it is not seen well: outside the window, or among switches that are
     * so close to each other that hosts are folded. */
    focus(selection: Selection): void {
        if (!selection) return;
        const link = selection.kind === "link" ? this.fabric.links[selection.index] : null;
        const ends = link ? [link.a, link.b] : [selection.index];
        const middle = { x: 0, y: 0 }, { width, height } = this.layers;
        let seen = true;
        for (const end of ends) {
            const at = this.viewportPoint(end);
            middle.x += at.x / ends.length;
            middle.y += at.y / ends.length;
            if (at.x < 20 || at.y < 50 || at.x > width - 20 || at.y > height - 40) seen = false;
        }
        const projection = this.layers.projection(), pitch = this.placement.pitch * projection.scale;
        if (seen && (link || pitch >= UNFOLD_PITCH)) return;
        const { ratio } = this.camera.getState();
        this.camera.animate(this.cameraAt(middle, { x: width / 2, y: height / 2 }, link ? ratio : Math.min(ratio, ratio * pitch / (UNFOLD_PITCH * 1.6))), 250);
    }

    /** The camera that shows at one point of the window what is at another. */
    private cameraAt(what: Point, where: Point, ratio: number) {
        const { width, height } = this.layers;
        return cameraFor(frame(this.placement), this.layers.projection().toMap(what), where, boundedRatio(ratio), width, height);
    }

    fit(): void {
        this.camera.animate(WHOLE, 200);
    }

    zoom(factor: number): void {
        this.camera.animate({ ratio: boundedRatio(this.camera.getState().ratio * factor) }, 120);
    }

    /** Moves by a part of the window. */
    pan(dx: number, dy: number): void {
        const { x, y, ratio } = this.camera.getState();
        this.camera.animate({ x: x + dx * ratio * 0.2, y: y + dy * ratio * 0.2 }, 120);
    }

    // The pointer.

    private listen(): void {
        followPointer(this.container, {
            drag: (dx, dy) => { if (this.fabric) this.camera.setState(this.cameraAt({ x: 0, y: 0 }, { x: dx, y: dy }, this.camera.getState().ratio)); },
            zoom: (factor, at) => { if (this.fabric) this.camera.setState(this.cameraAt(at, at, this.camera.getState().ratio * factor)); },
            jump: (factor, at) => { if (this.fabric) this.camera.animate(this.cameraAt(at, at, this.camera.getState().ratio * factor), 200); },
            click: at => this.click(at),
            hover: at => this.hover(at),
        });
        let rest = 0;
        this.camera.onMove = () => {
            if (!this.fabric) return;
            this.layers.move();
            window.clearTimeout(rest);
            rest = window.setTimeout(() => this.onView(), 80);
        };
        let resized = 0;
        new ResizeObserver(() => {
            window.clearTimeout(resized);
            resized = window.setTimeout(() => { if (this.fabric && this.hasOtherShape()) this.replace(); }, 120);
        }).observe(this.container);
    }

    private hasOtherShape(): boolean {
        return this.container.clientWidth !== this.layers.width || this.container.clientHeight !== this.layers.height;
    }

    private click(at: Point): void {
        if (!this.fabric) return;
        const node = this.nodeAt(at), link = node < 0 ? this.linkAt(at.x, at.y) : -1;
        this.onSelect(node >= 0 ? { kind: "node", index: node } : link >= 0 ? { kind: "link", index: link } : null);
    }

    private hover(at: Point | null): void {
        if (!this.fabric) return;
        const node = at ? this.nodeAt(at) : -1;
        if (node === this.hovered) return;
        this.hovered = node;
        this.container.style.cursor = node >= 0 ? "pointer" : "";
        this.drawOverlay();
    }

    /** The drawn node at a point of the window; -1: none. */
    private nodeAt(at: Point): number {
        const { scale, left, top } = this.layers.projection(), { x, y } = this.placement, scene = this.scene();
        let best = -1, least = Infinity;
        for (const node of this.painted.nodes) {
            const distance = Math.hypot(x[node.index] * scale + left - at.x, y[node.index] * scale + top - at.y);
            if (distance < least && distance <= nodeRadius(scene, node, scale) + NODE_PIXELS) { least = distance; best = node.index; }
        }
        return best;
    }

    /** The accepted node nearest to a point of the window, within 30 pixels; -1: none. */
    nodeNear(x: number, y: number, accept: (node: number) => boolean): number {
        let best = -1, least = 30;
        for (const node of this.fabric.nodes) {
            if (!accept(node.index)) continue;
            const at = this.viewportPoint(node.index);
            const distance = Math.hypot(at.x - x, at.y - y);
            if (distance < least) { least = distance; best = node.index; }
        }
        return best;
    }

    /** Where a node is in the window; folded hosts are at their switch. */
    viewportPoint(node: number): Point {
        return this.layers.projection().toWindow(this.point(node));
    }

    /** A point of a link in the window: 0 is its end a, 1 its end b. */
    along(link: number, share: number): Point {
        return this.layers.projection().toWindow(pointOn(curveOf(this.placement, this.fabric.links[link]), share));
    }

    /** True: names on the map have the number of hosts behind them. */
    hasFoldedHosts(): boolean {
        return this.painted.nodes.some(node => node.hosts.length > 0 && !this.painted.unfolded.has(node.index));
    }

    /** The drawn link nearest to a point of the window, within LINK_PIXELS; -1: none. */
    linkAt(x: number, y: number): number {
        let best = -1, least = LINK_PIXELS;
        const projection = this.layers.projection(), at = projection.toMap({ x, y });
        for (const link of this.painted.links) {
            const away = distance(at, curveOf(this.placement, link)) * projection.scale;
            if (away < least) { least = away; best = link.index; }
        }
        return best;
    }
}
