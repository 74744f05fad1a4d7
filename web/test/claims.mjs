// TAP output, comparison, and waiting without fixed sleeps.
import { isDeepStrictEqual } from "node:util";

const LONGEST_WAIT = 120000; /* ms; only a failure takes so long */
let claims = 0, failed = 0;

/** Runs a function; the claim holds if it does not throw. */
export async function claim(text, run) {
    claims++;
    const start = performance.now();
    try {
        await run();
        console.log(`ok ${claims} - ${text}`);
        if (performance.now() - start > 3000) console.log(`# ${Math.round(performance.now() - start)} ms`);
    } catch (error) {
        failed++;
        console.log(`not ok ${claims} - ${text}`);
        console.log(String(error?.stack ?? error).split("\n").slice(0, 30).map(line => `# ${line}`).join("\n"));
    }
}

export function finish() {
    console.log(`1..${claims}`);
    process.exitCode = failed ? 1 : 0;
}

export function skipAll(reason) {
    console.log(`1..0 # SKIP ${reason}`);
    process.exit(0);
}

export function same(found, wanted, what = "value") {
    if (!isDeepStrictEqual(found, wanted)) throw new Error(`${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
}

export function holds(condition, what) {
    if (!condition) throw new Error(`not true: ${what}`);
}

/** Calls `read` until `accept` takes what it returns. */
export async function until(what, read, accept = Boolean) {
    const end = Date.now() + LONGEST_WAIT;
    for (let value; ;) {
        value = await read();
        if (accept(value)) return value;
        if (Date.now() > end) throw new Error(`never: ${what}; last ${JSON.stringify(value)}`);
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}
