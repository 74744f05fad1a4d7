// The numbers on the page beside those of `weft ctl`, which asks the same session through its control socket: for
// each of the fifteen things that has a count. What is read of the page is its text, not its data.
import { claim, holds, same, until } from "./claims.mjs";
import { legend } from "./driver.mjs";
import { scene } from "./fifteen.mjs";

const number = text => Number(String(text).replaceAll(",", ""));
const numbers = text => (String(text).match(/[0-9][0-9,]*/g) ?? []).map(number);
const sum = list => list.reduce((total, one) => total + one, 0);

/** A session with a page, and `weft ctl` for it. */
class Session {
    constructor(place, name) {
        Object.assign(this, { place, socket: place.file(`${name}.socket`) });
    }

    async open(file, ...options) {
        Object.assign(this, await this.place.start(["live", file, "--paused", "--socket", this.socket, ...options]));
        this.scene = await scene(this.driver);
        return this;
    }

    /** What `weft ctl --json` prints. */
    async ctl(...words) {
        const env = { ...process.env, WEFT_SOCKET: this.socket };
        return JSON.parse((await this.place.run(this.place.weft, ["ctl", "--json", ...words], { env })).stdout || "null");
    }

    /** The facts of the panel, as its terms and values are written. */
    facts(selector = "#panel") {
        return this.page.$$eval(`${selector} dl.facts`, lists => Object.fromEntries(lists.flatMap(list =>
            [...list.querySelectorAll("dt")].map(term => [term.textContent.trim(), term.nextElementSibling.textContent.trim()]))));
    }

    /** Waits until the page shows what `weft ctl` says: a paused session does not change meanwhile. */
    async agrees(what, shown, asked) {
        const wanted = JSON.stringify(await asked());
        await this.driver.settle();
        await until(`${what} as weft ctl: ${wanted}`, async () => JSON.stringify(await shown()), found => found === wanted);
    }

    /** The panel of the whole fabric. */
    async whole() {
        await this.page.evaluate(() => window.weft.app.select(null));
        await this.driver.tab("place");
        return this.facts();
    }

    nodeName(index) {
        return this.scene.topology.nodes.name[index];
    }
}

async function fabric(session) {
    const { driver, page } = session, { link, victim, topology } = session.scene;
    const shown = async () => {
        const facts = await session.whole(), [links, down = 0] = numbers(facts.Links);
        return { switches: number(facts.Switches), adapters: number(facts.Hosts), links, down, dead: number(facts["Nodes down"] ?? 0),
            smps: number(facts["SMPs sent"]), hash: facts["Trace hash"], packets: numbers(facts.Packets), ways: numbers(facts["Under way"]) };
    };
    const asked = async () => {
        const { switches, adapters, links_up, links_down, links_idle, nodes_down, smps_sent, trace, traffic } = await session.ctl("status");
        return { switches, adapters, links: links_up + links_down + links_idle, down: links_down, dead: nodes_down, smps: smps_sent, hash: trace,
            packets: [traffic.delivered, traffic.made], ways: [traffic.travelling, traffic.waiting] };
    };
    const legends = async () => (await legend(page)).down;
    await claim("1, 15: nodes, links, SMPs, packets and hash are those of weft ctl", () => session.agrees("the fabric", shown, asked));
    await claim("1: a link that is cut on the page, and one by weft ctl: both count two", async () => {
        await driver.select("link", link);
        await driver.press("Cut");
        await until("one is down", async () => (await session.ctl("status")).links_down, down => down === 1);
        const other = session.scene.trunks.find(one => one !== link);
        await session.ctl("link", "down", session.nodeName(topology.links.a[other]), String(topology.links.ap[other]));
        same((await asked()).down, 2, "links that are down");
        await session.agrees("the fabric", shown, asked);
        await session.agrees("the legend", legends, async () => (await session.ctl("status")).links_down);
        await session.ctl("link", "up", session.nodeName(topology.links.a[other]), String(topology.links.ap[other]));
    });
    await claim("1: a switch that is killed: nodes and links down are those of weft ctl", async () => {
        await driver.select("node", victim);
        await driver.press("Kill");
        await until("one is down", async () => (await session.ctl("status")).nodes_down, down => down === 1);
        await session.agrees("the fabric", shown, asked);
        holds((await asked()).down > 1, "its links are down");
        const known = () => session.ctl("--manager", "status").then(one => one.adapters + one.switches);
        await driver.proceed("the manager has noticed", known, nodes => nodes < topology.nodes.name.length);
        await session.ctl("switch", "up", session.nodeName(victim));
        await driver.proceed("all nodes are back", known, nodes => nodes === topology.nodes.name.length);
        await session.agrees("the fabric", shown, asked);
    });
}

