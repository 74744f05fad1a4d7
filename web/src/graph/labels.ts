// Places for names: beside their node, where neither a node nor another name is. The window is divided into cells,
// of which names and nodes take some; who comes first is served first.

export interface Label { text: string; x: number; y: number }

const CELL = 4;
export const LABEL_FONT = "11px system-ui, sans-serif";
const HEIGHT = 12;

export class LabelPlaces {
    private readonly columns: number;
    private readonly rows: number;
    private readonly taken: Uint8Array;

    constructor(private readonly width: number, private readonly height: number, private readonly measure: (text: string) => number) {
        this.columns = Math.ceil(width / CELL) + 1;
        this.rows = Math.ceil(height / CELL) + 1;
        this.taken = new Uint8Array(this.columns * this.rows);
    }

    private each(left: number, top: number, right: number, bottom: number, visit: (cell: number) => boolean): boolean {
        const first = Math.max(0, Math.floor(left / CELL)), last = Math.min(this.columns - 1, Math.floor(right / CELL));
        const end = Math.min(this.rows - 1, Math.floor(bottom / CELL));
        for (let row = Math.max(0, Math.floor(top / CELL)); row <= end; row++)
            for (let column = first; column <= last; column++)
                if (!visit(row * this.columns + column)) return false;
        return true;
    }

    take(left: number, top: number, right: number, bottom: number): void {
        this.each(left, top, right, bottom, cell => { this.taken[cell] = 1; return true; });
    }

    /** The edges of an area inside. */
    takeFrame(inset: number): void {
        const right = this.width - inset, bottom = this.height - inset;
        this.take(inset, inset, right, inset);
        this.take(inset, bottom, right, bottom);
        this.take(inset, inset, inset, bottom);
        this.take(right, inset, right, bottom);
    }

    private isFree(left: number, top: number, right: number, bottom: number): boolean {
        return left >= 2 && top >= 2 && right <= this.width - 2 && bottom <= this.height - 2 && this.isEmpty(left, top, right, bottom);
    }

    private isEmpty(left: number, top: number, right: number, bottom: number): boolean {
        return right <= left || this.each(left, top, right, bottom, cell => !this.taken[cell]);
    }

    /** Right of a node, below, above or left of it; the first of the texts that fits. Null: none does. */
    place(x: number, y: number, radius: number, texts: string[]): Label | null {
        for (const text of texts) {
            const width = this.measure(text), away = radius + 4;
            for (const [left, middle] of [[x + away, y], [x - width / 2, y + away + HEIGHT / 2 - 1], [x - width / 2, y - away - HEIGHT / 2 + 1], [x - away - width, y]]) {
                const top = middle - HEIGHT / 2, right = left + width;
                if (!this.isFree(left, top, right, top + HEIGHT)) continue;
                // A name below or above several nodes could be that of any of them.
                if (middle !== y && !(this.isEmpty(left, y - radius, x - radius - CELL, y + radius) && this.isEmpty(x + radius + CELL, y - radius, right, y + radius))) continue;
                this.take(left - 2, top, right + 4, top + HEIGHT);
                return { text, x: left, y: middle };
            }
        }
        return null;
    }
}
