// Which part of the map the window shows, and the conversion between positions of the map and pixels.
import type { Box } from "./placement";

/** The middle of the window as a share of the frame of the map, and the share of the frame that it shows. */
export interface CameraState { x: number; y: number; ratio: number }

export interface Point { x: number; y: number }

export const WHOLE: CameraState = { x: 0.5, y: 0.5, ratio: 1 };
const NEAREST = 0.002, FARTHEST = 4;

export function boundedRatio(ratio: number): number {
    return Math.max(NEAREST, Math.min(FARTHEST, ratio));
}

/** The linear map from positions to pixels of a window. */
export class Projection {
    /** `inset`: the window is larger by this than what is seen. */
    constructor(readonly scale: number, readonly left: number, readonly top: number, readonly width: number, readonly height: number, readonly inset = 0) {}

    toWindow(at: Point): Point {
        return { x: at.x * this.scale + this.left, y: at.y * this.scale + this.top };
    }

    toMap(at: Point): Point {
        return { x: (at.x - this.left) / this.scale, y: (at.y - this.top) / this.scale };
    }

    /** The same for a window that is larger at all sides. */
    widened(by: number): Projection {
        return new Projection(this.scale, this.left + by, this.top + by, this.width + 2 * by, this.height + 2 * by, by);
    }

    isSame(other: Projection): boolean {
        return this.scale === other.scale && this.left === other.left && this.top === other.top;
    }
}

/** What a window of this size shows. */
export function project(frame: Box, camera: CameraState, width: number, height: number): Projection {
    const across = frame.right - frame.left, down = frame.bottom - frame.top;
    const scale = Math.min(width / across, height / down) / camera.ratio;
    return new Projection(scale, width / 2 - (frame.left + camera.x * across) * scale, height / 2 - (frame.top + camera.y * down) * scale, width, height);
}

/** The camera that shows a position of the map at a point of a window. */
export function cameraFor(frame: Box, position: Point, at: Point, ratio: number, width: number, height: number): CameraState {
    const { scale, left, top } = project(frame, { x: 0, y: 0, ratio }, width, height);
    return { x: (position.x * scale + left - at.x) / scale / (frame.right - frame.left),
        y: (position.y * scale + top - at.y) / scale / (frame.bottom - frame.top), ratio };
}

export class Camera {
    onMove: () => void = () => {};
    private state: CameraState = WHOLE;
    private animation = 0;

    getState(): CameraState {
        return this.state;
    }

    setState(state: Partial<CameraState>): void {
        cancelAnimationFrame(this.animation);
        this.animation = 0;
        this.change(state);
    }

    isAnimated(): boolean {
        return this.animation !== 0;
    }

    /** Moves there within some milliseconds, fast first. */
    animate(target: Partial<CameraState>, duration: number): void {
        cancelAnimationFrame(this.animation);
        const from = this.state, to = { ...from, ...target }, start = performance.now();
        const step = () => {
            const share = Math.min(1, (performance.now() - start) / duration), eased = share * (2 - share);
            this.animation = share < 1 ? requestAnimationFrame(step) : 0;
            this.change({ x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased,
                ratio: from.ratio * (to.ratio / from.ratio) ** eased });
        };
        this.animation = requestAnimationFrame(step);
    }

    private change(state: Partial<CameraState>): void {
        const next = { ...this.state, ...state };
        if (![next.x, next.y, next.ratio].every(Number.isFinite)) return;
        this.state = { ...next, ratio: boundedRatio(next.ratio) };
        this.onMove();
    }
}
