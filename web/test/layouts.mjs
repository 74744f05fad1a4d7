// Where the map places nodes and links: WEFT=build/weft node test/layouts.mjs
//
// Needs no browser: takes the topology that weft live serves, and calls the placement of the page. Prints TAP.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { needPackages } from "./browser.mjs";
import { claim, finish, holds, same } from "./claims.mjs";
import { startWeft } from "./server.mjs";

needPackages("esbuild");
const { build } = await import("esbuild");
const source = fileURLToPath(new URL("../src", import.meta.url));
const { outputFiles } = await build({ bundle: true, format: "esm", write: false, stdin: { resolveDir: source, contents:
    'export { makeFabric, isTrunk } from "./fabric"; export { curveOf, place, switchSize } from "./graph/placement"; export { distance } from "./graph/curve";' } });
const { makeFabric, isTrunk, curveOf, place, switchSize, distance } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);

const NETWORKS = ["kary 4 2", "kary 4 3", "fattree 324", "torus 5x5", "torus 4x4x4", "mesh 5x5", "hypercube 5", "ring 9", "hyperx", "dragonfly", "jellyfish 24",
    "irregular 24 hosts=10", "irregular 40 hosts=20 links=70 --seed 5"];
const WINDOWS = [[909, 614], [1548, 894], [400, 450]];
const weft = resolve(process.env.WEFT ?? "build/weft"), folder = await mkdtemp(join(tmpdir(), "weft-layouts-"));
let bent = 0;

async function topologyOf(words) {
    const file = join(folder, "net");
    await writeFile(file, execFileSync(weft, ["topo", "gen", ...words.split(" ")]));
    const { url, stop } = await startWeft(weft, "live", file, "--paused", "--socket", join(folder, "socket"));
    const topology = await (await fetch(`${new URL(url).origin}/api/v1/topology`)).json();
    await stop();
    return topology;
}

/** Links whose curve touches a switch that is not their end. */
function touching(fabric, placement, curve) {
    const switches = fabric.nodes.filter(node => node.kind === "switch"), radius = switchSize(placement.pitch), { x, y } = placement;
    return fabric.links.filter(link => isTrunk(fabric, link)).flatMap(link => switches.filter(({ index }) => index !== link.a && index !== link.b &&
        distance({ x: x[index], y: y[index] }, curve(link)) < radius).map(node => `${fabric.nodes[link.a].name}–${fabric.nodes[link.b].name} at ${node.name}`));
}

try {
    for (const network of NETWORKS) {
        const topology = await topologyOf(network);
        await claim(`${network}: no link passes through a switch that is not its end`, () => {
            for (const arrangement of topology.rooms.name.length ? ["structure", "rooms"] : ["structure"])
                for (const [width, height] of WINDOWS) {
                    const fabric = makeFabric(topology), placement = place(fabric, arrangement, width, height);
                    same(touching(fabric, placement, link => curveOf(placement, link)), [], `${arrangement}, ${width} by ${height}`);
                    bent += placement.via.size;
                }
        });
    }
    await claim("some of these links are bent", () => holds(bent > 50, `${bent} are`));
} finally {
    await rm(folder, { recursive: true });
}
finish();