async function change(session) {
    const { driver, page } = session;
    await claim("3: SMPs of the last change, its phase and the losses are those of weft ctl", async () => {
        await driver.tab("change");
        await driver.proceed("no change is under way", () => session.ctl("changes"), list => list.every(one => one.end !== null));
        await session.agrees("SMPs", async () => numbers((await session.facts("#change")).SMPs), async () => {
            const last = (await session.ctl("changes")).findLast(one => one.finished);
            return [last.gets, last.sets, last.blocks];
        });
        await session.agrees("losses", async () => sum(numbers(await driver.text("#lost"))), async () => (await session.ctl("status")).traffic.lost);
    });
    await claim("3: the wave that is written is that of weft ctl", async () => {
        await session.ctl("reroute");
        const master = list => list.find(one => one.state === "master");
        await until("waves", async () => { await driver.act({ do: "step", ns: "1000" }); return master(await session.ctl("managers")); }, one => one.phase === "waves" || one.phase === "settle");
        await session.agrees("the phase", async () => (await session.facts("#change")).Manager, async () => {
            const { name, phase, wave, waves, draining } = master(await session.ctl("managers"));
            return `${name}: ${phase}${phase === "waves" && waves > 0 ? `, ${wave} of ${waves}` : ""}${draining ? ", draining" : ""}`;
        });
        await driver.proceed("the end", () => session.ctl("changes"), list => list.every(one => one.end !== null));
    });
    await claim("13: problems are those of weft ctl, in number and text", async () => {
        const { topology, trunks, link } = session.scene, other = trunks.find(one => one !== link);
        await driver.tab("problems");
        for (let flap = 0; flap < 2; flap++) {
            const { changes } = await driver.state();
            await session.ctl("flap", session.nodeName(topology.links.a[other]), String(topology.links.ap[other]));
            await driver.proceed("the link is up again", () => session.ctl("changes"), list =>
                list[list.length - 1].id > changes[changes.length - 1].id && list.every(one => one.end !== null));
        }
        const problems = await driver.proceed("a problem", () => session.ctl("problems"), list => list.length > 0);
        await session.agrees("problems", () => page.$$eval("#problems [data-problem] > div:not(.quiet)", texts => texts.map(one => one.textContent).sort()),
            async () => (await session.ctl("problems")).map(one => one.text).sort());
        same((await session.ctl("--manager", "status")).problems.length, problems.length, "problems in the status of the manager");
    });
    await claim("14: as many cables differ from the plan as are down by weft ctl", async () => {
        await driver.tab("cabling");
        await session.agrees("differences", () => page.locator("#cabling [data-difference]").count(), async () => (await session.ctl("status")).links_down);
    });
    await claim("7: versions, and the entries that moved between the last two, are those of weft ctl", async () => {
        await driver.tab("tables");
        await until("the comparison", () => page.locator("#tables-entries").count());
        const versions = await session.ctl("versions");
        holds(versions.length > 1, "two versions");
        same(await page.locator("#tables-a option").count(), versions.length, "versions");
        same(number(await driver.text("#tables-entries")), versions[versions.length - 1].changed, "entries that moved");
    });
}

async function path(session) {
    const { driver, page } = session, { from, to } = session.scene;
    await claim("4: hops, SL, DLID and VLs of a path are those of weft ctl", async () => {
        await driver.tab("path");
        await driver.choose("#path-from", session.nodeName(from));
        await driver.choose("#path-to", session.nodeName(to));
        await session.agrees("the path", async () => {
            const facts = await session.facts("#path");
            const rows = await page.$$eval("#path tbody tr", list => list.map(row => [...row.querySelectorAll("td")].slice(0, 3).map(cell => cell.textContent)));
            return { sl: number(facts.SL), dlid: number(facts.DLID), hops: rows.map(([node, port, vl]) => [node, number(port), number(vl)]) };
        }, async () => {
            const { sl, dlid, hops } = await session.ctl("path", session.nodeName(from), session.nodeName(to));
            return { sl, dlid, hops: hops.map(hop => [hop.node, hop.port, hop.vl]) };
        });
        holds((await session.ctl("path", session.nodeName(from), session.nodeName(to))).hops.length > 1, "it has hops");
    });
}

