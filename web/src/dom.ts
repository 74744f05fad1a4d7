// Elements are made by functions. Text always becomes a text node: names from the fabric cannot be markup.

export type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

/** Makes an element. `on…` attributes are listeners; null, undefined and false leave an attribute out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, Value> = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    fill(element, ...children);
    return element;
}

export const SVG = "http://www.w3.org/2000/svg";

/** Control characters, and halves of surrogate pairs: a document with them is not well-formed. */
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes an element of SVG. */
export function svg(name: string, attributes: Record<string, string | number>, text?: string): SVGElement {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text.replace(NOT_IN_XML, "\ufffd");
    return made;
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
    const nodes: (Node | string)[] = [];
    for (const child of children.flat()) {
        if (child === null || child === undefined || child === false) continue;
        nodes.push(typeof child === "number" ? String(child) : child);
    }
    element.replaceChildren(...nodes);
}

/** Replaces the children, and keeps the focus on the element with the same `data-key`. Leaves the children as they are
 * while the person is in a field among them. */
export function refill(element: Element, ...children: (Child | Child[])[]): void {
    const active = document.activeElement;
    const inside = active !== null && element.contains(active);
    if (inside && (active instanceof HTMLSelectElement || active instanceof HTMLInputElement)) return;
    const key = inside ? active.getAttribute("data-key") : null;
    fill(element, ...children);
    if (key) [...element.querySelectorAll<HTMLElement>("[data-key]")].find(one => one.dataset.key === key)?.focus();
}

/** The element with this id, which index.html contains. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    const element = document.getElementById(id);
    if (!element) throw new Error(`index.html has no element '${id}'`);
    return element as T;
}

export function button(label: string, action: () => void, attributes: Record<string, Value> = {}): HTMLButtonElement {
    return h("button", { type: "button", onclick: action, "data-key": label, ...attributes }, label);
}

/** A coloured sample beside a label; `colour` is a custom property of style.css. */
export function swatch(colour: string, dot = false): HTMLElement {
    const element = h("span", { class: dot ? "swatch dot" : "swatch", "aria-hidden": "true" });
    element.style.setProperty("--swatch", colour.startsWith("#") ? colour : `var(--${colour})`);
    return element;
}

/** A list of terms and values; rows whose value is null are left out. */
export function facts(rows: [Child | Child[], Child | Child[]][]): HTMLElement {
    const list = h("dl", { class: "facts" });
    for (const [term, value] of rows) {
        if (value === null || value === undefined || value === false) continue;
        list.append(h("dt", {}, term), h("dd", {}, value));
    }
    return list;
}

/** A table with a caption for screen readers. */
export function table(caption: string, heads: string[], rows: (Child | Child[])[][]): HTMLElement {
    return h("div", { class: "scroll" },
        h("table", {},
            h("caption", {}, caption),
            h("thead", {}, h("tr", {}, heads.map(head => h("th", { scope: "col" }, head)))),
            h("tbody", {}, rows.map(row => h("tr", {}, row.map(cell => h("td", {}, cell)))))));
}

/** Shows a message for some seconds; screen readers read it. */
export function notify(text: string, kind: "info" | "error" = "info"): void {
    const place = byId("messages");
    const message = h("div", { class: `message ${kind}`, role: kind === "error" ? "alert" : "status" }, text);
    place.append(message);
    while (place.childElementCount > 4) place.firstElementChild?.remove();
    setTimeout(() => message.remove(), kind === "error" ? 12000 : 5000);
}

/** Offers data as a download. */
export function download(name: string, data: Blob | string, type = "text/plain"): void {
    const blob = typeof data === "string" ? new Blob([data], { type }) : data;
    const url = URL.createObjectURL(blob);
    const link = h("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
