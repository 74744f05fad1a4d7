// Colours of links and switches, and the legend that explains them. The colours themselves are custom
// properties in style.css, so that light and dark differ only there.
import { isDown, type Fabric, type FabricLink, type FabricNode } from "../fabric";

export type Colouring = "state" | "load" | "wait" | "errors" | "vl";

export interface Step {
    label: string;
    /** Name of a custom property of style.css, without the dashes. */
    colour: string;
    /** The range that the step ends with, exclusive. */
    below: number;
}

const LOAD: Step[] = [
    { label: "idle", colour: "ramp-0", below: 1 },
    { label: "< 25 %", colour: "ramp-1", below: 25 },
    { label: "25–49 %", colour: "ramp-2", below: 50 },
    { label: "50–74 %", colour: "ramp-3", below: 75 },
    { label: "75–89 %", colour: "ramp-4", below: 90 },
    { label: "≥ 90 %", colour: "ramp-5", below: Infinity },
];
const WAIT: Step[] = [
    { label: "empty", colour: "ramp-0", below: 1 },
    { label: "< 10 %", colour: "ramp-1", below: 10 },
    { label: "10–29 %", colour: "ramp-2", below: 30 },
    { label: "30–59 %", colour: "ramp-3", below: 60 },
    { label: "60–89 %", colour: "ramp-4", below: 90 },
    { label: "≥ 90 %", colour: "ramp-5", below: Infinity },
];
const ERRORS: Step[] = [
    { label: "none", colour: "ramp-0", below: 1 },
    { label: "1–9", colour: "ramp-2", below: 10 },
    { label: "10–99", colour: "ramp-4", below: 100 },
    { label: "≥ 100", colour: "ramp-5", below: Infinity },
];
const SEVERAL = 8;
const VLS: Step[] = [
    { label: "no data", colour: "ramp-0", below: 0 },
    ...Array.from({ length: 8 }, (_, vl) => ({ label: `VL ${vl}`, colour: `vl-${vl}`, below: vl + 1 })),
    { label: "several VLs", colour: "vl-8", below: Infinity },
];
const STATES: { label: string; colour: string; is: (link: FabricLink) => boolean }[] = [
    { label: "active", colour: "link", is: link => link.state === 0 },
    { label: "not active", colour: "flap", is: link => link.state === 3 },
    { label: "lossy or degraded", colour: "warn", is: link => link.state === 4 || link.state === 7 },
    { label: "bit errors", colour: "ramp-4", is: link => link.state === 5 },
    { label: "down", colour: "bad", is: isDown },
];

export const TITLES: Record<Colouring, string> = {
    state: "Link state", load: "Link load", wait: "Buffers filled", errors: "Errors and lost packets",
    vl: "VL in use",
};

function steps(colouring: Colouring): Step[] {
    return colouring === "load" ? LOAD : colouring === "wait" ? WAIT : colouring === "errors" ? ERRORS : VLS;
}

/** The larger of both directions; for VLs the only one in use, or SEVERAL. */
function figure(link: FabricLink, colouring: Colouring): number {
    if (colouring === "load") return Math.max(...link.load);
    if (colouring === "wait") return Math.max(...link.wait);
    if (colouring === "errors") return link.errors;
    const set = link.vls[0] | link.vls[1];
    return set === 0 ? -1 : (set & (set - 1)) === 0 ? Math.log2(set) : SEVERAL;
}

/** Colours of the present theme, read once per theme. */
export class Palette {
    private readonly known = new Map<string, string>();
    private readonly style: CSSStyleDeclaration;

    constructor(element: Element) {
        this.style = getComputedStyle(element);
    }

    /** A colour as #rrggbb. */
    get(name: string): string {
        let colour = this.known.get(name);
        if (colour === undefined) {
            colour = this.style.getPropertyValue(`--${name}`).trim() || "#888888";
            this.known.set(name, colour);
        }
        return colour;
    }

    /** A transparent colour as #rrggbbaa. */
    faint(name: string, alpha: number): string {
        const key = `${name} ${alpha}`;
        let colour = this.known.get(key);
        if (colour === undefined) {
            colour = this.get(name) + Math.round(alpha * 255).toString(16).padStart(2, "0");
            this.known.set(key, colour);
        }
        return colour;
    }
}