async function loads(session) {
    const { driver, page } = session, { topology, from } = session.scene;
    const host = topology.links.a.findIndex((a, link) => a === from || topology.links.b[link] === from);
    const mine = topology.links.a[host] === from ? 0 : 1;
    const words = () => session.ctl("counters", session.nodeName(from), String(topology.links[mine ? "bp" : "ap"][host])).then(list => list[0]);
    await claim("5: the load of a link is that of the counters of weft ctl", async () => {
        await driver.select("link", host);
        const before = await words(), { t } = await driver.state();
        await driver.act({ do: "step", ns: "400000" });
        const after = await words(), elapsed = (await driver.state()).t - t;
        const load = 100 * (after.totals.transmit_data_bytes - before.totals.transmit_data_bytes) * 8 / (topology.links.gbps[host] * elapsed);
        holds(load > 5, `the link is used: ${load} %`);
        await driver.settle();
        await until(`a load of ${load} %`, () => page.$$eval("#panel tbody tr", list => list.map(row => parseInt(row.children[1].textContent, 10))),
            shown => Math.abs(shown[mine] - load) <= 1);
    });
    await claim("5: bit errors of a link are counted as weft ctl counts them", async () => {
        const counted = async () => sum((await session.ctl("counters")).map(port => port.errors));
        await driver.select("link", host);
        await driver.settle();
        await driver.press("Add bit errors");
        await until("symbol errors", counted, number => number >= 20);
        await session.agrees("errors", async () => number((await session.facts())["Errors"]), counted);
    });
}

async function time(session) {
    const { driver } = session;
    const clock = async () => number((await driver.text("#clock")).replace(" ms", ""));
    const asked = async () => Math.round((await session.ctl("status")).network_ps / 1e6) / 1e3;
    await claim("6: the clock is that of weft ctl after steps, and after going back; so is the hash", async () => {
        await driver.act({ do: "step", ns: "123000" });
        await session.agrees("the clock", clock, asked);
        const { trace, network_ps } = await session.ctl("status"), t = network_ps / 1000;
        await driver.act({ do: "seek", t: String(Math.floor(t / 2)) });
        await session.agrees("the clock", clock, asked);
        same(Math.floor((await session.ctl("status")).network_ps / 1000), Math.floor(t / 2), "the time");
        await driver.act({ do: "seek", t: String(t) });
        await session.agrees("the hash", async () => (await session.whole())["Trace hash"], async () => (await session.ctl("status")).trace);
        same((await session.ctl("status")).trace, trace, "the hash at the same time");
    });
}

async function memberships(session) {
    const { driver, page } = session, { hosts } = session.scene;
    await claim("11: members of a painted partition are those of weft ctl", async () => {
        await driver.act({ do: "partition", name: "blue", pkey: "34", nodes: hosts.slice(0, 3).join(), limited: String(hosts[3]) });
        await driver.proceed("written", async () => (await driver.api("/partitions")).partitions, list => list.some(one => one.pkey === 34 && one.full.length === 3 && one.limited.length === 1));
        await driver.tab("partitions");
        await session.agrees("members", () => page.$$eval("#partitions [data-pkey]", cards => Object.fromEntries(cards.map(card =>
            [`0x${Number(card.dataset.pkey).toString(16).padStart(4, "0")}`, card.querySelector("dd").textContent.match(/[0-9]+/g).map(Number)]))),
        async () => Object.fromEntries((await session.ctl("partitions")).map(one => [one.p_key, [one.full, one.limited]]).sort()));
    });
    await claim("12: multicast groups and their members are those of weft ctl", async () => {
        for (const host of hosts.slice(4, 7)) await driver.act({ do: "join", node: host, mgid: "ff12:401b:ffff::77" });
        await driver.tab("groups");
        await session.agrees("groups", () => page.$$eval("#groups [data-mlid]", cards => cards.map(card =>
            [...card.querySelectorAll("header code")].map(code => code.textContent).concat(card.querySelector("dd").textContent.match(/[0-9]+/)[0]))),
        async () => (await session.ctl("groups")).map(one => [one.mgid, one.mlid, String(one.members)]));
        same((await session.ctl("groups")).map(one => one.members), [3], "members");
    });
}

