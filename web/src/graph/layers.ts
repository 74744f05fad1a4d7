// The canvases of the map, and when they are drawn.
//
// With software rendering each layer of the page costs as much as all links together, so there are two: the map, which
// is opaque, and the overlay, which is hidden while it is empty. They are drawn by the processor (willReadFrequently):
// software GL needs ten times as long for a line. A small fabric is drawn for every frame. A large one is drawn in parts
// on a canvas that is not shown; until it is finished, the browser moves and scales the last picture, so that a frame
// costs the same for any number of links. That picture is larger than the window (MARGIN), for the way that the map moves meanwhile.
import { project, type CameraState, type Projection } from "./camera";
import type { Box } from "./placement";

const MARGIN = 128;
/** Milliseconds of a frame that drawing in parts may take: while the camera moves, and while it rests. */
const MOVING_SLICE = 5, RESTING_SLICE = 25, REST = 150;
/** Milliseconds between the start of two pictures. */
const PICTURE_INTERVAL = 250;
const LARGEST_PIXEL_RATIO = 2;

export interface Artist<Painted> {
    /** True: the picture is drawn for every frame. */
    isSmall(): boolean;
    choose(projection: Projection): Painted;
    paint(context: CanvasRenderingContext2D, projection: Projection, painted: Painted): Iterator<void>;
    /** Draws what is above the map; false: there is nothing. */
    paintOverlay(context: CanvasRenderingContext2D, projection: Projection, painted: Painted): boolean;
    camera(): CameraState;
    frame(): Box;
    /** Another picture is shown. */
    shown(painted: Painted): void;
}

/** Pictures are drawn for a wider window, by MARGIN; their projections are those of the window. */
export interface Picture<Painted> { projection: Projection; painted: Painted }
interface Job<Painted> extends Picture<Painted> { work: Iterator<void> }

function makeCanvas(parent: HTMLElement, opaque: boolean): CanvasRenderingContext2D {
    const canvas = document.createElement("canvas");
    canvas.style.position = "absolute";
    canvas.hidden = true;
    parent.append(canvas);
    return canvas.getContext("2d", { alpha: !opaque, willReadFrequently: true })!;
}

export class Layers<Painted> {
    width = 1;
    height = 1;
    private readonly sheet = document.createElement("div");
    private front: CanvasRenderingContext2D;
    private back: CanvasRenderingContext2D;
    private readonly overlay: CanvasRenderingContext2D;
    private margin = 0;
    private pixelRatio = 1;
    private scheduled = false;
    private stale = true;
    private job: Job<Painted> | null = null;
    private drawn: Picture<Painted> | null = null;
    private started = -PICTURE_INTERVAL;
    private moved = -REST;

    constructor(private readonly container: HTMLElement, private readonly artist: Artist<Painted>) {
        this.sheet.style.cssText = "position: absolute; inset: 0; transform-origin: 0 0";
        container.append(this.sheet);
        this.front = makeCanvas(this.sheet, true);
        this.back = makeCanvas(this.sheet, true);
        this.overlay = makeCanvas(this.sheet, false);
        this.measure();
    }

    /** Takes the size of the window; the next frame draws everything. */
    measure(): void {
        this.width = Math.max(1, this.container.clientWidth);
        this.height = Math.max(1, this.container.clientHeight);
        this.drawn = this.job = null;
    }

    /** The projection of the window for the present camera. */
    projection(): Projection {
        return project(this.artist.frame(), this.artist.camera(), this.width, this.height);
    }

    /** The camera has moved. */
    move(): void {
        this.moved = performance.now();
        this.schedule();
    }

    /** The fabric looks different. */
    change(): void {
        this.stale = true;
        this.schedule();
    }

    /** Another fabric, or another place for its nodes: nothing of the picture can be kept. */
    restart(): void {
        this.drawn = this.job = null;
        this.change();
    }

    changeOverlay(): void {
        if (this.drawn) this.drawOverlay(this.drawn);
    }

    /** True if the picture shows the present fabric for the present camera. */
    isSettled(): boolean {
        return !this.stale && !this.job && this.drawn !== null && this.drawn.projection.isSame(this.projection());
    }

