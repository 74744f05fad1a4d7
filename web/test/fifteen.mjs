// The fifteen things that one does on the page, as claims. Each compares the page with the API.
import { claim, holds, same, until } from "./claims.mjs";
import { legend } from "./driver.mjs";

const STEP = 1000; /* ns: shorter than a wave */
const decode = text => Buffer.from(text, "base64");
const stateOf = (pairs, id) => pairs.find(([one]) => one === id)?.[1] ?? 0;

/** What the claims act on: a trunk link, two distant hosts, and a switch without managers. */
export async function scene(driver) {
    const topology = await driver.api("/topology"), { managers } = await driver.state();
    const { kind, parent } = topology.nodes, { a, b } = topology.links;
    const hosts = kind.flatMap((one, id) => one === 1 ? [id] : []), busy = new Set(managers.map(one => parent[one.node]));
    const trunks = a.flatMap((from, link) => kind[from] === 2 && kind[b[link]] === 2 ? [link] : []);
    const victim = kind.findIndex((one, id) => one === 2 && !busy.has(id));
    return { topology, hosts, trunks, link: trunks.find(one => a[one] !== victim && b[one] !== victim), from: hosts[0], to: hosts[hosts.length - 1], victim };
}

async function linksAndSwitches(driver, { topology, link, victim }) {
    const { a, b } = topology.links, leads = a.findIndex((from, one) => from === victim || b[one] === victim);
    const linkState = async () => stateOf((await driver.state()).links, link);
    const nodeState = async () => stateOf((await driver.state()).nodes, victim);
    await claim("1: a click on a link selects it", async () => {
        await driver.page.keyboard.press("Escape");
        await driver.clickLink(link);
        await until("selected", () => driver.page.evaluate(() => window.weft.app.selection), one => one?.kind === "link" && one.index === link);
    });
    await claim("1: cut and restore a link", async () => {
        await driver.press("Cut");
        await until("cut", linkState, state => state === 1);
        await driver.settle();
        same(await driver.page.evaluate(one => window.weft.store.fabric.links[one].state, link), 1, "state in the page");
        same(await driver.page.evaluate(() => window.weft.view.overlay.strokes.filter(stroke => stroke.dash).length), 1, "broken lines on the map");
        await driver.press("Restore");
        await driver.proceed("restored", linkState, state => state === 0);
    });
    await claim("1: a lossy link, and a link that flaps", async () => {
        await driver.select("link", link);
        await driver.settle();
        await driver.page.fill('#panel input[type="number"]', "25");
        await driver.press("Make lossy");
        await until("lossy", linkState, state => state === 4);
        await driver.settle();
        await driver.press("Make lossless");
        await until("lossless", linkState, state => state !== 4);
        const before = (await driver.state()).events.length;
        await driver.press("Flap");
        await until("the log has the flap", async () => (await driver.state()).events.length, events => events > before);
    });
    await claim("1: kill and restore a switch, mute and heal its agent", async () => {
        await driver.select("node", victim);
        for (const [button, wanted] of [["Mute agent", 2], ["Heal agent", 0], ["Kill", 1], ["Restore", 0]]) {
            await driver.settle();
            await driver.press(button);
            await driver.proceed(`${button}: state ${wanted}`, nodeState, state => state === wanted);
            if (button !== "Kill") continue;
            await driver.settle();
            await driver.select("link", leads);
            await until("its link says why it is down", () => driver.text("#panel"), text => text.includes(`down: ${topology.nodes.name[victim]} is down`));
            await driver.select("node", victim);
        }
    });
}

