// Screenshots of the page for people to look at: node test/shots.mjs FOLDER [FABRIC ...]
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, openPage } from "./browser.mjs";
import { fabrics } from "./fabrics.mjs";
import { serve, TOKEN } from "./mock.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
const [folder, ...names] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const name of names.length ? names : Object.keys(fabrics)) {
    const { mock, url } = await serve(name, dist);
    for (let at = 0; at < 40; at++) mock.advance(50000);
    mock.act(new URLSearchParams({ do: "cut", link: "3" }));
    for (let at = 0; at < 14; at++) mock.advance(50000);
    for (const [width, theme] of [[1400, "light"], [1400, "dark"], [400, "light"]]) {
        const page = await openPage(browser, `${url}/#token=${TOKEN}&tab=change${theme === "dark" ? "&colour=load" : ""}`, { width, height: 860, theme });
        await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) });
        console.log(name, width, theme, `first picture ${Math.round(page.firstPicture)} ms`, page.failures);
        await page.context().close();
    }
    mock.close();
}
await browser.close();