    /** The picture in the window, drawn at once on a canvas of its own. */
    copy(): Picture<Painted> & { canvas: HTMLCanvasElement } {
        const canvas = document.createElement("canvas"), context = canvas.getContext("2d", { willReadFrequently: true })!;
        const projection = this.projection(), painted = this.artist.choose(projection);
        this.size(context, 0);
        finish(this.artist.paint(context, projection, painted));
        this.artist.paintOverlay(context, projection, painted);
        return { canvas, projection, painted };
    }

    private schedule(): void {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => { this.scheduled = false; this.frame(); });
    }

    private frame(): void {
        const wanted = this.projection();
        if (!this.drawn || this.artist.isSmall()) {
            if (this.drawn && !this.stale && this.drawn.projection.isSame(wanted)) return;
            this.job = this.begin(wanted);
            finish(this.job.work);
            this.show(this.job, wanted);
            return;
        }
        const now = performance.now(), resting = now - this.moved > REST;
        const outdated = this.stale || !this.drawn.projection.isSame(wanted);
        if (!this.job && outdated && (resting && !this.stale || now - this.started > PICTURE_INTERVAL)) this.job = this.begin(wanted);
        if (this.job && this.advance(this.job, now + (resting ? RESTING_SLICE : MOVING_SLICE))) this.show(this.job, wanted);
        else this.transform(this.drawn.projection, wanted);
        if (this.job || this.stale || !this.drawn.projection.isSame(wanted)) this.schedule();
    }

    private begin(wanted: Projection): Job<Painted> {
        this.margin = this.artist.isSmall() ? 0 : MARGIN;
        this.size(this.back, this.margin);
        this.stale = false;
        this.started = performance.now();
        const wide = wanted.widened(this.margin), painted = this.artist.choose(wide);
        return { work: this.artist.paint(this.back, wide, painted), projection: wanted, painted };
    }

    /** Draws until the time is up; true: the picture is finished. Reading a pixel makes the browser draw what it has recorded. */
    private advance(job: Job<Painted>, end: number): boolean {
        for (let part = 0; ; part++) {
            if (job.work.next().done) return true;
            if (part % 4 !== 3) continue;
            this.back.getImageData(0, 0, 1, 1);
            if (performance.now() > end) return false;
        }
    }

    private show({ projection, painted }: Job<Painted>, wanted: Projection): void {
        [this.front, this.back] = [this.back, this.front];
        this.front.canvas.hidden = false;
        this.back.canvas.hidden = true;
        this.job = null;
        if (!this.drawn) performance.mark("weft-picture");
        this.drawn = { projection, painted };
        this.transform(projection, wanted);
        this.drawOverlay(this.drawn);
        this.artist.shown(painted);
    }

    private drawOverlay({ projection, painted }: Picture<Painted>): void {
        this.size(this.overlay, this.margin);
        this.overlay.canvas.hidden = !this.artist.paintOverlay(this.overlay, projection.widened(this.margin), painted);
    }

    /** Moves and scales the picture of one projection to where another has it. */
    private transform(from: Projection, to: Projection): void {
        const scale = to.scale / from.scale;
        this.sheet.style.transform = from.isSame(to) ? "" : `translate(${to.left - from.left * scale}px, ${to.top - from.top * scale}px) scale(${scale})`;
    }

    /** Gives a canvas its size, if it has another one, and coordinates in pixels of the window. */
    private size(context: CanvasRenderingContext2D, margin: number): void {
        const { canvas } = context;
        this.pixelRatio = Math.min(LARGEST_PIXEL_RATIO, window.devicePixelRatio || 1);
        const width = Math.round((this.width + 2 * margin) * this.pixelRatio), height = Math.round((this.height + 2 * margin) * this.pixelRatio);
        if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
        canvas.style.width = `${this.width + 2 * margin}px`;
        canvas.style.height = `${this.height + 2 * margin}px`;
        canvas.style.left = canvas.style.top = `${-margin}px`;
        context.setTransform(this.pixelRatio, 0, 0, this.pixelRatio, 0, 0);
    }
}

function finish(work: Iterator<void>): void {
    while (!work.next().done);
}