async function changes(driver, { topology, link }) {
    await claim("3: a change: waves by switch, phases and losses are those of the API", async () => {
        await driver.tab("change");
        await driver.proceed("no change is under way", async () => (await driver.state()).changes, list => list.every(one => one.end !== null));
        const known = Math.max(...(await driver.state()).changes.map(one => one.id));
        await driver.act({ do: "cut", link });
        const seen = new Set();
        for (let compared = "", over = false, busy = false; !over;) {
            // A switch waits up to a second before it sends another trap: only the change itself goes in small steps.
            await driver.act(busy ? { do: "step", ns: String(STEP) } : { do: "next" });
            const state = await until("a pause", () => driver.state(), one => !one.running);
            busy = state.changes.some(one => one.end === null);
            const counts = [1, 2, 3].map(wave => state.waves.filter(([, one]) => one === wave).length);
            const last = state.changes[state.changes.length - 1];
            over = last.id > known && last.end !== null && !state.waves.length;
            if (counts.join() === compared) continue;
            compared = counts.join();
            state.waves.forEach(([, wave]) => seen.add(wave));
            await driver.settle();
            await until("the counts of the API", () => driver.page.$$eval("#waves [data-wave]", rows => rows.map(row => Number(row.textContent.replace(/[^0-9]/g, "")))),
                values => values.join() === compared);
        }
        holds(seen.has(3), "tables were confirmed");
        const state = await driver.state(), lost = Object.entries(state.traffic?.lost ?? {});
        const wanted = lost.length ? lost.map(([cause, packets]) => `${cause}: ${packets.toLocaleString("en-US")}`).join(", ") : "none";
        await until("the losses of the API", () => driver.text("#lost"), text => text === wanted);
        await until("all phases", () => driver.text("#change"), text => ["Discovery", "Computation", "Waves"].every(phase => text.includes(phase)));
    });
    await claim("13: the problems are those of the API, and a click shows the place", async () => {
        await driver.tab("problems");
        const { problems } = await until("a problem", () => driver.state(), state => state.problems.length > 0);
        await driver.settle();
        await until("as many rows", () => driver.page.locator("#problems [data-problem]").count(), count => count === problems.length);
        await driver.page.locator("#problems button").first().click();
        const selection = await driver.page.evaluate(() => window.weft.app.selection);
        const wanted = problems.find(one => one.link !== null || one.node !== null);
        same(selection, wanted.link !== null ? { kind: "link", index: wanted.link } : { kind: "node", index: wanted.node }, "selection");
        await driver.act({ do: "restore", link });
    });
    await claim("7: two versions of the tables, compared", async () => {
        await driver.proceed("two versions", async () => (await driver.api("/tables/versions")).versions, versions => versions.length > 1);
        await driver.tab("tables");
        await until("the comparison", () => driver.page.locator("#tables-entries").count());
        const [a, b] = await Promise.all([driver.page.inputValue("#tables-a"), driver.page.inputValue("#tables-b")]);
        const difference = await driver.api(`/tables/compare?a=${a}&b=${b}`);
        same(await driver.text("#tables-entries"), difference.entries.toLocaleString("en-US"), "entries");
        same(difference.switches.reduce((sum, [, entries]) => sum + entries, 0), difference.entries, "entries of all switches");
        const moved = difference.links.map(([one, direction]) => `${one} ${topology.links[direction === 0 ? "a" : "b"][one]}`).sort();
        const marked = await driver.page.evaluate(() => window.weft.view.marked("tables").links.map(mark => `${mark.link} ${mark.from}`).sort());
        same(marked, moved, "links marked on the map, with their directions");
    });
}

async function pathAndColours(driver, { topology, from, to }) {
    await claim("4: the path between two hosts is that of the API", async () => {
        await driver.tab("path");
        await driver.choose("#path-from", topology.nodes.name[from]);
        await driver.choose("#path-to", topology.nodes.name[to]);
        const path = await driver.api(`/path?from=${from}&to=${to}`);
        await until("the hops", () => driver.page.locator("#path tbody tr").count(), count => count === path.hops.length);
        const marked = await driver.page.evaluate(() => window.weft.view.marked("path").links.map(mark => mark.link));
        same(marked, path.hops.map(hop => hop.link), "links marked on the map");
        holds((await driver.text("#path")).includes(`SL\n${path.sl}`), "the SL is shown");
    });
    await claim("5: links are coloured by load, waiting, errors and VL; the legend counts them", async () => {
        await driver.settle();
        const state = await driver.state(), load = decode(state.load);
        const down = new Set(state.links.filter(([, one]) => one === 1 || one === 2).map(([id]) => id));
        const idle = topology.links.a.filter((_, link) => !down.has(link) && [0, 1].every(way => [0, 255].includes(load[2 * link + way]))).length;
        for (const colouring of ["load", "wait", "errors", "vl", "state"]) {
            await driver.page.selectOption("#colouring", colouring);
            const rows = await legend(driver.page);
            same(Object.values(rows).reduce((sum, one) => sum + one, 0), topology.links.a.length, `links in the legend of ${colouring}`);
            same(rows.down, down.size, "links down");
            if (colouring === "load") same(rows.idle, idle, "idle links");
        }
    });
}