async function connections(session) {
    const { driver, page } = session, { managers } = await driver.state();
    const hosts = session.scene.hosts.filter(host => managers.every(one => one.node !== host)), last = hosts.length - 1;
    const names = (...nodes) => nodes.map(node => session.nodeName(node));
    const shown = () => page.$$eval("#connections [data-connection]", cards => cards.map(card => {
        const facts = Object.fromEntries([...card.querySelectorAll("dt")].map(term => [term.textContent, term.nextElementSibling.textContent]));
        return [Number(card.dataset.connection), ...[...card.querySelectorAll("header button")].map(one => one.textContent), card.querySelector(".badge").textContent,
            facts.Reason ?? "", Number(facts.Messages.replaceAll(",", "")), Number(facts.Retries.replaceAll(",", "")), facts.Rate.split(" ")[1], facts.Outage];
    }));
    const unit = bits => bits < 1e3 ? "bit/s" : bits < 1e6 ? "kbit/s" : bits < 1e9 ? "Mbit/s" : "Gbit/s";
    const time = ps => ps === 0 ? "0 s" : ps < 1e6 ? `${Math.floor(ps) / 1e3} ns` : ps < 1e9 ? `${Math.floor(ps / 1e3) / 1e3} µs` : `${Math.floor(ps / 1e6) / 1e3} ms`;
    const asked = async () => (await session.ctl("connections")).map(one => [one.number, one.from, one.to, one.state, one.reason ?? "", one.messages, one.retries,
        unit(one.goodput), time(Math.round(one.outage * 1e12))]).reverse();
    await claim("16: two hosts that are chosen by name are connected; the list has the figures of weft ctl", async () => {
        await driver.tab("connections");
        await until("the empty list", () => driver.text("#connections"), text => text.includes("There is no connection."));
        await driver.press("Connect");
        await until("it says what to choose", () => driver.text("#messages"), text => text.includes("Choose two hosts first."));
        await driver.choose("#connect-from", session.nodeName(hosts[0]));
        await driver.choose("#connect-to", session.nodeName(hosts[last]));
        same(await page.evaluate(() => window.weft.view.marked("connection").nodes.map(mark => mark.node)), [hosts[0], hosts[last]], "hosts marked on the map");
        await driver.press("Connect");
        await until("a connection", () => session.ctl("connections"), list => list.length === 1);
        await driver.act({ do: "step", ns: "1000000" });
        await session.agrees("the connection", shown, asked);
        const [one] = await session.ctl("connections");
        same([one.from, one.to, one.state], [...names(hosts[0], hosts[last]), "established"], "its hosts");
        holds(one.messages > 50 && one.goodput > 1e9, `${one.messages} messages, ${one.goodput} bit/s`);
    });
    await claim("16: the connection breaks when its host dies", async () => {
        await session.ctl("fail", "node", session.nodeName(hosts[last]));
        await driver.act({ do: "step", ns: "900000000" });
        await session.agrees("the connection", shown, asked);
        same((await session.ctl("connections")).map(one => [one.state, one.reason]), [["broken", "retries exceeded"]], "its state");
    });
    await claim("16: a host that is picked on the map, and a connection of weft ctl", async () => {
        const row = page.locator("#panel .choose");
        await row.nth(1).getByRole("button", { name: "Pick" }).click();
        await driver.select("node", hosts[last - 1]);
        same(await page.inputValue("#connect-to"), session.nodeName(hosts[last - 1]), "the host that was picked");
        await driver.press("Connect");
        await session.ctl("connect", ...names(hosts[1], hosts[last - 1]));
        await until("three", () => session.ctl("connections"), list => list.length === 3);
        await driver.act({ do: "step", ns: "1000000" });
        await session.agrees("the connections", shown, asked);
        same((await session.ctl("connections")).map(one => one.state), ["broken", "established", "established"], "states");
    });
    await session.place.shot(page, "live-connections");
    await claim("the page of connections has no errors", () => same(page.failures, []));
}

async function managers(session) {
    const { driver, page } = session;
    await claim("2: managers and their states before and after a failover are those of weft ctl", async () => {
        await driver.tab("managers");
        const badges = () => page.$$eval("#managers .badge", list => list.map(badge => badge.textContent));
        const cards = () => page.$$eval("#managers section:not(.dead)", list => list.map(card => Number(card.textContent.match(/([0-9]+) nodes/)[1])));
        const states = async () => (await session.ctl("managers")).map(one => one.state);
        await session.agrees("states", badges, states);
        same(await states(), ["master", "standby"], "states");
        await page.locator("#managers section").first().getByRole("button", { name: "Kill" }).click();
        await driver.proceed("a new master", states, list => list[1] === "master");
        same(await states(), ["dead", "master"], "states");
        await session.agrees("states", badges, states);
        await session.agrees("nodes that managers know", cards, async () => (await session.ctl("managers")).filter(one => one.state !== "dead").map(one => one.nodes));
        same((await session.ctl("--manager", "status")).state, "master", "the state of the manager that answers");
    });
}

