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

export async function openBrowser(drawing = WITHOUT_GL) {
    const { chromium } = await import("playwright-core");
    return chromium.launch({
        executablePath: PROGRAMS.find(existsSync),
        headless: true,
        args: ["--no-sandbox", "--disable-dev-shm-usage", ...drawing],
    });
}

/** Opens the page and waits until it shows the fabric. Errors of the page are collected in `page.failures`. */
export async function openPage(browser, url, { width = 1400, height = 860, theme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
    const page = await context.newPage();
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
