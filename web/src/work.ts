// What runs without pace, or is waited for: the start of the subnet, the next event, a replay, a standby that takes over.
import type { App } from "./app";
import { button, byId, fill, h, notify } from "./dom";
import { count, duration, moment } from "./format";
import { phaseText } from "./panels/managers";

export class Work {
    /** The moment at which the present work began. */
    private from = 0;
    private kind: string | null = null;
    private shown = "";

    constructor(private readonly app: App) {}

    update(): void {
        const { tick, past } = this.app.store, kind = past ? null : tick.work ?? null, place = byId("work");
        if (kind !== this.kind) this.begin(kind);
        const text = past ? null : kind ? this.progress(kind) : this.waiting();
        place.hidden = text === null;
        place.classList.toggle("waiting", !kind);
        // The text changes with each tick, the button only with the work: a click needs a button that stays.
        const key = `${kind} ${text === null}`;
        if (key !== this.shown) {
            const known = this.app.store.fabric.nodes.length, stop = () => void this.app.run({ do: "pause" });
            this.shown = key;
            fill(place, h("progress", kind === "start" ? { max: known, value: 0, "aria-label": "Nodes that are known" } : { hidden: !kind, "aria-label": "Time runs" }), h("span", {}),
                kind ? button("Stop", stop, { "data-key": "stop work" })
                    : button("Next event", () => void this.app.run({ do: "next" }), { title: "Runs without pace, to the next event", hidden: !this.app.store.can("time") }));
        }
        if (text === null) return;
        place.querySelector("span")!.textContent = text;
        if (kind === "start") place.querySelector("progress")!.value = this.known();
    }

    private begin(kind: string | null): void {
        if (this.kind === "event" && kind === null && !this.app.store.tick.running) this.tellEvent();
        this.kind = kind;
        this.from = this.app.store.tick.t;
    }

    private tellEvent(): void {
        const event = this.app.store.tick.events?.at(-1);
        if (event && event.t >= this.from) notify(`${moment(event.t)} ${event.who ? `${event.who}: ` : ""}${event.text}`);
    }

    private known(): number {
        return Math.max(0, ...(this.app.store.tick.managers ?? []).map(manager => manager.nodes ?? 0));
    }

    private progress(kind: string): string {
        const { tick, fabric } = this.app.store, working = (tick.managers ?? []).find(manager => manager.nodes === this.known());
        if (kind === "start")
            return `The subnet comes up: ${working ? phaseText(working) : "discovery"}, ${count(this.known())} of ${count(fabric.nodes.length)} nodes known`;
        return `${kind === "event" ? "Running to the next event" : "Running to that moment"}: ${duration(tick.t - this.from)} so far`;
    }

    /** Without a master: when a standby takes over. */
    private waiting(): string | null {
        const { tick, info } = this.app.store, managers = tick.managers ?? [];
        if (info.what !== "live" || !managers.length || managers.some(one => one.state === "master")) return null;
        const next = managers.find(one => one.state === "discovering");
        if (next) return `No master yet. ${next.name}: ${phaseText(next)}, ${count(next.nodes)} of ${count(this.app.store.fabric.nodes.length)} nodes known.`;
        const standby = managers.find(one => one.state === "standby" && one.poll && one.polls);
        if (!standby) return "No master and no standby: nobody repairs the subnet until a manager starts.";
        const first = standby.poll!, last = first * standby.polls!, wall = (ns: number) => duration(ns / tick.pace);
        return `No master. ${standby.name} takes over within ${duration(first)} of virtual time (${wall(first)} at this pace); ` +
            `if the master only hangs, within ${duration(last)} (${wall(last)}).`;
    }
}
