// Drives the page that `weft live` serves: WEFT=build/weft node test/live.mjs [ARTEFACTS]
//
// The claims of fifteen.mjs, a real deadlock, hostile names, and the exported scenario, which `weft sim` must
// repeat with the same trace hash. Prints TAP. Skipped without Chromium (fails if WEFT_TOOLS_REQUIRED is set).
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { needBrowser, openBrowser, openPage } from "./browser.mjs";
import { claim, finish, holds, same, until } from "./claims.mjs";
import { cabling, cablingNets, multicast, rooms, whatif } from "./compare.mjs";
import { counts } from "./counts.mjs";
import { Driver, svgTitles } from "./driver.mjs";
import { fifteen, machines, scene } from "./fifteen.mjs";
import { startWeft } from "./server.mjs";

const weft = resolve(process.env.WEFT ?? "build/weft"), artefacts = resolve(process.argv[2] ?? "shots");
needBrowser();
const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "weft-web-"));
await mkdir(artefacts, { recursive: true });
const browser = await openBrowser();

/** Starts `weft live` and opens its page. */
function open(file, ...options) {
    return start("live", file, "--paused", "--load", "0.001", "--socket", `${file}.socket`, ...options);
}

/** Starts a weft that prints the URL of its page, and opens the page. */
async function start(...words) {
    const { url, stop } = await startWeft(weft, ...words);
    const page = await openPage(browser, url);
    const driver = new Driver(page, new URL(url).origin, new URLSearchParams(new URL(url).hash.slice(1)).get("token"));
    return { page, driver, close: async () => { await page.context().close(); await stop(); } };
}

async function net(name, ...generate) {
    const file = join(folder, name);
    await writeFile(file, (await run(weft, ["topo", "gen", ...generate])).stdout);
    return file;
}

const shot = (page, name) => page.screenshot({ path: join(artefacts, `live-${name}.png`) });