async function time(driver) {
    await claim("6: run, pause, step and pace", async () => {
        const before = (await driver.state()).t;
        await driver.page.click("#step");
        await until("a step", async () => (await driver.state()).t, t => t > before);
        await driver.page.click("#play");
        await until("it runs", async () => (await driver.state()).running);
        await until("the page knows", () => driver.text("#play"), text => text === "Pause");
        await driver.page.click("#play");
        await until("it is paused", async () => (await driver.state()).running, running => !running);
        await driver.page.focus("#pace");
        await driver.page.keyboard.press("ArrowLeft");
        await until("the pace", async () => (await driver.state()).pace, pace => pace < 0.001);
    });
    await claim("6: scrub back: the page shows the sample that the API keeps", async () => {
        await driver.settle();
        const history = await driver.api("/history");
        const t = history.t[Math.floor(history.t.length / 2)];
        await driver.page.evaluate(value => { const scrub = document.getElementById("scrub"); scrub.value = value; scrub.dispatchEvent(new Event("input")); }, t);
        const wanted = await driver.api(`/history/at?t=${t}`);
        await until("the past", () => driver.page.evaluate(() => window.weft.store.past ? window.weft.store.tick.t : -1), shown => shown === wanted.t);
        await driver.page.click("#present");
        await until("the present", () => driver.page.evaluate(() => window.weft.store.past), past => !past);
    });
    await claim("6: replay by seed up to a moment", async () => {
        const { t } = await driver.state(), target = Math.floor(t / 2);
        const history = await driver.api("/history");
        const sample = history.t.filter(one => one <= target).pop() ?? 0;
        await driver.page.evaluate(value => { const scrub = document.getElementById("scrub"); scrub.value = value; scrub.dispatchEvent(new Event("input")); }, sample);
        await until("the past", () => driver.page.evaluate(() => window.weft.store.past));
        const { hash } = await driver.api(`/history/at?t=${sample}`);
        await driver.page.click("#seek");
        const state = await until("replayed", () => driver.state(), one => one.t === sample && !one.running);
        same(state.hash, hash, "trace hash of the replay");
        await until("the page follows", () => driver.page.evaluate(() => window.weft.store.tick.t), shown => shown === sample);
    });
}

async function managers(driver) {
    await claim("2: the standby takes over from a master that is killed", async () => {
        await driver.tab("managers");
        const before = (await driver.state()).managers.find(one => one.state === "master");
        await driver.page.locator(`#managers section[aria-label="Manager ${before.name}"]`).getByRole("button", { name: "Kill" }).click();
        await driver.proceed("another master", async () => (await driver.state()).managers,
            list => list.some(one => one.state === "master" && one.id !== before.id));
        await driver.settle();
        const states = (await driver.state()).managers.map(one => one.state);
        await until("the states of the API", () => driver.page.$$eval("#managers .badge", badges => badges.map(badge => badge.textContent)), shown => shown.join() === states.join());
    });
}

export async function machines(driver, { topology }) {
    await claim("10: a machine is started, moved by dragging, and stopped", async () => {
        await driver.tab("machines");
        const { hypervisors } = await driver.state(), machine = async () => (await driver.state()).vms.find(one => one.name === "web1");
        await driver.page.fill("#machine-name", "web1");
        await driver.page.selectOption("#machine-node", String(hypervisors[0]));
        await driver.press("Start");
        await driver.proceed("it runs", async () => machine(), one => one?.state === "running");
        await driver.settle();
        const target = await driver.placeOf(hypervisors[2]);
        const chip = await until("the machine in the list", () => driver.page.locator('[data-machine="web1"] .chip').boundingBox());
        const graph = await driver.page.locator("#graph").boundingBox();
        await driver.page.mouse.move(chip.x + chip.width / 2, chip.y + chip.height / 2);
        await driver.page.mouse.down();
        await driver.page.mouse.move(graph.x + target.x, graph.y + target.y, { steps: 4 });
        await driver.page.mouse.up();
        const moved = await driver.proceed("it moved", async () => machine(), one => one?.moves === 1 && one.state === "running");
        same(topology.nodes.parent[moved.node], topology.nodes.parent[hypervisors[2]], "the switch of the hypervisor");
        await driver.settle();
        await until("its SMPs", () => driver.text('[data-machine="web1"]'), text => text.includes(`${moved.smps} for`));
        await driver.page.locator('[data-machine="web1"]').getByRole("button", { name: "Stop" }).click();
        await driver.proceed("it is stopped", async () => machine(), one => !one || one.state === "stopped");
    });
}

