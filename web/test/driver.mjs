// The page as a person uses it, and the API beside it. The tests compare both.
import { until } from "./claims.mjs";

export class Driver {
    constructor(page, origin, token) {
        this.page = page;
        this.origin = origin;
        this.token = token;
    }

    /** The server limits the rate of requests: a test asks again. */
    fetch(path, options) {
        return until(`an answer to ${path}`, () => fetch(`${this.origin}/api/v1${path}`, options), response => response.status !== 429);
    }

    async api(path) {
        const response = await this.fetch(path);
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return response.json();
    }

    async act(parameters) {
        const response = await this.fetch("/actions", {
            method: "POST", headers: { "X-Weft-Token": this.token }, body: new URLSearchParams(parameters) });
        if (!response.ok) throw new Error(`${JSON.stringify(parameters)}: ${response.status} ${await response.text()}`);
        return response.json();
    }

    /** A file of the API, as the owner of the session gets it. */
    async exported(name) {
        const response = await this.fetch(`/export/${name}`, { headers: { "X-Weft-Token": this.token } });
        return Buffer.from(await response.arrayBuffer());
    }

    state() {
        return this.api("/state");
    }

    /** Waits until the page has drawn the newest tick of a run that is paused. */
    async settle() {
        const { seq } = await this.state();
        await until("the page has the last tick", () => this.page.evaluate(() => window.weft.store.tick.seq), shown => shown >= seq);
        await until("the panels are drawn", () => this.page.evaluate(() => window.weft.hasDrawn()));
    }

    /** Lets the managers work, event by event, until something holds. */
    proceed(what, read, accept = Boolean) {
        return until(what, async () => { await this.act({ do: "next" }); return read(); }, accept);
    }

    tab(id) {
        return this.page.click(`#tab-${id}`);
    }

    /** Waits until the camera stands: until then nodes and links move in the window. */
    rest() {
        return until("the camera stands", () => this.page.evaluate(() => !window.weft.view.camera.isAnimated()));
    }

    /** Where a node is in the window. */
    async placeOf(index) {
        await this.rest();
        return this.page.evaluate(node => window.weft.view.viewportPoint(node), index);
    }

    /** Clicks a node on the map, where nothing lies above it. */
    async clickNode(index) {
        await this.page.locator("#graph").click({ position: await this.placeOf(index) });
    }

    /** Clicks a link on the map at a point at which it is the nearest. */
    async clickLink(index) {
        await this.rest();
        const at = await until(`link ${index} can be clicked`, () => this.page.evaluate(link => {
            const { view } = window.weft;
            for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.25, 0.75]) {
                const { x, y } = view.along(link, share);
                if (view.linkAt(x, y) === link) return { x, y };
            }
            return null;
        }, index));
        await this.page.locator("#graph").click({ position: at });
    }

    /** Types a name into one of the fields that suggest nodes, and takes the first suggestion. */
    async choose(field, name) {
        await this.page.fill(field, name);
        await this.page.press(field, "Enter");
    }

    /** Presses a button of the panel. */
    press(label) {
        return this.page.locator("#panel").getByRole("button", { name: label, exact: true }).first().click();
    }

    text(selector) {
        return this.page.locator(selector).innerText();
    }

    async select(kind, index) {
        await this.page.evaluate(([kind, index]) => window.weft.app.select({ kind, index }), [kind, index]);
    }

    /** Runs an action that starts a download, and returns its name and content. */
    async download(run) {
        const [download] = await Promise.all([this.page.waitForEvent("download"), run()]);
        const parts = [];
        for await (const part of await download.createReadStream()) parts.push(part);
        return { name: download.suggestedFilename(), data: Buffer.concat(parts) };
    }
}

/** The titles of the circles of an SVG document, sorted; fails if it is not well-formed. Names H0, S1 … are left out. */
export function svgTitles(page, svg) {
    return page.evaluate(text => {
        const document = new DOMParser().parseFromString(text, "image/svg+xml"), failure = document.querySelector("parsererror");
        if (failure) throw new Error(failure.textContent);
        return [...document.querySelectorAll("circle > title")].map(title => title.textContent).filter(title => !/^[HS]\d+$/.test(title)).sort();
    }, svg);
}

/** The numbers of the legend, by label. */
export async function legend(page) {
    const rows = await page.$$eval("#legend [data-step]", rows => rows.map(row => [row.dataset.step, Number(row.querySelector(".number").textContent.replaceAll(",", ""))]));
    return Object.fromEntries(rows);
}
