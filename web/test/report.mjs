// Opens HTML reports of weft from files, in Chromium: WEFT=build/weft node test/report.mjs PAGE-FOLDER [ARTEFACTS]
//
// Reports of a run, a sweep, a what-if question and figures of the papers, and plots with extreme data in a page made
// here. PAGE-FOLDER has report.js and report.css. Prints TAP. Skipped without Chromium (fails if WEFT_TOOLS_REQUIRED is set).
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { needBrowser, needPackages, openBrowser } from "./browser.mjs";
import { claim, finish, holds, same } from "./claims.mjs";
import { extremes } from "./extremes.mjs";

const here = dirname(fileURLToPath(import.meta.url)), experiments = join(here, "../../experiments");
const weft = resolve(process.env.WEFT ?? "build/weft"), bundle = resolve(process.argv[2] ?? join(here, "../dist"));
const artefacts = resolve(process.argv[3] ?? join(here, "../dist/shots"));
const HOSTILE = ["<script>window.broken=1</script>", '";}alert(1)//', "</script></pre><img src=x onerror=window.broken=1>", "]]>"];
/** The short form at ticks and bars. */
const BRIEF = [[0.0865, "s", "86.5 ms"], [0, "s", "0 s"], [2.5e9, "bits/s", "2.5 Gbit/s"], [12000, "packets", "12,000"], [41234, "packets/s", "41,234"],
    [2e6, "packets", "2 M"], [0.0005, "share", "0.05 %"], [0.5, "share", "50 %"], [-3, "", "−3"], [NaN, "s", "–"]];
needBrowser();
needPackages("esbuild");
const { build } = await import("esbuild");
await mkdir(artefacts, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), "weft-report-")), browser = await openBrowser();
/** Exit status 1 is an answer of weft, 2 an error. */
const run = (...words) => promisify(execFile)(weft, words, { cwd: folder }).catch(error => { if (error.code !== 1) throw error; });
const write = (name, text) => writeFile(join(folder, name), text);

/** Opens a file. Errors, refusals of the policy and requests for anything else are collected in `page.failures`. */
async function open(name, { width = 1300, theme = "light", javaScriptEnabled = true } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, javaScriptEnabled });
    const page = await context.newPage(), url = pathToFileURL(join(folder, name)).href;
    page.failures = [];
    page.on("pageerror", error => page.failures.push(String(error)));
    page.on("console", message => page.failures.push(message.text()));
    page.on("request", request => { if (request.url() !== url) page.failures.push(`request for ${request.url()}`); });
    await page.addInitScript(recordLabels);
    await page.goto(url);
    if (javaScriptEnabled) await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    return page;
}

/** Runs in the page: keeps the boxes of the texts in each canvas, in CSS pixels, since it was last cleared. */
function recordLabels() {
    const boxes = new WeakMap(), { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    window.labelsIn = canvas => boxes.get(canvas) ?? [];
    CanvasRenderingContext2D.prototype.clearRect = function (...words) { boxes.set(this.canvas, []); return clearRect.apply(this, words); };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { width } = this.measureText(text), size = parseFloat(/([\d.]+)px/.exec(this.font)[1]), ratio = devicePixelRatio;
        const left = x - (this.textAlign === "center" ? width / 2 : this.textAlign === "right" ? width : 0);
        const top = y - (this.textBaseline === "middle" ? size / 2 : this.textBaseline === "bottom" ? size : 0);
        if (text) window.labelsIn(this.canvas).push({ text, left: left / ratio, right: (left + width) / ratio, top: top / ratio + 1, bottom: (top + size) / ratio - 1 });
        return fillText.apply(this, arguments);
    };
}

/** For each plot: what its data has, and what was drawn. */
const counts = page => page.evaluate(() => [...document.querySelectorAll("figure.plot")].map((element, at) => {
    const chart = JSON.parse(element.querySelector("pre").textContent), figure = window.weft.plots[at];
    const inside = (axis, value) => value >= axis.low && value <= axis.high;
    return { wanted: chart.panels.map(panel => panel.groups.map(group => group.points.filter(([x, y]) => {
        if (x === null || y === null) return false;
        if (["points", "lines+points"].includes(group.style)) return group.style === "lines+points" || inside(chart.x, x) && inside(panel.y, y);
        return !["bars", "stacked"].includes(group.style) || inside(chart.x, x);
    }).length)), drawn: figure.panels.map(panel => panel.drawn) };
}));

