// Numbers for people.

/** A duration or a time in nanoseconds, with a unit that keeps it short. */
export function duration(ns: number): string {
    const size = Math.abs(ns);
    if (size < 1e3) return `${Math.round(ns)} ns`;
    if (size < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
    if (size < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
    if (size < 1e11) return `${(ns / 1e9).toPrecision(3)} s`;
    const minutes = Math.round(ns / 6e10), days = Math.floor(minutes / 1440);
    if (size < 7.2e12) return `${minutes} min`;
    return days > 1 ? `${days} d ${Math.floor(minutes / 60) % 24} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

let begin: number | undefined;

/** From now on moments are those of the wall clock: Unix time in ms at 0. Undefined: of virtual time. */
export function setBegin(ms: number | undefined): void {
    begin = ms;
}

function wallTime(ms: number): string {
    const two = (value: number) => String(value).padStart(2, "0"), date = new Date(ms), today = new Date();
    const day = date.toDateString() === today.toDateString() ? "" : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `;
    return `${day}${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** A moment: of the wall clock, or of the run, always in milliseconds with three places, so that columns align. */
export function moment(ns: number): string {
    if (begin !== undefined) return wallTime(begin + ns / 1e6);
    return `${(ns / 1e6).toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ms`;
}

/** A time in picoseconds with all its digits: "60.1 s", "5.25 ms", as src/base/time.h writes it. */
export function instant(ps: number): string {
    if (ps === 0) return "0 s";
    const unit = Math.min(4, Math.max(0, Math.floor(Math.log10(ps) / 3 + 1e-12))), digits = unit === 4 ? 6 : unit ? 3 : 0;
    const scale = 10 ** digits;
    return `${Math.floor(ps / 10 ** (3 * unit) * scale + 1e-6) / scale} ${["ps", "ns", "µs", "ms", "s"][unit]}`;
}

export function rate(bits: number): string {
    if (bits < 1e3) return `${Math.round(bits)} bit/s`;
    if (bits < 1e6) return `${(bits / 1e3).toPrecision(3)} kbit/s`;
    if (bits < 1e9) return `${(bits / 1e6).toPrecision(3)} Mbit/s`;
    if (bits < 1e12) return `${(bits / 1e9).toPrecision(3)} Gbit/s`;
    return `${(bits / 1e12).toPrecision(3)} Tbit/s`;
}

export function count(value: number): string {
    return value.toLocaleString("en-US");
}

/** "1 link", "2 links". */
export function plural(value: number, word: string, many = `${word}s`): string {
    return `${count(value)} ${value === 1 ? word : many}`;
}

/** How much virtual time passes in a second. */
export function pace(seconds: number, atMost = false): string {
    return `1 s shows ${atMost ? "less than " : ""}${duration(seconds * 1e9)}`;
}

export function hex(value: number, digits = 4): string {
    return `0x${value.toString(16).padStart(digits, "0")}`;
}

const PREFIXES = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P"], NO_PREFIX = 4;
/** Units that follow their prefix directly (ms); others are words (k packets). */
const SYMBOLS: Record<string, string | undefined> = { s: "s", "bits/s": "bit/s", "bit/s": "bit/s", "bytes/s": "B/s", bytes: "B" };

/** A number with commas and a minus sign. */
export function decimal(value: number, decimals: number): string {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
    if (Math.abs(value) >= 1e15) return value.toExponential(2);
    const text = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: "min2" });
    return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** Decimals for three significant digits. */
function threeDigits(value: number): number {
    const size = Math.abs(value);
    return size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : Math.min(9, 2 + Math.max(0, Math.ceil(-Math.log10(size / 0.9995))));
}

/** Words have no small prefixes (no millipackets), seconds no large ones. */
function prefixOf(value: number, unit: string): number {
    const least = unit in SYMBOLS ? 0 : NO_PREFIX, most = unit === "s" ? NO_PREFIX : PREFIXES.length - 1;
    if (value === 0) return NO_PREFIX;
    return Math.min(most, Math.max(least, NO_PREFIX + Math.floor(Math.log10(Math.abs(value) / 0.9995) / 3)));
}

/** "1.25 ms", "41.2 k packets/s", "75,123 packets", "0.05 %": as src/base/quantity.h writes it. `brief` leaves out zeros
 * behind the point and words as units: "86.5 ms", "12,000", "2 M". */
export function quantity(value: number, unit: string, brief = false): string {
    const symbol = SYMBOLS[unit], counted = unit === "bytes" || (symbol === undefined && !unit.endsWith("/s"));
    if (!Number.isFinite(value)) return decimal(value, 0);
    let whole = Number.isInteger(value) && Math.abs(value) < (symbol === undefined ? 1e7 : 1e4), prefix = NO_PREFIX;
    let shown = symbol ?? unit;
    if (unit === "share") {
        value *= 100;
        shown = "%";
        whole = Number.isInteger(value);
    } else {
        if (brief ? symbol !== undefined || Math.abs(value) >= 99999.5 : !counted || !whole) {
            prefix = prefixOf(value, unit);
            value /= 10 ** (3 * (prefix - NO_PREFIX));
            whole = false;
        }
        if (brief && symbol === undefined) shown = "";
    }
    let text = decimal(value, whole ? 0 : threeDigits(value));
    if (brief && text.includes(".")) text = text.replace(/\.?0+$/, "");
    const gap = symbol === undefined && shown && prefix !== NO_PREFIX ? " " : "";
    const tail = `${PREFIXES[prefix]}${gap}${shown}`;
    return tail ? `${text} ${tail}` : text;
}
