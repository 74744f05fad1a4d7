// Claims that compare the page of `weft live` with what other commands of weft print about the same fabric: cables with
// `weft topo diff`, engines with `weft route --compare`, and multicast trees with the cables themselves.
import { claim, holds, same, until } from "./claims.mjs";
import { legend } from "./driver.mjs";

const MGID = "ff12:401b:ffff::77";

/** The text of a net: "L0 3 S0 1" is a cable from port 3 of L0 to port 1 of S0. */
function netOf(switches, hosts, cables) {
    const lines = name => cables.map(cable => cable.split(" ")).filter(([from]) => from === name).map(([, port, to, other]) => `[${port}] "${to}"[${other}]`);
    return [...switches.flatMap(name => [`Switch 12 "${name}"`, ...lines(name), ""]), ...hosts.flatMap(name => [`Hca 1 "${name}"`, ...lines(name), ""])].join("\n");
}

/** Four leaves with two hosts each below two spines, as planned and as cabled. */
export function cablingNets() {
    const leaves = ["L0", "L1", "L2", "L3"], hosts = leaves.flatMap((_, at) => [`H${2 * at}`, `H${2 * at + 1}`]), switches = [...leaves, "S0", "S1"];
    const plan = leaves.flatMap((leaf, at) => [`H${2 * at} 1 ${leaf} 1`, `H${2 * at + 1} 1 ${leaf} 2`, `${leaf} 3 S0 ${at + 1}`, `${leaf} 4 S1 ${at + 1}`]);
    const changes = { "L0 4 S1 1": "", "L1 3 S0 2": "L1 3 S0 7", "L2 3 S0 3": "L2 3 S1 3", "L2 4 S1 3": "L2 4 S0 3" };
    const actual = [...plan.map(cable => changes[cable] ?? cable).filter(Boolean), "L0 6 S0 9"];
    return { plan: netOf(switches, hosts, plan), actual: netOf(switches, hosts, actual) };
}

/** `differences` are those of `weft topo diff PLAN ACTUAL --json`. */
export async function cabling(driver, differences) {
    await claim("14: rows and marked links of the cabling are the differences that weft topo diff prints", async () => {
        for (const kind of ["missing", "extra", "moved", "swapped"])
            holds(differences.some(one => one.kind.includes(kind)), `weft topo diff finds a cable that is ${kind}: ${JSON.stringify(differences.map(one => one.kind))}`);
        const { differences: listed } = await driver.api("/cabling"), { nodes, links } = await driver.api("/topology");
        same(listed.map(one => one.text), differences.map(one => `${one.kind}: ${one.place}`), "texts of the API");
        await driver.tab("cabling");
        const rows = driver.page.locator("#cabling [data-difference]");
        await until("the list", () => rows.count(), count => count === listed.length);
        same(await rows.locator("button").allInnerTexts(), listed.map(one => one.text), "rows");
        const marked = await driver.page.evaluate(() => window.weft.view.marked("cabling").links.map(mark => mark.link));
        same(marked, listed.flatMap(one => one.link === null ? [] : [one.link]), "links marked on the map");
        // The extra cable is L0 port 6 – S0 port 9, and a click shows it.
        const extra = listed.findIndex(one => one.kind === "extra"), { link } = listed[extra];
        const ends = [`${nodes.name[links.a[link]]} ${links.ap[link]}`, `${nodes.name[links.b[link]]} ${links.bp[link]}`].sort();
        same(ends, ["L0 6", "S0 9"], "the extra cable");
        await rows.nth(extra).locator("button").click();
        same(await driver.page.evaluate(() => window.weft.app.selection), { kind: "link", index: link }, "selection");
    });
    await claim("14: a cable that is cut is one difference more", async () => {
        const { differences: before } = await driver.api("/cabling"), { nodes, links } = await driver.api("/topology");
        const cable = links.a.findIndex((a, link) => [nodes.name[a], nodes.name[links.b[link]]].sort().join() === "L3,S1");
        await driver.act({ do: "cut", link: cable });
        await driver.proceed("the manager has noticed", async () => (await driver.api("/cabling")).differences, list => list.length === before.length + 1);
        await driver.press("Compare again");
        await until("one row more", () => driver.page.locator("#cabling [data-difference]").count(), count => count === before.length + 1);
        const missing = (await driver.api("/cabling")).differences.filter(one => one.kind === "missing" && one.link === cable);
        same(missing.length, 1, "the cut cable is missing");
    });
}

/** The nodes that a set of links connects, and whether it is a tree. */
function treeOf({ a, b }, set) {
    const nodes = new Set(set.flatMap(link => [a[link], b[link]])), reached = new Set(set.length ? [a[set[0]]] : []);
    for (let grown = true; grown;) {
        grown = false;
        for (const link of set)
            if (reached.has(a[link]) !== reached.has(b[link])) { reached.add(a[link]).add(b[link]); grown = true; }
    }
    return { nodes, isTree: reached.size === nodes.size && set.length === nodes.size - 1 };
}

