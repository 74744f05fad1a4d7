// Starts a weft that serves a page.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Returns the URL that weft prints, with its token, and a function that stops it. */
export async function startWeft(weft, ...words) {
    const server = spawn(weft, words, { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise(done => server.on("exit", done));
    const url = await new Promise((found, failed) => {
        for (const output of [server.stdout, server.stderr])
            createInterface(output).on("line", line => { const match = /http:\/\/\S+/.exec(line); if (match) found(match[0]); });
        server.on("exit", code => failed(new Error(`weft ${words[0]} ended with ${code}`)));
    });
    return { url, stop: () => { server.kill(); return ended; } };
}
