// Mouse, touch and pen on the map: drag, wheel, pinch, double click, click and hover. Positions are pixels of the element.
import type { Point } from "./camera";

export interface PointerActions {
    drag(dx: number, dy: number): void;
    /** Factors below 1 zoom in; the point stays where it is. */
    zoom(factor: number, at: Point): void;
    jump(factor: number, at: Point): void;
    click(at: Point): void;
    hover(at: Point | null): void;
}

/** A press that moves less is a click. */
const CLICK_PIXELS = 4;
const WHEEL_STEP = 1.0016, LARGEST_WHEEL = 240;

export function followPointer(element: HTMLElement, actions: PointerActions): void {
    const pressed = new Map<number, Point>();
    let travelled = 0;
    const position = (event: PointerEvent | WheelEvent | MouseEvent): Point => {
        const box = element.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const middle = (): Point & { spread: number } => {
        const [one, other] = [...pressed.values()];
        return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, spread: Math.hypot(one.x - other.x, one.y - other.y) };
    };
    element.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        if (!pressed.size) travelled = 0;
        pressed.set(event.pointerId, position(event));
        element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", event => {
        const at = position(event), before = pressed.get(event.pointerId);
        if (!before) { actions.hover(at); return; }
        if (pressed.size === 1) {
            travelled += Math.hypot(at.x - before.x, at.y - before.y);
            pressed.set(event.pointerId, at);
            if (travelled > CLICK_PIXELS) actions.drag(at.x - before.x, at.y - before.y);
        } else if (pressed.size === 2) {
            const old = middle();
            pressed.set(event.pointerId, at);
            const now = middle();
            travelled = Infinity;
            actions.drag(now.x - old.x, now.y - old.y);
            if (old.spread > 0 && now.spread > 0) actions.zoom(old.spread / now.spread, now);
        }
    });
    const release = (event: PointerEvent) => {
        if (!pressed.delete(event.pointerId) || pressed.size) return;
        if (event.type === "pointerup" && travelled <= CLICK_PIXELS) actions.click(position(event));
    };
    element.addEventListener("pointerup", release);
    element.addEventListener("pointercancel", release);
    element.addEventListener("pointerleave", () => actions.hover(null));
    element.addEventListener("dblclick", event => actions.jump(0.5, position(event)));
    element.addEventListener("wheel", event => {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 200 : 1;
        const delta = Math.max(-LARGEST_WHEEL, Math.min(LARGEST_WHEEL, event.deltaY * lines));
        actions.zoom(WHEEL_STEP ** delta, position(event));
    }, { passive: false });
}