export async function multicast(driver) {
    const { nodes, links } = await driver.api("/topology");
    const hosts = nodes.kind.flatMap((kind, id) => kind === 1 ? [id] : []), leaves = [...new Set(hosts.map(host => nodes.parent[host]))];
    const members = leaves.slice(0, 3).map(leaf => hosts.filter(host => nodes.parent[host] === leaf)[1]);
    const fourth = hosts.find(host => nodes.parent[host] === leaves[3]);
    const group = async () => (await driver.api("/groups")).groups.find(one => one.mgid === MGID);
    const marked = () => driver.page.evaluate(() => { const { links, nodes } = window.weft.view.marked("group"); return { links: links.map(one => one.link), nodes: nodes.map(one => one.node) }; });
    const sorted = list => [...list].sort((one, other) => one - other);
    const check = ({ links: tree, members: list }, wanted) => {
        const { nodes: connected, isTree } = treeOf(links, tree);
        holds(isTree, `${JSON.stringify(tree)} is a tree`);
        same(sorted(list), sorted(wanted), "members");
        same(sorted([...connected].filter(node => nodes.kind[node] === 1)), sorted(wanted), "hosts of the tree");
    };
    await claim("12: members at several switches: the links drawn are a tree that connects them, and no other host", async () => {
        for (const node of members) await driver.act({ do: "join", node: String(node), mgid: MGID });
        const found = await driver.proceed("the tree is written", group, one => one?.members.length === 3 && members.every(member => one.links.some(link => links.a[link] === member || links.b[link] === member)));
        check(found, members);
        await driver.tab("groups");
        await driver.press("Read again");
        const card = driver.page.locator(`#groups [data-mlid="${found.mlid}"]`);
        await until("its members", async () => await card.count() ? card.innerText() : "", text => text.includes("3 hosts") && text.includes(`${found.links.length} links`));
        await card.getByRole("button", { name: "Show tree" }).click();
        same(await marked(), { links: found.links, nodes: found.members }, "links and hosts marked on the map");
    });
    await claim("12: a host that joins and one that leaves on the page change the tree", async () => {
        const { mlid } = await group(), card = driver.page.locator(`#groups [data-mlid="${mlid}"]`);
        await driver.select("node", fourth);
        await card.getByRole("button", { name: "Join" }).click();
        const grown = await driver.proceed("a branch more", group, one => one.members.length === 4 && one.links.some(link => links.a[link] === fourth || links.b[link] === fourth));
        check(grown, [...members, fourth]);
        await driver.press("Read again");
        await until("the tree of the API", marked, one => one.links.join() === grown.links.join());
        await driver.select("node", members[0]);
        await card.getByRole("button", { name: "Leave" }).click();
        const left = await driver.proceed("a branch less", group, one => one.members.length === 3 && one.links.every(link => links.a[link] !== members[0] && links.b[link] !== members[0]));
        check(left, [...members.slice(1), fourth]);
        await driver.press("Read again");
        await until("the tree of the API", marked, one => one.links.join() === left.links.join());
    });
}

/** A fabric without structure, whose switches are named by their racks. */
export async function rooms(driver) {
    await claim("rooms: each has a frame with its name, and the switches whose names begin with it", async () => {
        const { rooms, nodes, layout } = await driver.api("/topology"), { page } = driver;
        same(layout, "rooms", "layout");
        same(await page.evaluate(() => window.weft.view.copy().painted.rooms.map(label => label.text)), rooms.name, "names on the map");
        const inside = await page.evaluate(() => {
            const { placement: { x, y, rooms }, fabric } = window.weft.view;
            return rooms.map(room => fabric.nodes.filter(({ kind, index }) => kind === "switch" && x[index] > room.left && x[index] < room.right && y[index] > room.top && y[index] < room.bottom)
                .map(node => node.index));
        });
        same(inside, rooms.name.map(name => nodes.name.flatMap((one, node) => nodes.kind[node] === 2 && one.startsWith(`${name}-`) ? [node] : [])), "switches in each frame");
        same(await page.isVisible("#arrange"), false, "nothing else to choose");
    });
}

/** `compare` returns what `weft route NET --compare ENGINES --json` prints of each engine. */
export async function whatif(driver, engine, compare) {
    await claim("9: loads, VLs and bisection bandwidth of both engines are those of weft route --compare", async () => {
        await driver.tab("whatif");
        await driver.page.selectOption("#whatif-engine", engine);
        await driver.press("Compute");
        const rows = await until("the answer", () => driver.page.$$eval("#whatif tr", rows => rows.map(row => [...row.cells].map(cell => cell.textContent))), rows => rows.length > 5);
        const [, ...names] = rows[0], engines = await compare(names);
        same(names[1], engine, "the other engine");
        const shown = Object.fromEntries(rows.slice(1).map(([label, ...values]) => [label, values]));
        same(shown.VLs, engines.map(one => String(one.vls)), "VLs");
        same(shown["Paths on the busiest link"], engines.map(one => one.link_load_max.toLocaleString("en-US")), "largest load");
        same(shown["Paths per link, mean"], engines.map(one => one.link_load_mean.toFixed(1)), "mean load");
        same(shown["Bisection bandwidth"], engines.map(one => `${(one.ebb_mean * 100).toFixed(1)} %`), "bisection bandwidth");
        same(shown["Mean hops"], engines.map(one => one.hops_mean.toFixed(2)), "mean hops");
        holds(new Set(shown["Paths on the busiest link"]).size === 2, "the engines differ, so that a mix-up is seen");
        // Both are coloured on one scale: 100 % is the busiest link of either.
        const most = Math.max(...engines.map(one => one.link_load_max));
        for (const { engine: name, link_load_max: load } of engines) {
            await driver.press(`Show paths of ${name}`);
            const step = Math.ceil(100 * load / most) >= 90 ? "≥ 90 %" : "75–89 %", rows = await legend(driver.page);
            holds(rows[step] > 0, `${name}: ${JSON.stringify(rows)} has links with ${step}`);
            if (step !== "≥ 90 %") same(rows["≥ 90 %"], 0, `${name}: links with ≥ 90 %`);
        }
    });
}
