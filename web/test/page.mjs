// Drives the page in Chromium against the mock server: node test/page.mjs [PAGE-FOLDER [ARTEFACTS]]
//
// Prints TAP. Skipped without Chromium or playwright-core, or fails if WEFT_TOOLS_REQUIRED is set (make check).
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { needBrowser, openBrowser, openPage } from "./browser.mjs";
import { claim, finish, holds, same, until } from "./claims.mjs";
import { rooms } from "./compare.mjs";
import { Driver, svgTitles } from "./driver.mjs";
import { fifteen } from "./fifteen.mjs";
import { serve, TOKEN } from "./mock.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(process.argv[2] ?? join(here, "../dist")), artefacts = resolve(process.argv[3] ?? join(here, "../dist/shots"));
needBrowser();
await mkdir(artefacts, { recursive: true });
const browser = await openBrowser();

async function open(fabric, options = {}, change = undefined, fragment = "") {
    const { mock, url } = await serve(fabric, dist, 0, change);
    const page = await openPage(browser, `${url}/#${options.anonymous ? "" : `token=${TOKEN}`}${fragment}`, options);
    return { mock, page, driver: new Driver(page, url, TOKEN), close: async () => { await page.context().close(); mock.close(); } };
}

const shot = (page, name) => page.screenshot({ path: join(artefacts, `${name}.png`) });

{
    const { page, driver, close } = await open("tree16");
    await fifteen(driver, name => shot(page, name));
    await claim("the page has no errors, and the policy of the server forbids nothing that it needs", () => same(page.failures, []));
    await close();
}
{
    const { mock, page, close } = await open("ring8");
    await claim("8: a deadlock is drawn as a cycle", async () => {
        const { links } = mock.topology;
        mock.deadlock = { t: 5000, hops: [...Array(8).keys()].map(link => ({ node: links.a[link], port: links.ap[link], link, dir: 0, vl: 0 })) };
        mock.sample();
        await until("the cycle", () => page.evaluate(() => window.weft.view.marked("deadlock").links.length), count => count === 8);
        holds((await page.innerText("#alarm")).includes("8 buffers"), "the alarm");
        await shot(page, "deadlock");
        mock.deadlock = null;
        mock.sample();
        await until("it is gone", () => page.isHidden("#alarm"));
    });
    await close();
}
{
    const names = ["<script>window.broken=1</script>", '";}alert(1)//', "<img src=x onerror=window.broken=1>", "&lt;b&gt;", "]]>&nosuch;\u0001\u001b[2J", "\ud800 half", "--><svg onload=window.broken=1>"];
    const { page, driver, close } = await open("ring8", {}, topology => names.forEach((name, at) => { topology.nodes.name[at] = name; }));
    await claim("names with markup are text, in the page and in the SVG", async () => {
        for (const at of names.keys()) {
            await driver.select("node", at);
            same(await page.locator("#panel h2").evaluate(title => title.textContent), names[at], "title of the panel");
        }
        await driver.tab("export");
        const svg = (await driver.download(() => page.click("#export-svg"))).data.toString();
        holds(!svg.includes("<script") && !svg.includes("<img"), "no markup in the SVG");
        same(await svgTitles(page, svg), names.map(name => name.replace(/[\u0001\u001b\ud800]/g, "\ufffd")).sort(), "titles of the circles");
        same(await page.evaluate(() => [window.broken ?? 0, document.querySelectorAll("body script, img").length]), [0, 1], "nothing ran; one script in the page");
        await shot(page, "names");
    });
    await close();
}
{
    const { mock, page, driver, close } = await open("tree16");
    await claim("keyboard: find, select, cut, restore, help, without a pointer", async () => {
        await page.keyboard.press("/");
        await page.keyboard.type("L1");
        await page.keyboard.press("Enter");
        same(await page.evaluate(() => window.weft.store.fabric.nodes[window.weft.app.selection.index].name), "L1", "node found");
        await page.keyboard.press("]");
        const { index } = await page.evaluate(() => window.weft.app.selection);
        await page.keyboard.press("x");
        await until("cut", async () => (await driver.state()).links, links => links.some(([link, state]) => link === index && state === 1));
        await driver.settle();
        await until("it can be restored", () => page.isEnabled('#panel button[data-key="Restore"]'));
        await page.keyboard.press("r");
        await until("restored", async () => (await driver.state()).links.length, length => length === 0);
        await page.keyboard.press("?");
        await until("help", () => page.isVisible("#help"));
        await shot(page, "help");
        const keys = await page.locator("#help kbd").allTextContents();
        same(keys.filter((key, at) => keys.indexOf(key) < at), [], "keys that are listed twice");
        await page.keyboard.press("Escape");
        await until("no help", () => page.isHidden("#help"));
        const { t } = mock;
        await page.keyboard.press(".");
        await until("a step", () => mock.t, now => now > t);
    });
    await claim("the focus is visible on every control", async () => {
        await page.keyboard.press("Tab");
        const seen = new Set();
        for (let at = 0; at < 60; at++) {
            await page.keyboard.press("Tab");
            const { key, outline, named } = await page.evaluate(() => {
                const one = document.activeElement, style = getComputedStyle(one);
                return { key: one.id || one.textContent, outline: style.outlineStyle !== "none",
                    named: one === document.body || Boolean(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length || one.getAttribute("aria-labelledby")) };
            });
            if (key === "" || seen.has(key)) continue;
            seen.add(key);
            holds(named, `'${key}' has a name`);
            if (key.length < 40) holds(outline, `'${key}' shows the focus`);
        }
        holds(seen.size > 12, "many controls take the focus");
    });
    await close();
}
{
    const { page, driver, close } = await open("tree16", { anonymous: true });
    await claim("without the token the page reads, and an action is refused with the reason", async () => {
        await driver.select("link", 0);
        await driver.press("Cut");
        await until("the reason", () => driver.text("#messages"), text => text.includes("token"));
        same((await driver.state()).links, [], "links");
    });
    await close();
}
{
    const { page, close } = await open("tree324", { width: 400, height: 800, theme: "dark" });
    await claim("a phone's width: nothing is wider than the window; dark as the system asks, light by the switch", async () => {
        holds(await page.evaluate(() => document.documentElement.scrollWidth <= 400), "no horizontal scrolling");
        same(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
        await shot(page, "phone-dark");
        await page.click("#theme");
        same(await page.evaluate(() => document.documentElement.dataset.theme), "light");
        await shot(page, "phone-light");
    });
    await close();
}
{
    const { page, driver, close } = await open("rooms");
    await rooms(driver);
    await shot(page, "rooms");
    await close();
}
for (const name of ["tree5832", "tree11664"]) {
    const { page, close } = await open(name);
    await claim(`${name}: hosts are folded until one zooms in`, async () => {
        const hosts = () => page.evaluate(() => [window.weft.view.unfoldedHosts(), window.weft.store.fabric.hosts]);
        same((await hosts())[0], 0, "hosts drawn");
        await shot(page, `${name}-far`);
        await page.evaluate(() => window.weft.app.select({ kind: "node", index: 3 }, true));
        await until("the picture is complete", () => page.evaluate(() => window.weft.view.isSettled()));
        const [drawn, all] = await hosts();
        holds(drawn > 0 && drawn < all / 4, `${drawn} of ${all} hosts are drawn`);
        await shot(page, `${name}-near`);
    });
    await close();
}
await browser.close();
finish();
