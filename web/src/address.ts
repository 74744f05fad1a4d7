// The view in the fragment of the URL, so that a link shows another person the same: tab, selection, colours,
// camera, moment of the past, ends of a path. The token is taken out of the fragment.

export interface ViewAddress {
    token?: string;
    tab?: string;
    colour?: string;
    /** "rooms"; absent: by structure. */
    place?: string;
    /** "n12": node 12; "l3": link 3. */
    select?: string;
    /** x, y, ratio of the camera. */
    camera?: [number, number, number];
    /** Nanoseconds; absent: the present. */
    t?: number;
    path?: [number, number];
}

function numbers(text: string | null): number[] | undefined {
    const list = text?.split(",").map(Number);
    return list?.every(Number.isFinite) ? list : undefined;
}

export function parseAddress(fragment: string): ViewAddress {
    const values = new URLSearchParams(fragment.replace(/^#/, ""));
    const camera = numbers(values.get("camera")), path = numbers(values.get("path")), t = numbers(values.get("t"));
    return {
        token: values.get("token") ?? undefined,
        tab: values.get("tab") ?? undefined,
        colour: values.get("colour") ?? undefined,
        place: values.get("place") ?? undefined,
        select: /^[nl]\d+$/.exec(values.get("select") ?? "")?.[0],
        camera: camera?.length === 3 ? camera as [number, number, number] : undefined,
        t: t?.[0],
        path: path?.length === 2 ? path as [number, number] : undefined,
    };
}

export function formatAddress(view: ViewAddress): string {
    const values = new URLSearchParams();
    if (view.tab && view.tab !== "place") values.set("tab", view.tab);
    if (view.colour && view.colour !== "state") values.set("colour", view.colour);
    if (view.place) values.set("place", view.place);
    if (view.select) values.set("select", view.select);
    if (view.camera) values.set("camera", view.camera.map(value => value.toFixed(4)).join(","));
    if (view.t !== undefined) values.set("t", String(view.t));
    if (view.path) values.set("path", view.path.join(","));
    return `#${values.toString().replaceAll("%2C", ",")}`;
}
