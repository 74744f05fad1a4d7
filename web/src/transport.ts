// The clock of the run: pause, step, pace. The past: scrub, step by sample, run again from there.
import type { App } from "./app";
import { button, byId, fill, h } from "./dom";
import { moment, pace } from "./format";

/** The pace slider is logarithmic: virtual seconds for one second of wall time. */
const SLOWEST = -7, FASTEST = 1;
const STEP_NS = 10000;

export class Transport {
    private readonly clock = h("span", { class: "clock", id: "clock", "aria-label": "Time" });
    private readonly play = button("Pause", () => this.toggle(), { id: "play", title: "Pause or run (Space)" });
    private readonly slider = h("input", { type: "range", min: SLOWEST, max: FASTEST, step: "0.1", id: "pace", "aria-label": "Pace" });
    private readonly paceText = h("output", { for: "pace", class: "quiet" });
    private readonly scrub = h("input", { type: "range", min: "0", max: "0", step: "any", value: "0", id: "scrub", "aria-label": "Moment that is shown" });
    private readonly scrubText = h("output", { for: "scrub" });
    private readonly present = button("Present", () => void this.toPresent(), { id: "present", title: "Show the present (End)" });
    private readonly replay = button("Run again from here", () => void this.seek(), { id: "seek", title: "Replays the run up to this moment, then pauses" });
    private readonly nextButton = button("Next event", () => this.next(), { id: "next", title: "To the next fault, trap, change of links, master or routes, or problem, then pause (n)" });
    private setting = 0;
    private sending = 0;
    private asked = -1;
    private asking = false;

    constructor(private readonly app: App) {
        this.slider.addEventListener("input", () => this.setPace());
        this.scrub.addEventListener("input", () => void this.show(Number(this.scrub.value)));
    }

    /** Builds the controls that the server offers. */
    build(): void {
        const { store } = this.app;
        const time = store.can("time");
        fill(byId("transport"), this.clock, time && [
            this.play,
            button("Step", () => this.step(), { id: "step", title: "10 µs further, then pause (.)" }),
            this.nextButton,
            h("span", { class: "pace" }, this.slider, this.paceText)]);
        fill(byId("timeline"), store.can("history") && h("div", { class: "scrub", role: "group", "aria-label": "Past" },
            button("◀", () => void this.stepPast(-1), { "aria-label": "Sample before", title: "Sample before (,)" }),
            this.scrub,
            button("▶", () => void this.stepPast(1), { "aria-label": "Sample after", title: "Sample after" }),
            this.scrubText, this.present, store.can("seek") && this.replay,
            store.can("seek") && button("Restart", () => void this.app.run({ do: "restart" }, "A new run with the same seed"), { title: "A new run with the same seed, without what was done by hand" })),
        store.can("traffic") && h("div", { class: "plots" }));
        this.update();
    }

    update(): void {
        const { store } = this.app, { tick } = store;
        this.clock.textContent = moment(tick.t);
        this.clock.classList.toggle("quiet", store.past);
        this.play.textContent = tick.running ? "Pause" : "Run";
        this.play.setAttribute("aria-pressed", String(!tick.running));
        this.nextButton.setAttribute("aria-busy", String(tick.work === "event"));
        if (Date.now() - this.setting > 1000) this.slider.value = String(Math.log10(Math.max(1e-9, tick.pace)));
        this.paceText.textContent = pace(tick.pace, tick.behind);
        this.paceText.title = tick.behind ? "The machine is too slow for this pace" : "";
        const first = store.series.t[0] ?? 0;
        this.scrub.min = String(first);
        this.scrub.max = String(Math.max(first, store.latest));
        if (!store.past) this.scrub.value = this.scrub.max;
        this.scrub.setAttribute("aria-valuetext", moment(tick.t));
        this.scrubText.textContent = store.past ? `${moment(tick.t)} (past)` : "present";
        this.present.disabled = this.replay.disabled = !store.past;
    }

    toggle(): void {
        void this.app.run({ do: this.app.store.tick.running ? "pause" : "run" });
    }

    step(): void {
        void this.app.run({ do: "step", ns: STEP_NS });
    }

    next(): void {
        void this.app.run({ do: "next" });
    }

    /** A tenth of a decade or more on the slider of the pace. */
    faster(decades: number): void {
        this.slider.value = String(Number(this.slider.value) + decades);
        this.setPace();
    }

    private setPace(): void {
        this.setting = Date.now();
        const value = 10 ** Number(this.slider.value);
        this.paceText.textContent = pace(value);
        clearTimeout(this.sending);
        this.sending = window.setTimeout(() => void this.app.run({ do: "pace", value: Number(value.toPrecision(3)) }), 120);
    }

    /** Shows a moment; only the last of many requests while the slider moves. */
    async show(t: number): Promise<void> {
        this.asked = t;
        if (this.asking) return;
        this.asking = true;
        try {
            while (this.asked >= 0) {
                const wanted = this.asked;
                this.asked = -1;
                await this.app.store.showPast(wanted);
            }
        } catch (error) {
            this.app.report(error);
        } finally {
            this.asking = false;
        }
    }

    async toPresent(): Promise<void> {
        await this.app.store.showPresent().catch(error => this.app.report(error));
    }

    async stepPast(step: number): Promise<void> {
        const { series, tick, past, latest } = this.app.store;
        const now = past ? tick.t : latest;
        const times = step < 0 ? series.t.filter(t => t < now).slice(-1) : series.t.filter(t => t > now).slice(0, 1);
        if (times.length) await this.show(times[0]);
        else if (step > 0) await this.toPresent();
    }

    private async seek(): Promise<void> {
        await this.app.run({ do: "seek", t: Math.round(this.app.store.tick.t) }, "The run is replayed up to this moment and paused");
    }
}
