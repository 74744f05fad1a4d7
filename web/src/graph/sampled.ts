// Thousands of links cost most of a frame with software GL. While the camera moves, only one link in SAMPLE is
// drawn: the others are in a program of their own, which draws nothing meanwhile.
import { EdgeLineProgram } from "sigma/rendering";
import type { RenderParams } from "sigma/types";

export const SAMPLE = 24;

export const movement = { moving: false };

export class RestingEdgeProgram extends EdgeLineProgram {
    override render(params: RenderParams): void {
        if (!movement.moving) super.render(params);
    }
}
