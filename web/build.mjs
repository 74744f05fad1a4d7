// Bundles the page into three files without references to other servers: index.html, weft.js, weft.css.
//
//   node build.mjs FOLDER                   writes the files
//   node build.mjs FOLDER FILE.c FILE.d     also writes them as C arrays, and the sources as a depfile
//
// web/embed runs it; src/host/web/files.h describes the arrays.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [folder, arrays, depfile] = process.argv.slice(2).map(path => resolve(path));
if (!folder) throw new Error("usage: node build.mjs FOLDER [FILE.c FILE.d]");

/** The licences of the bundled packages ask for their text in copies. */
async function licences(names) {
    const texts = await Promise.all(names.map(async name => {
        const files = await readdir(join(here, "node_modules", name));
        const file = files.find(entry => /^licen[cs]e/i.test(entry));
        const text = file ? await readFile(join(here, "node_modules", name, file), "utf8") : "MIT\n";
        return `${name}\n\n${text}`;
    }));
    return `/*\nThis file contains these packages:\n\n${texts.join("\n").replaceAll("*/", "* /")}*/`;
}

const packages = ["uplot"];
await mkdir(folder, { recursive: true });
const result = await build({
    absWorkingDir: here,
    entryPoints: { weft: "src/main.ts" },
    outdir: folder,
    bundle: true,
    minify: true,
    target: "es2022",
    format: "iife",
    charset: "utf8",
    footer: { js: await licences(packages) },
    metafile: true,
    logLevel: "warning",
});
await copyFile(join(here, "src/index.html"), join(folder, "index.html"));

/** One file as an array of C. */
async function array(name, index) {
    const bytes = await readFile(join(folder, name));
    const lines = [];
    for (let at = 0; at < bytes.length; at += 24) lines.push(bytes.subarray(at, at + 24).join(","));
    return `static const unsigned char file_${index}[] = {\n${lines.join(",\n")}};\n`;
}

if (arrays) {
    const files = [
        ["/", "index.html", "text/html; charset=utf-8"],
        ["/weft.js", "weft.js", "text/javascript; charset=utf-8"],
        ["/weft.css", "weft.css", "text/css; charset=utf-8"],
    ];
    const bodies = await Promise.all(files.map(([, name], index) => array(name, index)));
    const rows = files.map(([path, , type], index) =>
        `    {"${path}", "${type}", file_${index}, sizeof file_${index}},\n`);
    await writeFile(arrays, '#include "host/web/files.h"\n\n' + bodies.join("\n") +
        `\nconst struct web_file web_files[] = {\n${rows.join("")}};\n` +
        "const size_t web_file_count = sizeof web_files / sizeof web_files[0];\n");
    const inputs = Object.keys(result.metafile.inputs).concat("src/index.html", "build.mjs", "package-lock.json");
    const target = process.argv[5] ?? relative(process.cwd(), arrays);
    await writeFile(depfile, `${target}: ${inputs.map(input => resolve(here, input)).join(" ")}\n`);
}
