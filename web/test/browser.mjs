// Debian's Chromium without a screen and with software GL, driven by playwright-core.
import { existsSync } from "node:fs";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function findBrowser() {
    return PROGRAMS.find(existsSync);
}

export async function openBrowser() {
    const { chromium } = await import("playwright-core");
    return chromium.launch({
        executablePath: findBrowser(),
        headless: true,
        args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
    });
}

/** Opens the page and waits until it shows the fabric. Errors of the page are collected in `page.failures`. */
export async function openPage(browser, url, { width = 1400, height = 860, theme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
    const page = await context.newPage();
    page.failures = [];
    page.on("pageerror", error => page.failures.push(String(error)));
    page.on("console", message => { if (message.type() === "error") page.failures.push(message.text()); });
    const start = performance.now();
    await page.goto(url);
    await page.waitForSelector('html[data-ready="yes"]', { state: "attached", timeout: 20000 })
        .catch(error => { throw new Error(`${error.message}\n${page.failures.join("\n")}`); });
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    page.firstPicture = performance.now() - start;
    return page;
}
