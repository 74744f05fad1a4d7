/* Rooms as boxes, from left to right and in rows from the top; the switches of a room in a grid, in
 * the order of their names. Switches without a room are in a box of their own, the last one. */
#include "topology/drawing/layout.h"

#include <math.h>

/* Between the grid of a room and its frame, and above the grid for the name. */
static double room_padding(struct layout_point box)
{
    return 0.1 * box.x + 0.15;
}

static uint32_t room_columns(uint32_t switches)
{
    uint32_t columns = 1;
    while (columns * columns < switches)
        columns++;
    return columns;
}

static struct layout_point room_size(uint32_t switches, struct layout_point cell, double padding)
{
    uint32_t columns = room_columns(switches), rows = (switches + columns - 1) / columns;
    return (struct layout_point){columns * cell.x + 2 * padding, rows * cell.y + 2 * padding + 0.3};
}

static uint32_t count_members(const struct rooms *rooms, uint32_t first, uint32_t end)
{
    uint32_t next = first;
    while (next < end && rooms->of[rooms->order[next]] == rooms->of[rooms->order[first]])
        next++;
    return next - first;
}

void layout_rooms(const struct rooms *rooms, uint32_t switches, struct layout_point box,
                  struct layout_point *places)
{
    struct layout_point cell = {1.5 * box.x, 1.6 * box.y + 0.2}, at = {0, 0}, size;
    double padding = room_padding(box), gap = 0.25 * cell.x, area = 0, height = 0;
    for (uint32_t first = 0, count; first < switches; first += count) {
        count = count_members(rooms, first, switches);
        size = room_size(count, cell, padding);
        area += (size.x + gap) * (size.y + gap);
    }
    double width = sqrt(1.7 * area);
    for (uint32_t first = 0, count; first < switches; first += count) {
        count = count_members(rooms, first, switches);
        size = room_size(count, cell, padding);
        if (at.x > 0 && at.x + size.x > width) {
            at = (struct layout_point){0, at.y - height - gap};
            height = 0;
        }
        for (uint32_t i = 0, columns = room_columns(count); i < count; i++) {
            uint32_t column = i % columns, row = i / columns;
            places[rooms->order[first + i]] = (struct layout_point){
                at.x + padding + (column + 0.5) * cell.x,
                at.y - padding - 0.3 - (row + 0.5) * cell.y,
            };
        }
        at.x += size.x + gap;
        height = size.y > height ? size.y : height;
    }
}

void layout_room_boxes(const struct rooms *rooms, uint32_t switches, struct layout_point box,
                       const struct layout_point *places, struct layout_box *frames)
{
    double padding = room_padding(box);
    for (uint32_t i = 0; i < rooms->count; i++)
        frames[i] = (struct layout_box){INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; rooms->count && i < switches; i++) {
        if (rooms->of[i] < 0)
            continue;
        struct layout_box *frame = &frames[rooms->of[i]];
        frame->left = fmin(frame->left, places[i].x - 0.75 * box.x - padding);
        frame->right = fmax(frame->right, places[i].x + 0.75 * box.x + padding);
        frame->bottom = fmin(frame->bottom, places[i].y - 0.8 * box.y - padding);
        frame->top = fmax(frame->top, places[i].y + 0.8 * box.y + padding + 0.3);
    }
}
