// Bundles the live page (index.html, weft.js, weft.css) and HTML reports (report.js, report.css), without
// references to other servers.
//
//   node build.mjs FOLDER                   writes the files
//   node build.mjs FOLDER FILE.c FILE.d     also writes them as C arrays, and the sources as a depfile
//
// web/embed runs it; src/web/files.h describes the arrays.
import { build } from "esbuild";
import { createHash } from "node:crypto";
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

/** Bundles one entry and returns its sources. */
async function bundle(entryPoints, packages) {
    const { metafile } = await build({
        absWorkingDir: here,
        entryPoints,
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
    return Object.keys(metafile.inputs);
}

await mkdir(folder, { recursive: true });
const sources = new Set([
    ...await bundle({ weft: "src/main.ts" }, ["uplot"]),
    ...await bundle({ report: "src/report/main.ts" }, ["uplot"]),
    "src/index.html", "build.mjs", "package-lock.json",
]);
await copyFile(join(here, "src/index.html"), join(folder, "index.html"));

/** Bytes as an array of C. */
function array(name, bytes) {
    const lines = [];
    for (let at = 0; at < bytes.length; at += 24) lines.push(bytes.subarray(at, at + 24).join(","));
    return `static const unsigned char ${name}[] = {\n${lines.join(",\n")}};\n`;
}

/** The script and style of reports, as the text of a <script> and a <style> element of a page that is HTML and well-formed XML. */
async function plots() {
    const code = (await readFile(join(folder, "report.js"), "utf8")).replaceAll("]]>", "]] >");
    const style = await readFile(join(folder, "report.css"), "utf8");
    if (/<\/?script|<!--|\r/i.test(code) || /[<&]|]]>/.test(style)) throw new Error("report.js or report.css cannot be inline");
    const script = `//<![CDATA[\n${code}\n//]]>`;
    const hash = createHash("sha256").update(script).digest("base64");
    const text = (name, value) => array(name, Buffer.from(`${value}\0`));
    return `${text("script", script)}\n${text("style", style)}\n` +
        `const struct web_plots web_plots = {(const char *)script, (const char *)style, "sha256-${hash}"};\n`;
}

if (arrays) {
    const files = [
        ["/", "index.html", "text/html; charset=utf-8"],
        ["/weft.js", "weft.js", "text/javascript; charset=utf-8"],
        ["/weft.css", "weft.css", "text/css; charset=utf-8"],
    ];
    const bodies = await Promise.all(files.map(async ([, name], index) =>
        array(`file_${index}`, await readFile(join(folder, name)))));
    const rows = files.map(([path, , type], index) =>
        `    {"${path}", "${type}", file_${index}, sizeof file_${index}},\n`);
    await writeFile(arrays, '#include "web/files.h"\n\n' + bodies.join("\n") +
        `\nconst struct web_file web_files[] = {\n${rows.join("")}};\n` +
        `const size_t web_file_count = sizeof web_files / sizeof web_files[0];\n\n${await plots()}`);
    const target = process.argv[5] ?? relative(process.cwd(), arrays);
    await writeFile(depfile, `${target}: ${[...sources].map(source => resolve(here, source)).join(" ")}\n`);
}
