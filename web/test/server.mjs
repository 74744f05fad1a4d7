// Starts a weft that serves a page, and opens the page.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { until } from "./claims.mjs";
import { openBrowser, openPage } from "./browser.mjs";
import { Driver } from "./driver.mjs";

/** Returns the URL that weft prints, with its token, and a function that stops it. */
export async function startWeft(weft, ...words) {
    const server = spawn(weft, words, { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise(done => server.on("exit", done));
    const url = await new Promise((found, failed) => {
        for (const output of [server.stdout, server.stderr])
            createInterface(output).on("line", line => { const match = /http:\/\/\S+/.exec(line); if (match) found(match[0]); });
        server.on("exit", code => failed(new Error(`weft ${words[0]} ended with ${code}`)));
    });
    return { url, stop: () => { server.kill(); return ended; } };
}

/** What a test of the page works with: weft, a browser, a folder for its files, and one for screenshots. */
export class Workplace {
    static async make(artefacts = "", drawing = undefined) {
        const place = new Workplace();
        place.weft = resolve(process.env.WEFT ?? "build/weft");
        place.artefacts = artefacts;
        if (artefacts) await mkdir(artefacts, { recursive: true });
        place.folder = await mkdtemp(join(tmpdir(), "weft-web-"));
        place.browser = await openBrowser(drawing);
        return place;
    }

    async clear() {
        await this.browser.close();
        await rm(this.folder, { recursive: true });
    }

    run(program, words, options = {}) {
        return promisify(execFile)(program, words, { maxBuffer: 1 << 28, ...options });
    }

    file(name) {
        return join(this.folder, name);
    }

    async write(name, text) {
        await writeFile(this.file(name), text);
        return this.file(name);
    }

    /** Writes a network that `weft topo gen` makes. */
    async net(name, ...generate) {
        return this.write(name, (await this.run(this.weft, ["topo", "gen", ...generate])).stdout);
    }

    /** Starts a weft that prints the URL of its page, and opens the page; without its token if `anonymous`, while the subnet comes up if `early`. */
    async start(words, { anonymous = false, early = false, ...window } = {}) {
        const { url, stop } = await startWeft(this.weft, ...words), token = new URLSearchParams(new URL(url).hash.slice(1)).get("token");
        const page = await openPage(this.browser, anonymous ? new URL(url).origin : url, window), driver = new Driver(page, new URL(url).origin, token);
        if (!early) await until("the subnet is up", () => driver.state(), state => state.work !== "start");
        return { page, driver, close: async () => { await page.context().close(); await stop(); } };
    }

    /** Starts `weft live`, which waits, and opens its page. */
    open(file, options = [], window = {}) {
        return this.start(["live", file, "--paused", "--load", "0.001", "--socket", `${file}.socket`, ...options], window);
    }

    shot(page, name) {
        return page.screenshot({ path: join(this.artefacts, `${name}.png`) });
    }
}