/** Claims for what the server offers of the rest. */
async function others(driver, { hosts, from, to, topology }, capabilities) {
    if (capabilities.includes("whatif")) await claim("9: another engine beside the present one", async () => {
        await driver.tab("whatif");
        await driver.page.selectOption("#whatif-engine", "minhop");
        await driver.press("Compute");
        await until("the answer", () => driver.page.locator("#whatif tbody tr").count(), rows => rows === 8);
        await until("an engine to apply", () => driver.page.getByRole("button", { name: "Apply minhop" }).count());
    });
    if (capabilities.includes("vms")) await machines(driver, { topology });
    if (capabilities.includes("partitions")) await claim("11: a partition is painted, and a forbidden pair is refused", async () => {
        await driver.tab("partitions");
        await until("the list", () => driver.page.locator("#partitions [data-pkey]").count());
        await driver.page.evaluate(nodes => nodes.forEach(index => window.weft.app.select({ kind: "node", index })), hosts.slice(0, 2));
        await until("two hosts", () => driver.text("#partition-members"), text => text.startsWith("2 hosts"));
        await driver.page.fill("#partition-name", "blue");
        await driver.page.fill("#partition-key", "0x0022");
        await driver.press("Apply");
        await driver.proceed("written", async () => (await driver.api("/partitions")).partitions, list => list.some(one => one.pkey === 0x22 && one.full.length === 2));
        await driver.press("Try a pair of hosts");
        await driver.choose("#path-from", topology.nodes.name[from]);
        await driver.choose("#path-to", topology.nodes.name[to]);
        const { allowed } = await driver.api(`/path?from=${from}&to=${to}`);
        await until("the verdict", () => driver.text("#path"), text => text.includes(allowed ? "shared" : "none in common"));
    });
    if (capabilities.includes("groups")) await claim("12: the tree of a multicast group", async () => {
        const { groups } = await driver.api("/groups");
        await driver.tab("groups");
        await until("the list", () => driver.page.locator("#groups [data-mlid]").count(), count => count === groups.length);
        if (!groups.length) return;
        await driver.page.locator("#groups").getByRole("button", { name: "Show tree" }).first().click();
        same((await driver.page.evaluate(() => window.weft.view.marked("group").links.map(mark => mark.link))).length, groups[0].links.length, "links of the tree");
    });
    if (capabilities.includes("cabling")) await claim("14: differences from the plan of the cables", async () => {
        await driver.tab("cabling");
        const { differences } = await driver.api("/cabling");
        await until("the list", () => driver.page.locator("#cabling [data-difference]").count(), count => count === differences.length);
    });
}

async function exports(driver, { topology, link }) {
    await driver.act({ do: "pause" });
    await claim("15: SVG and PNG of the map", async () => {
        await driver.tab("export");
        const svg = await driver.download(() => driver.page.click("#export-svg"));
        const text = svg.data.toString();
        holds(text.startsWith("<svg"), "an SVG document");
        holds((text.match(/<circle/g) ?? []).length >= topology.nodes.kind.filter(one => one === 2).length, "all switches are in it");
        const png = await driver.download(() => driver.page.click("#export-png"));
        same(png.data.subarray(1, 4).toString(), "PNG", "the type of the image");
        holds(png.data.length > 5000, "the image is not empty");
    });
    await claim("15: scenario and packets are the files of the API", async () => {
        for (const name of ["scenario", "pcap"]) {
            const file = await driver.download(() => driver.page.click(`[data-export="${name}"]`));
            const wanted = await driver.exported(name);
            holds(file.data.equals(wanted), `${name}: ${file.data.length} bytes, the API has ${wanted.length}`);
        }
    });
    await claim("15: a link to this view shows the same, without the token", async () => {
        await driver.page.selectOption("#colouring", "load");
        await driver.select("link", link);
        await driver.tab("export");
        const address = await driver.page.inputValue("#view-link");
        holds(!address.includes(driver.token), "no token in the link");
        const other = await driver.page.context().newPage();
        await other.goto(address);
        await other.waitForSelector('html[data-ready="yes"]', { state: "attached" });
        same(await other.evaluate(() => [window.weft.app.selection, window.weft.view.colouring]), [{ kind: "link", index: link }, "load"], "selection and colours");
        await other.close();
        await driver.page.selectOption("#colouring", "state");
    });
}

/** All claims that a server with these capabilities can meet. `deadlocked` is called where a deadlock is expected. */
export async function fifteen(driver, shots) {
    const { capabilities } = await driver.api("/info");
    await driver.act({ do: "pause" });
    const things = await scene(driver);
    await linksAndSwitches(driver, things);
    await changes(driver, things);
    await shots("change");
    await pathAndColours(driver, things);
    await driver.tab("path");
    await shots("path");
    await time(driver);
    await others(driver, things, capabilities);
    await exports(driver, things);
    await managers(driver);
    await shots("managers");
}
