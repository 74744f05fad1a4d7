// Debian's Chromium without a screen, driven by playwright-core.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { skipAll } from "./claims.mjs";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Skips the test if a package of package-lock.json is not installed; make check does not skip. */
export function needPackages(...names) {
    for (const name of names) {
        try {
            createRequire(import.meta.url).resolve(`${name}/package.json`);
        } catch {
            if (process.env.WEFT_TOOLS_REQUIRED) throw new Error(`web/node_modules has no ${name}`);
            skipAll(`web/node_modules has no ${name}: npm ci did not run`);
        }
    }
}

/** Skips the test without Chromium. */
export function needBrowser() {
    needPackages("playwright-core");
    if (PROGRAMS.some(existsSync)) return;
    if (process.env.WEFT_TOOLS_REQUIRED) throw new Error("chromium is not installed");
    skipAll("chromium is not installed");
}

/** How pictures are put together: without GL, which takes less time, or with GL in software, as a browser with a screen does. */
export const WITHOUT_GL = ["--disable-gpu"], SOFTWARE_GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

const PATIENCE = 20000; /* ms until a page that Chromium does not open is asked for again */

/** Chromium. Rarely it opens no page, without an error, and then no other one either: it is started again. */
export class Browser {
    static async open(drawing = WITHOUT_GL) {
        const browser = new Browser();
        browser.drawing = drawing;
        await browser.launch();
        return browser;
    }

    async launch() {
        const { chromium } = await import("playwright-core");
        this.server = await chromium.launch({
            executablePath: PROGRAMS.find(existsSync),
            headless: true,
            args: ["--no-sandbox", "--disable-dev-shm-usage", ...this.drawing],
        });
    }

    close() {
        return this.server.close();
    }

    /** An empty page in a context of its own. */
    async newPage(options) {
        for (let attempt = 1; ; attempt++) {
            const opening = this.server.newContext(options).then(context => context.newPage());
            const late = new Promise(done => { const timer = setTimeout(done, PATIENCE); opening.finally(() => clearTimeout(timer)).catch(() => {}); });
            const page = await Promise.race([opening, late]);
            if (page) return page;
            if (attempt === 3) throw new Error("Chromium opens no page");
            console.log("# Chromium opens no page, and is started again");
            opening.catch(() => {});
            this.close().catch(() => {});
            await this.launch();
        }
    }
}

/** Opens the page and waits until it shows the fabric. Errors of the page are collected in `page.failures`. */
export async function openPage(browser, url, { width = 1400, height = 860, theme = "light" } = {}) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
    page.setDefaultTimeout(120000);
    page.failures = [];
    page.on("pageerror", error => page.failures.push(String(error)));
    page.on("console", message => { if (message.type() === "error") page.failures.push(message.text()); });
    const start = performance.now();
    await page.goto(url);
    await page.waitForSelector('html[data-ready="yes"]', { state: "attached", timeout: 120000 })
        .catch(error => { throw new Error(`${error.message}\n${page.failures.join("\n")}`); });
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    page.firstPicture = performance.now() - start;
    return page;
}