try {
    const { page, driver, close } = await open(await net("tree", "kary", "4", "2"));
    await fifteen(driver, name => shot(page, name));
    await claim("15: weft sim repeats the session with the same trace hash", async () => {
        await driver.act({ do: "pause" });
        await driver.act({ do: "step", ns: "100000" });
        const scenario = join(folder, "live.weft");
        await writeFile(scenario, await (await fetch(`${driver.origin}/api/v1/export/scenario`)).text());
        const { hash } = await driver.state();
        // Its checks may fail: the session may end in the middle of a change.
        const { stdout } = await run(weft, ["sim", scenario]).catch(error => error);
        holds(stdout.includes(hash), `weft sim prints ${hash}; its last line: ${stdout.trim().split("\n").pop()}`);
    });
    await claim("the page has no errors", () => same(page.failures, []));
    await close();

    await counts({ start, net, run, weft, folder });

    const ring = join(folder, "ring.weft");
    await writeFile(ring, "topology ring switches=6 hosts=2 speed=SDR\nset data_vls 1\nset buffer 1024\n" +
        "sm S0 engine minhop allow_cycles yes\ntraffic uniform size 256 arrivals saturated start 10ms\nrun until settled\nrun 1s\n");
    const deadlock = await open(ring);
    await claim("8: a deadlock of a ring with shortest paths is drawn as a cycle", async () => {
        const found = await until("a deadlock", async () => { await deadlock.driver.act({ do: "step", ns: "5000000" }); return (await deadlock.driver.state()).deadlock; });
        await deadlock.driver.settle();
        const links = await until("the cycle", () => deadlock.page.evaluate(() => window.weft.view.marked("deadlock").links.map(mark => mark.link)), list => list.length > 0);
        same(links, found.hops.map(hop => hop.link), "links of the cycle");
        await shot(deadlock.page, "deadlock");
    });
    await deadlock.close();

    const tree = join(folder, "tree.weft");
    await writeFile(tree, "topology kary 4 3\nsm H0 priority 8\nsm H63 priority 1\ntraffic uniform load 0.3 start settled\nrun until settled\n");
    const demonstration = await open(tree, "--settled");
    await claim("a picture of a change: a tree of three levels, links by load, tables being written", async () => {
        const { driver } = demonstration, { topology, trunks, from } = await scene(driver);
        await driver.act({ do: "step", ns: "60000" });
        await driver.page.selectOption("#colouring", "load");
        await driver.act({ do: "cut", link: trunks.find(link => topology.links.a[link] === topology.nodes.parent[from]) });
        await driver.tab("change");
        await until("tables are written", async () => { await driver.act({ do: "step", ns: "1000" }); return (await driver.state()).waves; },
            waves => waves.some(([, state]) => state === 3) && waves.some(([, state]) => state < 3));
        await driver.settle();
        await until("the panel", () => driver.text("#waves"), text => !text.includes(" 0 confirmed"));
        same(await driver.page.evaluate(() => window.weft.view.overlay.strokes.filter(stroke => stroke.dash).length), 1, "broken lines on the map");
        await shot(demonstration.page, "demonstration");
    });
    await demonstration.close();

    const hypervisors = await open(await net("hypervisors", "clos", "2", "2", "2", "vfs=2"));
    await machines(hypervisors.driver, await scene(hypervisors.driver));
    await shot(hypervisors.page, "machines");
    await claim("the page of machines has no errors", () => same(hypervisors.page.failures, []));
    await hypervisors.close();

    const nets = cablingNets(), [planned, cabled] = ["plan", "cabled"].map(name => join(folder, name));
    await writeFile(planned, nets.plan);
    await writeFile(cabled, nets.actual);
    const plan = await open(cabled, "--plan", planned);
    // The exit status is 1: something differs.
    await cabling(plan.driver, JSON.parse((await run(weft, ["topo", "diff", planned, cabled, "--json"]).catch(error => error)).stdout));
    await shot(plan.page, "cabling");
    await multicast(plan.driver);
    await shot(plan.page, "multicast");
    await claim("the page of cables and groups has no errors", () => same(plan.page.failures, []));
    await plan.close();

    const irregular = await net("irregular", "irregular", "12", "hosts=10");
    await writeFile(irregular, (await readFile(irregular, "utf8")).replace(/"S(\d+)"/g, (_, number) => `"rack0${1 + number % 4}-sw${1 + Math.floor(number / 4)}"`));
    const questions = await open(irregular);
    await rooms(questions.driver);
    await whatif(questions.driver, "dfsssp", async engines =>
        JSON.parse((await run(weft, ["route", irregular, "--compare", engines.join(), "--samples", "20", "--allow-cycles", "--json"])).stdout).engines);
    await shot(questions.page, "whatif");
    await questions.close();

    const fabric = await start("fabric", await net("fabric", "kary", "4", "2"), "--web", "0", "--", "sleep", "1000");
    await claim("weft fabric --web: faults by clicks; nothing of managers and of paused time is offered", async () => {
        const { driver, page } = fabric, { link } = await scene(driver);
        await driver.clickLink(link);
        await driver.press("Cut");
        await until("cut", () => page.evaluate(one => window.weft.store.fabric.links[one].state, link), state => state === 1);
        same((await driver.state()).links.find(([id]) => id === link), [link, 1], "the link in the API");
        same(await page.locator("#play, #tab-managers, #tab-whatif").count(), 0, "controls that the server does not offer");
        same(page.failures, [], "errors of the page");
    });
    await fabric.close();

    const names = ["<script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "';}&amp;]]>"];
    const plain = await run(weft, ["topo", "gen", "ring", "4"]);
    const hostile = join(folder, "hostile");
    await writeFile(hostile, plain.stdout.replaceAll('"S0"', `"${names[0]}"`).replaceAll('"S1"', `"${names[1]}"`).replaceAll('"S2"', `"${names[2]}"`));
    const odd = await open(hostile);
    await claim("names with markup from the fabric are text", async () => {
        const { nodes } = await odd.driver.api("/topology");
        for (const name of names) {
            const index = nodes.name.indexOf(name);
            holds(index >= 0, `the API names ${name}`);
            await odd.driver.select("node", index);
            same(await odd.driver.text("#panel h2"), name, "title of the panel");
        }
        await odd.driver.tab("export");
        const svg = (await odd.driver.download(() => odd.page.click("#export-svg"))).data.toString();
        same(await svgTitles(odd.page, svg), [...names].sort(), "titles of the circles in the SVG");
        same(await odd.page.evaluate(() => [window.broken ?? 0, document.querySelectorAll("body script, img").length]), [0, 1], "nothing ran");
    });
    await odd.close();
} finally {
    await browser.close();
    await rm(folder, { recursive: true });
}
finish();
