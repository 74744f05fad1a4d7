// Drives the page that `weft live` serves: WEFT=build/weft node test/live.mjs [ARTEFACTS]
//
// The claims of fifteen.mjs, counts.mjs and compare.mjs, hostile names, and the exported scenario, which `weft sim` must
// repeat with the same trace hash. Prints TAP. Skipped without Chromium (fails if WEFT_TOOLS_REQUIRED is set).
import { readFile } from "node:fs/promises";
import { needBrowser } from "./browser.mjs";
import { claim, finish, holds, same, until } from "./claims.mjs";
import { cabling, cablingNets, multicast, rooms, whatif } from "./compare.mjs";
import { counts } from "./counts.mjs";
import { svgTitles } from "./driver.mjs";
import { fifteen, machines, scene } from "./fifteen.mjs";
import { Workplace } from "./server.mjs";

needBrowser();
const place = await Workplace.make(process.argv[2] ?? "shots"), { weft } = place;
const shot = (page, name) => place.shot(page, `live-${name}`);

try {
    const { page, driver, close } = await place.open(await place.net("tree", "kary", "4", "2"));
    await fifteen(driver, name => shot(page, name));
    await claim("15: weft sim repeats the session with the same trace hash", async () => {
        await driver.act({ do: "pause" });
        await driver.act({ do: "step", ns: "100000" });
        const scenario = await place.write("live.weft", await driver.exported("scenario"));
        const { hash } = await driver.state();
        // Its checks may fail: the session may end in the middle of a change.
        const { stdout } = await place.run(weft, ["sim", scenario]).catch(error => error);
        holds(stdout.includes(hash), `weft sim prints ${hash}; its last line: ${stdout.trim().split("\n").pop()}`);
    });
    await claim("the page has no errors", () => same(page.failures, []));
    await close();

    await counts(place);

    const tree = await place.write("tree.weft", "topology kary 4 3\nsm H0 priority 8\nsm H63 priority 1\ntraffic uniform load 0.3 start settled\nrun until settled\n");
    const demonstration = await place.open(tree, ["--settled"]);
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

    const hypervisors = await place.open(await place.net("hypervisors", "clos", "2", "2", "2", "vfs=2"));
    await machines(hypervisors.driver, await scene(hypervisors.driver));
    await shot(hypervisors.page, "machines");
    await claim("the page of machines has no errors", () => same(hypervisors.page.failures, []));
    await hypervisors.close();

    const nets = cablingNets(), planned = await place.write("plan", nets.plan), cabled = await place.write("cabled", nets.actual);
    const plan = await place.open(cabled, ["--plan", planned]);
    // The exit status is 1: something differs.
    await cabling(plan.driver, JSON.parse((await place.run(weft, ["topo", "diff", planned, cabled, "--json"]).catch(error => error)).stdout));
    await shot(plan.page, "cabling");
    await multicast(plan.driver);
    await shot(plan.page, "multicast");
    await claim("the page of cables and groups has no errors", () => same(plan.page.failures, []));
    await plan.close();

    const irregular = await place.net("irregular", "irregular", "12", "hosts=10");
    await place.write("irregular", (await readFile(irregular, "utf8")).replace(/"S(\d+)"/g, (_, number) => `"rack0${1 + number % 4}-sw${1 + Math.floor(number / 4)}"`));
    const questions = await place.open(irregular);
    await rooms(questions.driver);
    await whatif(questions.driver, "dfsssp", async engines =>
        JSON.parse((await place.run(weft, ["route", irregular, "--compare", engines.join(), "--samples", "20", "--allow-cycles", "--json"])).stdout).engines);
    await shot(questions.page, "whatif");
    await questions.close();

    const fabric = await place.start(["fabric", await place.net("fabric", "kary", "4", "2"), "--web", "0", "--", "sleep", "1000"]);
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

    const names = ["<script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "';}&amp;]]>&nosuch;", "--><svg onload=window.broken=1>"];
    const plain = await place.run(weft, ["topo", "gen", "ring", "4"]);
    const hostile = await place.write("hostile", names.reduce((text, name, at) => text.replaceAll(`"S${at}"`, `"${name}"`), plain.stdout));
    const odd = await place.open(hostile);
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
        same(await odd.page.evaluate(() => [window.broken ?? 0, document.querySelectorAll("body script, img").length]), [0, 1], "nothing ran; one script in the page");
        await shot(odd.page, "names");
    });
    await odd.close();
} finally {
    await place.clear();
}
finish();
