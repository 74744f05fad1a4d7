// The key of a plot. Series are buttons that hide and show them; bands and hollow points are only explained.
import { h, svg } from "../dom";
import { isBar, type Chart, type Group } from "./data";
import { BAR_ALPHA, SHAPES } from "./draw";

/** A line, a marker or a bar in the colour of the group. */
function sample(group: Group, hollow = false): SVGElement {
    const picture = svg("svg", { class: `sample k${group.colour}`, viewBox: "-11 -8 22 16", width: 22, height: 16, "aria-hidden": "true" });
    if (isBar(group)) picture.append(svg("rect", { x: -6, y: -6, width: 12, height: 12, fill: "currentColor", opacity: BAR_ALPHA[group.colour] }));
    else {
        if (group.style !== "points") picture.append(svg("path", { d: "M-10 0h20", stroke: "currentColor", "stroke-width": 1.8 }));
        if (group.style === "points" || group.style === "lines+points")
            picture.append(svg("path", { d: SHAPES[group.shape] ?? SHAPES[0], class: hollow ? "hollow" : "filled" }));
    }
    return picture;
}

function swatch(colour: number): HTMLElement {
    const box = h("span", { class: "swatch", "aria-hidden": "true" });
    box.style.background = `var(--b${colour})`;
    return box;
}

/** Series with a name, as buttons; `toggle` hides or shows one and returns whether it is shown. */
export function seriesKey(groups: Group[], toggle: (group: Group) => boolean): HTMLElement[] {
    return groups.filter(group => group.name).map(group => {
        const button: HTMLButtonElement = h("button", { type: "button", class: "entry", "aria-pressed": "true", title: `Hide or show ${group.name}`,
            onclick: () => button.setAttribute("aria-pressed", String(toggle(group))) }, sample(group), h("span", {}, group.name));
        return button;
    });
}

/** What bands and hollow points mean. */
export function otherKey(chart: Chart): HTMLElement[] {
    const bands = new Map(chart.bands.map(band => [band.name, band.colour]));
    const neutral: Group = { name: "", style: "points", colour: 6, shape: 0, points: [] };
    const entries = [...bands].sort(([, a], [, b]) => a - b).map(([name, colour]) => h("span", { class: "entry" }, swatch(colour), name));
    if (chart.hollow && chart.panels.some(panel => panel.groups.some(group => group.points.some(point => point[4]))))
        entries.push(h("span", { class: "entry" }, sample(neutral, true), chart.hollow));
    return entries;
}
