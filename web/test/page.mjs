// The page as a document: keyboard, focus, token, a phone's width, large fabrics: WEFT=build/weft node test/page.mjs [ARTEFACTS]
//
// Drives the page that `weft live` serves. Prints TAP. Skipped without Chromium or playwright-core, or fails if
// WEFT_TOOLS_REQUIRED is set (make check).
import { needBrowser } from "./browser.mjs";
import { claim, finish, holds, same, until } from "./claims.mjs";
import { Workplace } from "./server.mjs";

needBrowser();
const place = await Workplace.make(process.argv[2] ?? "shots");
try {
    const tree = await place.net("tree", "kary", "4", "2");
    {
        const { page, driver, close } = await place.open(tree);
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
            await driver.proceed("restored", async () => (await driver.state()).links.length, length => length === 0);
            await page.keyboard.press("?");
            await until("help", () => page.isVisible("#help"));
            await place.shot(page, "help");
            const keys = await page.locator("#help kbd").allTextContents();
            same(keys.filter((key, at) => keys.indexOf(key) < at), [], "keys that are listed twice");
            await page.keyboard.press("Escape");
            await until("no help", () => page.isHidden("#help"));
            const { t } = await driver.state();
            await page.keyboard.press(".");
            await until("a step", async () => (await driver.state()).t, now => now > t);
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
        await claim("a selected link that is cut is red, and wider than before; ≥ 90 % has another colour", async () => {
            const trunk = await page.evaluate(() => { const { nodes, links } = window.weft.store.fabric; return links.findIndex(one => nodes[one.a].kind === "switch" && nodes[one.b].kind === "switch"); });
            const versions = async () => (await driver.api("/tables/versions")).versions.length, before = await versions();
            await driver.select("link", trunk);
            await driver.act({ do: "cut", link: trunk });
            await until("a broken line", () => page.evaluate(() => window.weft.view.overlay.strokes.some(stroke => stroke.dash)));
            const [bad, full, stroke] = await page.evaluate(() => [window.weft.view.palette.get("bad"), window.weft.view.palette.get("ramp-5"),
                window.weft.view.overlay.strokes.find(one => one.dash)]);
            same(stroke.colour, bad, "colour of the selected link");
            holds(stroke.width > 3 && full !== bad, "wide, and the colour of no load");
            await driver.select("node", await page.evaluate(link => window.weft.store.fabric.links[link].a, trunk));
            same(await page.evaluate(() => { const { strokes } = window.weft.view.overlay; return strokes.filter(one => one.from.x === strokes.find(two => two.dash).from.x && one.to.x === strokes.find(two => two.dash).to.x).length; }), 1, "lines over it if its end is selected");
            await driver.proceed("new tables", versions, count => count > before);
            await driver.settle();
            await driver.tab("tables");
            await until("a red line above the comparison of the tables", () => page.evaluate(() => {
                const { strokes } = window.weft.view.overlay;
                return strokes.some(stroke => stroke.arrow) && strokes.at(-1).dash;
            }));
            holds(await page.evaluate(() => window.weft.view.overlay.strokes.filter(stroke => stroke.arrow).every(stroke => stroke.shift > 0)),
                "each direction of a link has a place of its own");
            await page.screenshot({ path: `${process.argv[2] ?? "shots"}/tables-directions.png` });
            await driver.tab("place");
            await driver.act({ do: "restore", link: trunk });
        });
        await claim("a name that the map shows is not drawn above the selected node again", async () => {
            for (const node of [0, 16, 23]) {
                await driver.select("node", node);
                same(await page.evaluate(index => window.weft.view.overlay.rings.filter(ring => ring.label).length + Number(window.weft.view.painted.labels.has(index)), node), 1, "names of the node");
            }
        });
        await claim("buttons keep their text under the pointer", async () => {
            await driver.tab("whatif");
            const theme = () => page.click("#theme");
            for (let round = 0; round < 2; round++, await theme())
                for (const button of ["#play", "#step", "#panel button.main", "#tab-place", "#theme"]) {
                    await page.hover(button);
                    const contrast = await page.$eval(button, element => {
                        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true }), style = getComputedStyle(element);
                        const light = colour => {
                            canvas.fillStyle = colour;
                            canvas.fillRect(0, 0, 1, 1);
                            const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map(value => value / 255).map(value => value <= 0.04 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
                            return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
                        };
                        const [text, back] = [light(style.color), light(style.backgroundColor)];
                        return Math.max(text, back) / Math.min(text, back);
                    });
                    holds(contrast >= 4.5, `${button}: contrast ${contrast}`);
                }
        });
        await claim("without a master the page says how long the wait is, and runs to the take-over", async () => {
            const master = (await driver.state()).managers.find(one => one.state === "master");
            await driver.act({ do: "kill-manager", manager: master.id });
            const text = await until("the wait", () => driver.text("#work span"), words => words.includes("No master"));
            holds(/within 100 ms of virtual time \(.+ at this pace\)/.test(text), text);
            same(await page.evaluate(() => {
                const { view, store } = window.weft, map = document.getElementById("graph").getBoundingClientRect(), notice = document.getElementById("work").getBoundingClientRect();
                return store.fabric.nodes.filter(node => {
                    const { x, y } = view.viewportPoint(node.index);
                    return map.x + x > notice.left && map.x + x < notice.right && map.y + y > notice.top && map.y + y < notice.bottom;
                }).map(node => node.name);
            }), [], "nodes below the notice");
            await driver.tab("managers");
            const buttons = state => page.$$eval(`#managers .${state} button`, list => list.filter(one => !one.disabled).map(one => one.textContent).filter(text => /Kill|Stop|Start/.test(text)));
            same([await buttons("dead"), await buttons("standby")], [["Start"], ["Kill", "Stop"]], "what a dead manager and a standby can do");
            same(await page.$$eval("#managers .dead dt", list => list.map(one => one.textContent)), ["Node", "Priority", "Engine"], "what is known of a dead manager");
            holds(!(await driver.text("#managers .standby")).includes("not settled"), "a standby is not called unsettled");
            await place.shot(page, "no-master");
            await until("another master", async () => { await page.evaluate(() => document.querySelector("#work:not([hidden]) button")?.click()); return (await driver.state()).managers; },
                list => list.some(one => one.state === "master"));
            await until("nothing is waited for", () => page.isHidden("#work"));
        });
        await close();
    }
    {
        const { page, driver, close } = await place.open(tree, [], { anonymous: true });
        await claim("without the token the page reads, and an action is refused with the reason", async () => {
            await driver.select("link", 0);
            await driver.press("Cut");
            await until("the reason", () => driver.text("#messages"), text => text.includes("token"));
            same((await driver.state()).links, [], "links");
        });
        await close();
    }
    {
        const { page, close } = await place.open(await place.net("tree324", "fattree", "324"), [], { width: 400, height: 800, theme: "dark" });
        await claim("a phone's width: nothing is wider than the window; dark as the system asks, light by the switch", async () => {
            holds(await page.evaluate(() => document.documentElement.scrollWidth <= 400), "no horizontal scrolling");
            same(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
            await place.shot(page, "phone-dark");
            await page.click("#theme");
            same(await page.evaluate(() => document.documentElement.dataset.theme), "light");
            await place.shot(page, "phone-light");
        });
        await close();
    }
    for (const size of ["5832", "11664"]) {
        const { page, close } = await place.open(await place.net(`tree${size}`, "fattree", size), [], { early: true });
        await claim(`${size} hosts are folded until one zooms in`, async () => {
            const hosts = () => page.evaluate(() => [window.weft.view.unfoldedHosts(), window.weft.store.fabric.hosts]);
            same((await hosts())[0], 0, "hosts drawn");
            await place.shot(page, `tree${size}-far`);
            await page.evaluate(() => window.weft.app.select({ kind: "node", index: 3 }, true));
            await until("the picture is complete", () => page.evaluate(() => window.weft.view.isSettled()));
            const [drawn, all] = await hosts();
            holds(drawn > 0 && drawn < all / 4, `${drawn} of ${all} hosts are drawn`);
            await place.shot(page, `tree${size}-near`);
        });
        await close();
    }
} finally {
    await place.clear();
}
finish();
