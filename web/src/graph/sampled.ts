// Thousands of links cost most of a frame with software GL. While the camera moves, only one link in SAMPLE is
// drawn: the others are in a program of their own, which draws nothing meanwhile. Nodes are not drawn a second time
// for the search of the one under the pointer, either.
import { EdgeLineProgram, NodeCircleProgram } from "sigma/rendering";
import type { RenderParams } from "sigma/types";

export const SAMPLE = 24;

export const movement = { moving: false };

export class RestingEdgeProgram extends EdgeLineProgram {
    override render(params: RenderParams): void {
        if (!movement.moving) super.render(params);
    }
}

export class NodeProgram extends NodeCircleProgram {
    override render(params: RenderParams): void {
        const pick = this.pickProgram;
        if (movement.moving) this.pickProgram = null;
        super.render(params);
        this.pickProgram = pick;
    }
}