/** Among thousands of links the idle ones are faint, so that the others are seen. */
const FAINT: Record<string, number> = { link: 0.1, "ramp-0": 0.06, "ramp-1": 0.12, "ramp-2": 0.25, "ramp-3": 0.5, "ramp-4": 0.8 };

export function faintness(colour: string): number {
    return FAINT[colour] ?? (colour.startsWith("vl-") ? 0.3 : 0.95);
}

export function linkColour(link: FabricLink, colouring: Colouring): string {
    if (isDown(link)) return "bad";
    if (colouring === "state") return STATES.find(state => state.is(link))?.colour ?? "link";
    const value = figure(link, colouring);
    return steps(colouring).find(step => value < step.below)?.colour ?? "ramp-5";
}

export function loadColour(percent: number): string {
    return LOAD.find(step => percent < step.below)?.colour ?? "ramp-5";
}

export interface LegendRow { label: string; colour: string; count: number }

/** The rows of the legend with the number of links of each; links that are down have a row of their own. `figures`, if
 * they are shown instead of a colouring, are percentages. */
export function linkLegend(fabric: Fabric, colouring: Colouring, figures: ((link: number) => number) | null): LegendRow[] {
    if (colouring === "state" && !figures) {
        return STATES.map(({ label, colour, is }) => ({ label, colour, count: fabric.links.filter(is).length }))
            .filter(row => row.count > 0 || row.label === "active" || row.label === "down");
    }
    const scale = figures ? LOAD : steps(colouring);
    const counts = new Array<number>(scale.length).fill(0);
    let down = 0;
    for (const link of fabric.links) {
        if (isDown(link)) { down++; continue; }
        const value = figures ? figures(link.index) : figure(link, colouring);
        counts[scale.findIndex(step => value < step.below)]++;
    }
    const rows = scale.map(({ label, colour }, at) => ({ label, colour, count: counts[at] }));
    return [...(colouring === "vl" && !figures ? rows.filter(row => row.count > 0) : rows),
        { label: "down", colour: "bad", count: down }];
}

const LEVELS = 4, SUBNETS = 9;
const NODE_LABELS: Record<string, string> = { master: "master's host", host: "host", router: "router", bad: "down", warn: "agent mute or slow", flap: "not in the subnet",
    waiting: "tables wait", written: "being written", confirmed: "confirmed" };

/** The colours of nodes that are there now. */
export function nodeLegend(fabric: Fabric, masters: Set<number>): { label: string; colour: string }[] {
    const colours = new Set(fabric.nodes.map(node => nodeColour(node, masters.has(node.index), fabric.subnets)));
    const subnets = Array.from({ length: Math.min(fabric.subnets, SUBNETS) }, (_, subnet) => ({ label: `subnet ${subnet + 1}`, colour: `vl-${subnet}` }))
        .filter(({ colour }) => colours.has(colour));
    const levels = Array.from({ length: LEVELS }, (_, level) => `level-${level}`).filter(colour => colours.has(colour));
    const level = (colour: string, at: number) => ({ colour, label: levels.length === 1 ? "switch"
        : `switch, level ${at}${colour === `level-${LEVELS - 1}` ? " and above" : at === 0 ? " (leaf)" : ""}` });
    return [...subnets, ...levels.map(colour => level(colour, Number(colour.slice(-1)))),
        ...Object.entries(NODE_LABELS).filter(([colour]) => colours.has(colour)).map(([colour, label]) => ({ colour, label }))];
}

/** Waiting, being written and confirmed tables have colours of their own: a wave is seen as it passes. */
export function nodeColour(node: FabricNode, master: boolean, subnets: number): string {
    if (node.state === 1) return "bad";
    if (node.state === 2 || node.state === 3 || node.state === 5) return "warn";
    if (node.state === 4) return "flap";
    if (node.wave > 0) return ["", "waiting", "written", "confirmed"][node.wave] ?? "waiting";
    if (master) return "master";
    if (node.router) return "router";
    if (subnets > 1 && node.kind === "switch") return `vl-${node.subnet % SUBNETS}`;
    return node.kind === "host" ? "host" : `level-${Math.min(Math.max(node.level, 0), LEVELS - 1)}`;
}
