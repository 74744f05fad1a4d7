// Plots with data that is hard to draw: long and hostile names, many categories, huge and tiny numbers, gaps.
const ENDLESS = "a text that is much longer than any picture is wide, with more words than anybody would read in the title of a plot, and then some more";
const REACHES = [1, 300000, 1e7, 1e12, 3e-9];

function axis(words) {
    return { title: "", label: "", unit: "", scale: "", low: 0, high: 1, factor: 1, ...words };
}

function chart(words) {
    return { hollow: "", x: axis({}), categories: [], bands: [], marks: [], panels: [], ...words };
}

function group(at, style, points, name = "") {
    return { name, style, colour: at % 8, shape: at % 5, points };
}

/** Lines that reach `reach` in both directions, with long names, hollow points and marks. */
function lines(reach) {
    const groups = Array.from({ length: 12 }, (_, at) => group(at, "lines+points",
        [1, 2, 3, 4].map(step => [reach * step / 4, reach * (step + at) / 16, null, null, ...(step === 4 ? [true] : [])]), ENDLESS.slice(at)));
    const factor = reach >= 1e12 ? 1e12 : reach >= 1e7 ? 1e6 : reach >= 300000 ? 1e3 : reach < 1e-6 ? 1e-9 : 1;
    const words = { title: ENDLESS, label: ENDLESS, unit: reach < 1 ? "s" : "packets/s", low: 0, high: reach, factor };
    return chart({ hollow: "a note on hollow points that is quite long itself", x: axis(words),
        marks: Array.from({ length: 6 }, (_, at) => ({ x: reach * (0.4 + 0.12 * at), label: ENDLESS.slice(at) })),
        panels: [{ height: 0, y: axis(words), groups }] });
}

function bars(categories, groups, style) {
    const high = style === "stacked" ? 123456789 * groups * 1.1 : 150000000;
    return chart({ x: axis({ title: "category", low: -0.5, high: categories - 0.5 }), categories: Array.from({ length: categories }, (_, at) => ENDLESS.slice(at % 40)),
        panels: [{ height: 0, y: axis({ title: "time (s)", unit: groups % 2 ? "s" : "packets", high }),
            groups: Array.from({ length: groups }, (_, at) => group(at, style, Array.from({ length: categories }, (__, x) =>
                [x, 123456789 - at - x, ...(at && style === "bars" ? [113456789, 133456789] : [])]), ENDLESS.slice(at))) }] });
}

/** Several panels with bands, most of them too narrow for a name, and many marks at nearly the same time. */
function timeline() {
    const x = axis({ title: "time (ms)", label: "time", unit: "s", low: -0.01, high: 0.99, factor: 0.001 });
    const steps = Array.from({ length: 1500 }, (_, at) => [at / 1500, at % 50 === 7 ? null : Math.sin(at / 40) * 1e9 + 2e9]);
    return chart({ x, bands: Array.from({ length: 40 }, (_, at) => ({ from: at / 50, to: (at + (at % 4 ? 0.05 : 1)) / 50, name: ["detect", "discover", "compute", "distribute"][at % 4], detail: "1 ms", colour: at % 4 })),
        marks: Array.from({ length: 12 }, (_, at) => ({ x: at * at / 130, label: `fail switch with the number ${at}` })),
        panels: ["lines", "steps", "points"].map((style, at) => ({ height: 112, y: axis({ title: "rate (Gbit/s)", unit: "bits/s", low: 0, high: 3.2e9, factor: 1e9 }),
            groups: [group(at, style, steps, `${style} ${ENDLESS.slice(0, 20)}`)] })) });
}

const odd = [
    chart({ panels: [{ height: 0, y: axis({ title: "nothing" }), groups: [group(0, "lines", [], "none")] }] }),
    chart({ panels: [{ height: 0, y: axis({}), groups: [] }], bands: [{ from: 0.2, to: 0.7, name: "compute", detail: "", colour: 2 }] }),
    chart({ x: axis({ low: 0, high: 6 }), panels: [{ height: 0, y: axis({ low: 0, high: 8 }), groups: [group(0, "lines+points", [[3, 5], [null, 5], [4, null]])] }] }),
    // A curve that turns back, an error bar without ends, stars.
    chart({ x: axis({ title: "accepted (packets/s)", low: 0, high: 4 }), panels: [{ height: 0, y: axis({ title: "latency (µs)", unit: "s", high: 4e-5, factor: 1e-6 }),
        groups: [group(0, "lines+points", [[1, 1e-6], [2, 2e-6, -1, 1], [3.5, 9e-6, 5e-6, 1.3e-5], [3, 2e-5], [2.5, 3.8e-5, null, null, true]], "FERa"),
            { name: "paper", style: "points", colour: 6, shape: 5, points: [[2, 1e-5]] }] }] }),
    // A histogram, and values below zero.
    chart({ x: axis({ low: -0.5, high: 9.5 }), panels: [{ height: 0, y: axis({ low: -5, high: 5 }), groups: [group(0, "bars", Array.from({ length: 10 }, (_, at) => [at, at - 5]))] }] }),
];

export const extremes = {
    charts: {
        "lines": REACHES.map(reach => lines(reach)),
        "bars": [1, 5, 12, 40, 150].flatMap(categories => [bars(categories, categories % 2 ? 1 : 4, "bars"), bars(categories, 3, "stacked")]),
        "time": [timeline()],
        "odd data": odd,
    },
    /** Plots whose every text is one of these names. */
    named: names => names.map(name => chart({ hollow: name, x: axis({ title: name, label: name, unit: name, low: -0.5, high: 1.5 }),
        categories: [name, "plain"], bands: [{ from: 0, to: 1, name, detail: name, colour: 0 }], marks: [{ x: 0.5, label: name }],
        panels: [{ height: 0, y: axis({ title: names.join(" "), label: name, unit: name, high: 5 }), groups: [group(0, "bars", [[0, 3], [1, 4, 3, 5, true]], name)] }] })),
};
