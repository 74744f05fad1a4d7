// Numbers for people.

/** A duration or a time in nanoseconds, with a unit that keeps it short. */
export function duration(ns: number): string {
    const size = Math.abs(ns);
    if (size < 1e3) return `${Math.round(ns)} ns`;
    if (size < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
    if (size < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
    return `${(ns / 1e9).toPrecision(4)} s`;
}

/** A moment of the run, always in milliseconds with six places, so that columns align. */
export function moment(ns: number): string {
    return `${(ns / 1e6).toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ms`;
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
export function pace(seconds: number): string {
    return `1 s shows ${duration(seconds * 1e9)}`;
}

export function hex(value: number, digits = 4): string {
    return `0x${value.toString(16).padStart(digits, "0")}`;
}
