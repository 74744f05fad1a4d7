// Requests to the API. Reading needs no token; every change sends it in a header that a foreign page
// cannot set. The token comes in the fragment of the URL, which browsers do not send to servers.
import type { Action, ActionResult, Tick } from "./contract";

const ROOT = "/api/v1";
const TOKEN = "weft-token";

export class ApiError extends Error {
    constructor(message: string, readonly status: number) {
        super(message);
    }
}

/** Keeps a token and removes it from the address bar, so that copied links do not contain it. */
export function keepToken(token: string): void {
    try {
        sessionStorage.setItem(TOKEN, token);
    } catch { /* storage is forbidden: the token lives as long as the page */ }
    kept = token;
}

let kept = "";

export function token(): string {
    if (kept) return kept;
    try {
        return sessionStorage.getItem(TOKEN) ?? "";
    } catch {
        return "";
    }
}

async function answer<T>(response: Response): Promise<T> {
    if (response.ok) return await response.json() as T;
    let text = `${response.status} ${response.statusText}`;
    try {
        const body = await response.json() as { error?: string };
        if (body.error) text = body.error;
    } catch { /* not JSON */ }
    throw new ApiError(text, response.status);
}

/** Sends a request; asks again if the server is busy or limits the rate. */
async function request(url: string, options: RequestInit): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
        const response = await fetch(url, options);
        if ((response.status !== 429 && response.status !== 503) || attempt === 5) return response;
        await new Promise(resolve => setTimeout(resolve, 150 * attempt));
    }
}

export async function get<T>(path: string, query: Record<string, number> = {}): Promise<T> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return answer<T>(await request(`${ROOT}${path}${search.size ? `?${search}` : ""}`, { cache: "no-store" }));
}

/** Parameters go as a form; lists are joined by commas, and undefined ones are left out. */
export async function post<T>(path: string, parameters: object): Promise<T> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, String(value));
    return answer<T>(await request(ROOT + path, { method: "POST", headers: { "X-Weft-Token": token() }, body: form }));
}

export async function act(action: Action): Promise<ActionResult> {
    return post<ActionResult>("/actions", action);
}

/** A file that the server makes. The owner of the session gets it whole: packets take long to write, and a
 *  scenario names files. */
export async function exportFile(name: string): Promise<Blob> {
    const response = await request(`${ROOT}/export/${name}`, { cache: "no-store", headers: { "X-Weft-Token": token() } });
    return response.ok ? response.blob() : answer<Blob>(response);
}

/** Bytes of a base64 text. */
export function bytes(text: string): Uint8Array {
    const binary = atob(text);
    const values = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) values[at] = binary.charCodeAt(at);
    return values;
}

export interface StreamHandlers {
    tick: (tick: Tick) => void;
    /** Another run or another topology: read everything again. */
    reset: () => void;
    /** Ticks were lost, or the stream was opened again: read the state again. */
    gap: () => void;
    connected: (connected: boolean) => void;
}

/** Server-sent events. The browser reconnects by itself. */
export function openStream(handlers: StreamHandlers): EventSource {
    const source = new EventSource(`${ROOT}/events`);
    let opened = false;
    source.addEventListener("tick", event => handlers.tick(JSON.parse((event as MessageEvent<string>).data) as Tick));
    source.addEventListener("reset", () => handlers.reset());
    source.addEventListener("lost", () => handlers.gap());
    source.onopen = () => {
        handlers.connected(true);
        if (opened) handlers.gap();
        opened = true;
    };
    source.onerror = () => handlers.connected(false);
    return source;
}
