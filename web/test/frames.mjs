// Times of the page with software GL: node test/frames.mjs [FABRIC ...]. Prints the time to the first picture
// and the times of frames while the map is moved and zoomed.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, openPage } from "./browser.mjs";
import { serve, TOKEN } from "./mock.mjs";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
const names = process.argv.slice(2);
const browser = await openBrowser();
for (const name of names.length ? names : ["tree5832", "tree5832", "tree11664"]) {
    const { mock, url } = await serve(name, dist);
    const page = await openPage(browser, `${url}/#token=${TOKEN}`);
    for (const colour of ["state", "load"]) {
        await page.selectOption("#colouring", colour);
        const times = await page.evaluate(async () => {
            const { sigma } = window.weft.view, camera = sigma.getCamera(), list = [];
            const gl = sigma.getCanvases().edges.getContext("webgl2") ?? sigma.getCanvases().edges.getContext("webgl");
            const pixel = new Uint8Array(4);
            for (let at = 0; at < 60; at++) {
                const start = performance.now();
                camera.setState({ x: 0.5 + 0.1 * Math.sin(at / 6), y: 0.5, ratio: 0.6 + 0.4 * Math.cos(at / 10) });
                sigma.refresh({ partialGraph: {}, skipIndexation: true });
                gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); /* waits for the GPU */
                list.push(performance.now() - start);
                await new Promise(resolve => requestAnimationFrame(resolve));
            }
            return list.sort((one, other) => one - other);
        });
        const at = share => times[Math.floor(times.length * share)].toFixed(1);
        console.log(`${name} by ${colour}: first picture ${Math.round(page.firstPicture)} ms; frame median ${at(0.5)} ms, 95 % ${at(0.95)} ms, most ${times[times.length - 1].toFixed(1)} ms`);
    }
    await page.context().close();
    mock.close();
}
await browser.close();
