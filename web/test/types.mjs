// The sources of the page have no type errors, as the TypeScript compiler sees them. Prints TAP.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { claim, finish } from "./claims.mjs";
import { needPackages } from "./browser.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
needPackages("typescript");
await claim("the sources have no type errors", async () => {
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", root])
        .catch(error => { throw new Error(error.stdout || error.message); });
});
finish();