async function deadlock(session) {
    const { driver, page } = session;
    await claim("8: the deadlock of a ring with shortest paths is drawn as a cycle, that of weft ctl", async () => {
        const { cycle } = await until("a deadlock", async () => { await driver.act({ do: "step", ns: "5000000" }); return session.ctl("deadlock"); }, found => found.deadlock);
        await driver.settle();
        const marked = await until("the cycle", () => page.evaluate(() => window.weft.view.marked("deadlock").links.map(mark => mark.link)), list => list.length > 0);
        const { links, nodes } = session.scene.topology;
        const ends = link => [`${nodes.name[links.a[link]]} ${links.ap[link]}`, `${nodes.name[links.b[link]]} ${links.bp[link]}`];
        same(marked.length, cycle.length, "links of the cycle");
        marked.forEach((link, at) => holds(ends(link).includes(`${cycle[at].node} ${cycle[at].port}`), `link ${at} leaves ${cycle[at].node}`));
        await until("the alarm counts the buffers", () => driver.text("#alarm"), text => text.includes(`${cycle.length} buffers`));
        same((await session.ctl("status")).traffic.deadlocks > 0, true, "deadlocks that were counted");
        await session.place.shot(page, "live-deadlock");
    });
}

async function machines(session) {
    const { driver, page } = session;
    await claim("10: machines, their hypervisors and LIDs are those of weft ctl", async () => {
        await driver.tab("machines");
        await driver.page.fill("#machine-name", "web1");
        await driver.press("Start");
        await until("asked for", async () => (await driver.state()).vms.length);
        await session.ctl("vm", "create", "db1");
        await driver.proceed("they run", () => session.ctl("vm", "list"), list => list.length === 2 && list.every(one => one.state === "running"));
        const shown = () => page.$$eval("[data-machine]", cards => cards.map(card => {
            const facts = Object.fromEntries([...card.querySelectorAll("dt")].map(term => [term.textContent, term.nextElementSibling.textContent.trim()]));
            return [card.dataset.machine, card.querySelector(".badge").textContent, facts.Hypervisor, Number(facts.LID)];
        }).sort());
        const asked = async () => (await session.ctl("vm", "list")).map(one => [one.name, one.state, one.hypervisor, one.lid]).sort();
        await session.agrees("machines", shown, asked);
        const there = (await session.ctl("vm", "show", "web1")).hypervisor;
        const { hypervisors } = await driver.state();
        const other = hypervisors.map(node => session.nodeName(node)).find(name => name !== there);
        await session.ctl("vm", "migrate", "web1", "--to", other);
        await driver.proceed("it moved", () => session.ctl("vm", "show", "web1"), one => one.hypervisor === other && one.state === "running");
        await driver.proceed("the order is done", async () => (await driver.state()).vms, list => list.every(one => one.state === "running"));
        await session.agrees("machines", shown, asked);
    });
}

export async function counts(place) {
    const net = await place.net("counted", "kary", "4", "2");
    const busy = await new Session(place, "busy").open(net, "--load", "0.2");
    await loads(busy);
    await busy.close();

    const tree = await new Session(place, "counts").open(net, "--load", "0.001");
    await fabric(tree);
    await change(tree);
    await path(tree);
    await time(tree);
    await memberships(tree);
    await managers(tree);
    await claim("15: weft sim repeats the session, with the hash that weft ctl and the page show", async () => {
        await tree.driver.act({ do: "step", ns: "100000" });
        const file = await place.write("counted.weft", await tree.driver.exported("scenario"));
        const { trace } = await tree.ctl("status"), { stdout } = await place.run(place.weft, ["sim", file]).catch(error => error);
        holds(stdout.includes(trace), `weft sim prints ${trace}`);
        await tree.agrees("the hash", async () => (await tree.whole())["Trace hash"], async () => trace);
    });
    await claim("the page of counts has no errors", () => same(tree.page.failures, []));
    await tree.close();

    const talk = await new Session(place, "connections").open(net, "--load", "0.001");
    await connections(talk);
    await talk.close();

    const ring = await place.write("counted-ring.weft", "topology ring switches=6 hosts=2 speed=SDR\nset data_vls 1\nset buffer 1024\n" +
        "sm S0 engine minhop allow_cycles yes\ntraffic uniform size 256 arrivals saturated start 10ms\nrun until settled\nrun 1s\n");
    const cycle = await new Session(place, "ring").open(ring);
    await deadlock(cycle);
    await cycle.close();

    const hypervisors = await new Session(place, "machines").open(await place.net("counted-vfs", "clos", "2", "2", "2", "vfs=2"));
    await machines(hypervisors);
    await hypervisors.close();
}
