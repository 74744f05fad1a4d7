// Times of the page with software GL: node test/frames.mjs [FABRIC ...]
//
// Prints the time to the first picture, and for frames in which the map is moved and zoomed their wall time and
// the processor time of the browser, which does not depend on what else the machine does.
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, openPage } from "./browser.mjs";
import { serve, TOKEN } from "./mock.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
const FRAMES = 60;

/** Milliseconds of processor time of Chromium's processes, by type. */
async function processorTime() {
    const times = { renderer: 0, gpu: 0, other: 0 };
    for (const pid of await readdir("/proc")) {
        if (!/^\d+$/.test(pid)) continue;
        const [command, stat] = await Promise.all([readFile(`/proc/${pid}/cmdline`, "utf8"), readFile(`/proc/${pid}/stat`, "utf8")]).catch(() => ["", ""]);
        if (!command.includes("swiftshader") && !command.includes("--type=renderer")) continue;
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const type = command.includes("--type=renderer") ? "renderer" : command.includes("--type=gpu-process") ? "gpu" : "other";
        times[type] += (Number(fields[11]) + Number(fields[12])) * 10;
    }
    return times;
}

function difference(before, after, parts) {
    return Object.keys(after).map(type => `${type} ${((after[type] - before[type]) / parts).toFixed(1)}`).join(", ");
}

const names = process.argv.slice(2);
const browser = await openBrowser();
for (const name of names.length ? names : ["tree5832", "tree11664"]) {
    const { mock, url } = await serve(name, dist);
    const idle = await processorTime();
    const page = await openPage(browser, `${url}/#token=${TOKEN}`);
    console.log(`${name}: first picture after ${Math.round(page.firstPicture)} ms; processor ms: ${difference(idle, await processorTime(), 1)}`);
    for (const colour of ["state", "load"]) {
        await page.selectOption("#colouring", colour);
        const before = await processorTime();
        const times = await page.evaluate(async frames => {
            const camera = window.weft.view.camera, list = [];
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
        const after = await processorTime();
        const at = share => times[Math.floor(times.length * share)].toFixed(1);
        console.log(`${name} by ${colour}: frame median ${at(0.5)} ms, 95 % ${at(0.95)} ms; processor ms a frame: ${difference(before, after, FRAMES)}`);
    }
    await page.context().close();
    mock.close();
}
await browser.close();