/** Texts that overlap or are cut, in the canvases and around them. */
const collisions = page => page.evaluate(() => {
    const found = [], width = document.documentElement.clientWidth;
    for (const element of document.querySelectorAll("figure.plot")) {
        const boxes = [];
        for (const canvas of element.querySelectorAll("canvas")) {
            const place = canvas.getBoundingClientRect();
            for (const { text, left, right, top, bottom } of window.labelsIn(canvas)) {
                if (/∞|NaN|undefined|^–/.test(text)) found.push(`no number: ${text}`);
                if (left < -1 || top < -1 || right > place.width + 1 || bottom > place.height + 1) found.push(`cut: ${text}`);
                boxes.push({ text, left: left + place.left, right: right + place.left, top: top + place.top, bottom: bottom + place.top });
            }
        }
        for (const one of element.querySelectorAll(".key > *, .x-title, .fault, .band")) {
            const { left, right, top, bottom } = one.getBoundingClientRect(), text = one.textContent.slice(0, 30);
            if (!text) continue;
            if (left < 0 || right > width) found.push(`outside: ${text}`);
            boxes.push({ text, left, right, top: top + 1, bottom: bottom - 1 });
        }
        boxes.forEach((a, at) => boxes.slice(0, at).forEach(b => {
            if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom && b.top < a.bottom) found.push(`overlap: ${a.text} | ${b.text}`);
        }));
    }
    return found;
});

async function drawsAll(page) {
    const figures = await counts(page);
    holds(figures.length > 0, "the page has plots");
    figures.forEach(({ wanted, drawn }, at) => same(drawn, wanted, `points of plot ${at}`));
    same(await page.locator(".without").count(), 0, "notes that nothing is drawn");
}

/** The page of a sweep as page.c makes it, with given charts. */
async function pageOf(charts) {
    const escape = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const data = { kind: "sweep", fixed: {}, pooled: [], repetitions: 1, charts, points: 0, columns: 1, cells: [], failures: [], failures_in_all: 0 };
    return `<!DOCTYPE html><html><head><meta charset="utf-8"/><style>${await readFile(join(bundle, "report.css"), "utf8")}</style></head>` +
        `<body><main><pre>${escape(JSON.stringify(data))}</pre></main><script>${await readFile(join(bundle, "report.js"), "utf8")}</script></body></html>`;
}

await write("death.weft", `topology irregular 16 hosts=14 speed=SDR
sm S0 engine fera
traffic uniform size 256 rate 20e3 start 100ms
run 100ms
at 120ms fail switch S15
run 200ms
`);
await write("load.weft", "preset paper\ntopology irregular 8 hosts=7 speed=SDR\nsm S0 engine updn\ntraffic uniform size 256 rate 20e3 start 10ms\nrun 20ms\n");
await write("load.sweep", `scenario load.weft
vary sm.engine in updn fera
vary traffic.rate in 50e3 200e3 600e3
repeat 2
`);
// Markup in a net file: descriptions of nodes are names.
await write("hostile.net", `vendid=0x2c9
devid=0x1
switchguid=0x100(100)
Switch 4 "S-100" # "${HOSTILE[2]}"
[1] "H-1"[1]
[2] "H-2"[1]
[3] "S-200"[1]

switchguid=0x200(200)
Switch 4 "S-200" # "s2"
[1] "S-100"[3]
[2] "H-3"[1]

Ca 1 "H-1" # "h1"
[1](1) "S-100"[1]

Ca 1 "H-2" # "h2"
[1](2) "S-100"[2]

Ca 1 "H-3" # "h3"
[1](3) "S-200"[2]
`);
await write("hostile.weft", `topology hostile.net
sm h1
traffic uniform size 256 rate 20e3 start 10ms
run 10ms
at 12ms fail switch "${HOSTILE[2]}"
run 20ms
`);
await write("names.html", await pageOf(extremes.named(HOSTILE)));

