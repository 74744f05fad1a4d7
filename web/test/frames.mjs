// Times of the page with software rendering: WEFT=build/weft node test/frames.mjs [HOSTS ...]
//
// Runs `weft live --paused` on fat trees, and prints for each the time from the start of the navigation to the first
// picture, with the parts that it consists of, and for frames in which the map is moved and zoomed their wall time and
// the processor time of the browser, which depends less on what else the machine does. bench/run page calls it.
import { readFile, readdir } from "node:fs/promises";
import { cpus } from "node:os";
import { openPage, SOFTWARE_GL } from "./browser.mjs";
import { startWeft, Workplace } from "./server.mjs";

const FRAMES = 90, PICTURES = 3;

/** Milliseconds of processor time of the browser that this program started, by type of process. */
async function processorTime() {
    const processes = new Map();
    for (const pid of (await readdir("/proc")).filter(name => /^\d+$/.test(name))) {
        const [command, stat] = await Promise.all([readFile(`/proc/${pid}/cmdline`, "utf8"), readFile(`/proc/${pid}/stat`, "utf8")]).catch(() => ["", ""]);
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        processes.set(Number(pid), { command, parent: Number(fields[1]), time: (Number(fields[11]) + Number(fields[12])) * 10 });
    }
    const isOwn = pid => pid === process.pid || (processes.has(pid) && isOwn(processes.get(pid).parent));
    const times = { renderer: 0, gpu: 0, other: 0 };
    for (const [pid, { command, time }] of processes) {
        if (pid === process.pid || !command.includes("chrom") || !isOwn(pid)) continue;
        times[command.includes("--type=renderer") ? "renderer" : command.includes("--type=gpu-process") ? "gpu" : "other"] += time;
    }
    return times;
}

function difference(before, after, parts) {
    return Object.keys(after).map(type => `${type} ${((after[type] - before[type]) / parts).toFixed(1)}`).join(", ");
}

/** Milliseconds since the start of the navigation. */
function parts(page) {
    return page.evaluate(() => {
        const at = name => performance.getEntriesByName(name)[0]?.startTime ?? NaN;
        const ends = performance.getEntriesByType("resource").filter(one => /topology|state/.test(one.name))
            .map(one => `${one.name.split("/").pop()} asked ${Math.round(one.startTime)}, first byte ${Math.round(one.responseStart)}, end ${Math.round(one.responseEnd)} (${Math.round(one.encodedBodySize / 1024)} of ${Math.round(one.decodedBodySize / 1024)} kB)`);
        return { picture: at("weft-picture"), ready: at("weft-ready"), topology: at("weft-topology"), script: at("weft-start"), ends };
    });
}

/** Wall time of each frame while the camera moves. */
function moveMap(page) {
    return page.evaluate(async frames => {
        const { camera } = window.weft.view, list = [];
        let last = performance.now();
        for (let at = 0; at < frames; at++) {
            camera.setState({ x: 0.5 + 0.1 * Math.sin(at / 6), y: 0.5, ratio: 0.7 + 0.3 * Math.cos(at / 10) });
            await new Promise(resolve => requestAnimationFrame(resolve));
            const now = performance.now();
            list.push(now - last);
            last = now;
        }
        return list.sort((one, other) => one - other);
    }, FRAMES);
}

const settled = page => page.waitForFunction(() => window.weft.view.isSettled());
const place = await Workplace.make("", SOFTWARE_GL), { browser } = place;
console.log(`${cpus().length} processors`);
try {
    for (const hosts of process.argv.length > 2 ? process.argv.slice(2) : ["5832", "11664"]) {
        const net = await place.net(hosts, "fattree", hosts);
        const started = performance.now(), { url, stop } = await startWeft(place.weft, "live", net, "--paused");
        console.log(`${hosts} hosts: weft live serves after ${Math.round(performance.now() - started)} ms`);
        await (await openPage(browser, url)).context().close(); // Starts the processes of the browser.
        for (let at = 0; at < PICTURES; at++) {
            const idle = await processorTime(), page = await openPage(browser, url);
            const { picture, ready, topology, script, ends } = await parts(page);
            console.log(`${hosts} hosts: first picture ${Math.round(picture)} ms after the start of the navigation (script ${Math.round(script)}, topology read ${Math.round(topology)}, all ready ${Math.round(ready)}); processor ms: ${difference(idle, await processorTime(), 1)}`);
            if (at === 0) console.log(`  ${ends.join("; ")}`);
            if (at < PICTURES - 1) { await page.context().close(); continue; }
            for (const colour of ["state", "load"]) {
                await page.selectOption("#colouring", colour);
                await settled(page);
                const before = await processorTime(), times = await moveMap(page), after = await processorTime();
                const share = part => times[Math.floor(times.length * part)].toFixed(1);
                console.log(`${hosts} hosts by ${colour}: frame median ${share(0.5)} ms, 95 % ${share(0.95)} ms; processor ms a frame: ${difference(before, after, FRAMES)}`);
            }
            await page.context().close();
        }
        await stop();
    }
} finally {
    await place.clear();
}