try {
    await Promise.all([
        run("sim", "hostile.weft", "--out", "hostile"),
        run("sim", "death.weft", "--out", "death"),
        run("sweep", "load.sweep", "--store", "load.db").then(() => run("report", "load.db", "--html", "sweep.html")),
        run("whatif", "hostile.net", "--fail", "link", "S-100", "3", "--html", "whatif.html"),
        run("whatif", "hostile.net", "--each-switch", "--html", "ranking.html"),
        run("reproduce", "san03-fig26", "tpds06-fig09", "--quick", "--out", "papers", "--experiments", experiments),
    ]);
    for (const [name, file] of [["a run", "death/report.html"], ["a sweep", "sweep.html"], ["a what-if question", "whatif.html"], ["papers", "papers/index.html"]])
        await claim(`the page of ${name} draws all its data, loads nothing else and has no errors`, async () => {
            const page = await open(file);
            await drawsAll(page);
            same(page.failures, [], "failures");
            same(await collisions(page), [], "labels");
            await page.screenshot({ path: join(artefacts, `report-${name.replaceAll(" ", "-")}.png`), fullPage: true });
            await page.context().close();
        });
    await claim("400 pixels and dark: nothing is wider than the window, no labels collide", async () => {
        const page = await open("death/report.html", { width: 400, theme: "dark" });
        holds(await page.evaluate(() => [...document.querySelectorAll("figure.plot")].every(figure => figure.scrollWidth <= figure.clientWidth)), "plots fit");
        same(await collisions(page), [], "labels");
        await page.screenshot({ path: join(artefacts, "report-narrow-dark.png"), fullPage: true });
        await page.context().close();
    });
    await claim("without JavaScript the page says so, and its verdict and its data can be read", async () => {
        const page = await open("sweep.html", { javaScriptEnabled: false });
        holds((await page.locator(".without").innerText()).includes("JavaScript"), "the reason");
        holds((await page.locator(".verdict").innerText()).includes("All 12 runs finished"), "the verdict");
        holds(JSON.parse(await page.locator("pre.data").innerText()).charts.every(({ panels }) => panels.length === 1), "panels of the data");
        await page.context().close();
    });
    for (const [file, parts] of [
        ["death/report.html", ["longest recovery, simulated", "The fabric", "Timeline", "fail switch S15, at 120 ms", "Changes of the managers", "Packets lost, by cause", "dead node",
            "latency.p99", "Events", "How to run it again", "Trace hash", "at 120ms fail switch S15"]],
        ["sweep.html", ["Curves", "Points", "sm.engine", "lost (k packets)", "±", "How to run it again"]],
        ["whatif.html", ["adapters cut off", "recovery, simulated", "Cut off", "Link load", "Engines", "updn", "To repeat it", "weft whatif"]],
        ["ranking.html", ["Ranking", "busiest link before", "To repeat it"]],
        ["papers/index.html", ["results of the papers hold with preset paper", "fitted values hold with preset today", "Figure 26", "recognise the figure", "holds"]]])
        await claim(`${file} has all its sections`, async () => {
            const page = await open(file), text = await page.locator("body").innerText();
            for (const part of parts) holds(text.includes(part), `'${part}' is shown`);
            holds(!/undefined|NaN|\[object/.test(text), "every value is a text");
            same(page.failures, [], "failures");
            await page.context().close();
        });
    await claim("dragging zooms all panels, the button and Escape end it, the arrow keys read values", async () => {
        const page = await open("death/report.html"), plot = page.locator("figure.plot").first(), over = plot.locator(".u-over").first();
        const ranges = () => page.evaluate(() => window.weft.plots[0].panels.map(({ plot }) => [plot.scales.x.min, plot.scales.x.max]));
        const whole = await ranges();
        await over.scrollIntoViewIfNeeded();
        const box = await over.boundingBox();
        const drag = async () => {
            await page.mouse.move(box.x + box.width * 0.2, box.y + 50);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width * 0.4, box.y + 50, { steps: 4 });
            await page.mouse.up();
        };
        await drag();
        const part = await ranges();
        holds(part.length > 1 && part.every(([low, high]) => low === part[0][0] && high === part[0][1]), "panels share the range");
        const span = (part[0][1] - part[0][0]) / (whole[0][1] - whole[0][0]);
        holds(Math.abs(span - 0.2) < 0.02, `a fifth is shown, not ${span}`);
        same(await collisions(page), [], "labels");
        await plot.locator(".unzoom").click();
        same(await ranges(), whole, "ranges after the button");
        await plot.locator(".areas").focus();
        await page.keyboard.press("+");
        holds((await ranges())[0][1] < whole[0][1], "+ zooms");
        await page.keyboard.press("Escape");
        same(await ranges(), whole, "ranges after Escape");
        for (let step = 0; step < 30; step++) await page.keyboard.press("ArrowRight");
        const tip = await plot.locator(".tip").innerText();
        holds(/^time: [\d.]+ ms/.test(tip) && tip.includes("packets/s") && tip.includes("µs"), `values at the cursor: ${tip}`);
        holds((await plot.locator(".areas").getAttribute("aria-label")).includes("values from"), "a summary in words");
        await page.context().close();
    });
    await claim("a series can be hidden and shown", async () => {
        const page = await open("sweep.html"), drawn = () => page.evaluate(() => window.weft.plots[0].panels[0].drawn);
        const all = await drawn(), first = page.locator("figure.plot").first().locator("button.entry").first();
        holds(all.every(count => count > 0), "all are drawn");
        await first.click();
        same(await drawn(), [0, ...all.slice(1)], "points drawn");
        same(await first.getAttribute("aria-pressed"), "false");
        await first.click();
        same(await drawn(), all, "points drawn");
        await page.context().close();
    });
    await claim("paper is light", async () => {
        const page = await open("death/report.html", { theme: "dark" });
        const corner = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
        same(await corner(), "#181c21", "colour on the screen");
        await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
        same(await corner(), "#ffffff", "colour of the paper");
        await page.evaluate(() => dispatchEvent(new Event("afterprint")));
        same(await corner(), "#181c21", "colour afterwards");
        await page.context().close();
    });
    for (const [file, names] of [["hostile/report.html", [HOSTILE[2]]], ["names.html", HOSTILE]])
        await claim(`names with markup are text in ${file}`, async () => {
            const page = await open(file);
            await drawsAll(page);
            same(page.failures, [], "failures");
            same(await page.evaluate(() => [window.broken ?? 0, document.querySelectorAll("script").length, document.querySelectorAll("img").length]), [0, 1, 0], "nothing ran");
            const text = await page.locator("figure.plot").first().innerText();
            for (const name of names) holds(text.includes(name), `'${name}' is shown`);
            await page.context().close();
        });
    await claim("numbers are written as weft writes them", async () => {
        const { outputFiles } = await build({ entryPoints: [join(here, "../src/format.ts")], bundle: true, write: false, format: "esm" });
        const { quantity } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
        const known = await readFile(join(here, "../../tests/unit/base/quantity_test.c"), "utf8");
        const numbers = [...known.matchAll(/assert_quantity\((\S+), "(.*?)", "(.*?)"\);/g)];
        holds(numbers.length > 15, "the unit test has numbers");
        for (const [, value, unit, text] of numbers)
            same(quantity(Number(value.replace("NAN", "NaN").replace("INFINITY", "Infinity")), unit), text, `${value} ${unit}`);
        for (const [value, unit, text] of BRIEF) same(quantity(value, unit, true), text, `${value} ${unit}, brief`);
    });
    for (const [name, charts] of Object.entries(extremes.charts))
        for (const width of [1000, 400])
            await claim(`${name}, ${width} pixels: all is drawn, no label is cut or touches another`, async () => {
                await write("extreme.html", await pageOf(charts));
                const page = await open("extreme.html", { width });
                await page.screenshot({ path: join(artefacts, `report-${name.replaceAll(" ", "-")}-${width}.png`), fullPage: true });
                same(page.failures, [], "failures");
                await drawsAll(page);
                same(await collisions(page), [], "labels");
                await page.context().close();
            });
} finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
}
finish();
