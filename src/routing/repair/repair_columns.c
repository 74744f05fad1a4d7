/* Where one part of a tree lost a switch, the columns of all its hosts are broken alike. What has
 * as many broken ends is probably broken in the same way; such LIDs are looked at together, up to
 * 64 of them, and mended together as far as that goes (repair_batch.c). The rest is mended column
 * by column (repair_column.c). */
#include "routing/repair/repair_columns.h"

/* Beyond this an engine is quicker. */
enum { WORK_LIMIT = 200000000 };

/* The broken ends of a LID. */
static uint32_t end_count(const struct repair_columns *columns, uint32_t lid)
{
    return columns->first[lid + 1] - columns->first[lid];
}

/* Whether a column has to be mended that is one of switches, or of terminals. */
static bool is_due(const struct repair_column *column, const struct repair_columns *columns,
                   uint32_t lid, bool of_switches)
{
    uint32_t owner = column->network->owner[lid];
    return owner != NETWORK_NONE && !(owner & NETWORK_SWITCH) != of_switches &&
           (columns->all[lid] || end_count(columns, lid));
}

/* The LIDs whose columns are to be mended. */
struct due {
    struct repair_lids told; /* those with broken ends … */
    struct repair_lids many; /* … and those with many more than most have, if they are few … */
    struct repair_lids all;  /* … and those of which every switch has to be looked at */
    VEC(struct repair_group) groups; /* of the first two */
};

static void list_due(const struct repair_column *column, const struct repair_columns *columns,
                     bool of_switches, struct due *due)
{
    for (uint32_t lid = 1; lid <= column->network->top_lid; lid++) {
        if (!is_due(column, columns, lid, of_switches))
            continue;
        if (columns->all[lid])
            vec_push(&due->all.list, (uint16_t)lid);
        else
            vec_push(&due->told.list, (uint16_t)lid);
    }
}

/* Those with more than 4/3 of the ends that LIDs have on average, if they are one in eight or less.
 */
static void part_due(const struct repair_columns *columns, struct due *due)
{
    size_t count = due->told.list.count, kept = 0, next = 0;
    uint64_t ends = 0;
    for (size_t i = 0; i < count; i++)
        ends += end_count(columns, due->told.list.items[i]);
    for (size_t i = 0; i < count; i++)
        if (UINT64_C(3) * count * end_count(columns, due->told.list.items[i]) > 4 * ends)
            vec_push(&due->many.list, due->told.list.items[i]);
    if (due->many.list.count > count / 8)
        due->many.list.count = 0;
    for (size_t i = 0; i < count; i++)
        if (next < due->many.list.count && due->many.list.items[next] == due->told.list.items[i])
            next++;
        else
            due->told.list.items[kept++] = due->told.list.items[i];
    due->told.list.count = kept;
}

/* How many of the LIDs make a group: if that are not much fewer, those that are close together,
 * whose entries are copied at once. */
static size_t group_size(const uint16_t *lids, size_t count)
{
    size_t most = count < BATCH_LIDS ? count : BATCH_LIDS, close = count > 0;
    while (close < most && lids[close] > lids[close - 1] && lids[close] - lids[0] < BATCH_LIDS)
        close++;
    return close * 4 >= most * 3 ? close : most;
}

static void push_groups(struct due *due, const uint16_t *lids, size_t count)
{
    for (size_t size; count; lids += size, count -= size) {
        size = group_size(lids, count);
        vec_push(&due->groups, ((struct repair_group){lids, size}));
    }
}

/* Those with many ends are the most work; they come soon, but not first. */
static void find_due(const struct repair_column *column, const struct repair_columns *columns,
                     bool of_switches, struct due *due)
{
    *due = (struct due){0};
    list_due(column, columns, of_switches, due);
    if (!of_switches)
        part_due(columns, due);
    size_t count = due->told.list.count, first = group_size(due->told.list.items, count);
    push_groups(due, due->told.list.items, first);
    push_groups(due, due->many.list.items, due->many.list.count);
    push_groups(due, due->told.list.items + first, count - first);
}

static void release_due(struct due *due)
{
    vec_release(&due->told.list);
    vec_release(&due->many.list);
    vec_release(&due->all.list);
    vec_release(&due->groups);
}

void repair_look_at(struct repair_column *column, const struct repair_columns *columns,
                    struct repair_group group)
{
    repair_block_begin(&column->block, group.lids, group.count);
    for (size_t k = 0; k < group.count; k++) {
        uint32_t lid = group.lids[k];
        for (uint32_t i = columns->first[lid]; i < columns->first[lid + 1]; i++)
            repair_block_tell(&column->block, lid, columns->at[i]);
    }
    repair_block_spread(&column->block);
}

static bool mend_column(struct repair_column *column, const struct repair_columns *columns,
                        uint32_t lid)
{
    repair_column_begin(column, lid);
    for (uint32_t i = columns->first[lid]; i < columns->first[lid + 1]; i++)
        repair_column_tell(column, columns->at[i]);
    if (columns->all[lid])
        repair_column_search(column);
    else
        repair_column_take(column);
    return repair_column_mend(column) &&
           column->repair->operations + column->repair->standing.operations <= WORK_LIMIT;
}

/* `batch` may be NULL: then one by one. */
static bool mend_group(struct repair_column *column, const struct repair_columns *columns,
                       struct repair_batch *batch, struct repair_group group)
{
    bool mended = true;
    repair_look_at(column, columns, group);
    uint64_t left = column->block.lids;
    if (batch && column->block.counted)
        left &= ~repair_batch_mend(batch);
    for (; left && mended; left &= left - 1)
        mended = mend_column(column, columns, column->block.lid[__builtin_ctzll(left)]);
    return mended;
}

static bool mend_groups(struct repair_column *column, const struct repair_columns *columns,
                        struct repair_batch *batch, const struct due *due, size_t first)
{
    bool mended = true;
    for (size_t i = first; i < due->groups.count && mended; i++)
        mended = mend_group(column, columns, batch, due->groups.items[i]);
    return mended;
}

/* The first group shows whether what is broken can be mended with the order of channels as it is;
 * if so, the others are mended side by side, and what is left after that. */
static bool mend_with_crew(struct repair_column *column, const struct repair_columns *columns,
                           struct repair_batch *batch, const struct due *due,
                           const struct workers *workers)
{
    uint32_t moves = column->repair->standing.moves;
    struct due blocked = {0}, left = {0};
    if (!mend_group(column, columns, batch, due->groups.items[0]))
        return false;
    if (column->repair->standing.moves != moves)
        return mend_groups(column, columns, batch, due, 1);
    repair_crew_mend(column, batch, columns, workers, due->groups.items + 1, due->groups.count - 1,
                     &blocked.told, &left.told);
    push_groups(&blocked, blocked.told.list.items, blocked.told.list.count);
    push_groups(&left, left.told.list.items, left.told.list.count);
    bool mended = mend_groups(column, columns, batch, &blocked, 0) &&
                  mend_groups(column, columns, NULL, &left, 0);
    release_due(&blocked);
    release_due(&left);
    return mended;
}

/* Columns of switches, or those of terminals. */
static bool mend_some(struct repair_column *column, const struct repair_columns *columns,
                      const struct workers *workers, bool of_switches)
{
    struct repair_batch batch;
    struct due due;
    repair_batch_init(&batch, column);
    find_due(column, columns, of_switches, &due);
    bool many = due.groups.count > 2 && !of_switches && column->repair->standing.graph.vls == 1;
    bool mended = many ? mend_with_crew(column, columns, &batch, &due, workers)
                       : mend_groups(column, columns, &batch, &due, 0);
    for (size_t i = 0; i < due.all.list.count && mended; i++)
        mended = mend_column(column, columns, due.all.list.items[i]);
    release_due(&due);
    repair_batch_release(&batch);
    return mended;
}

/* Distances are needed for all columns of terminals that are mended. */
static void want_goals(struct repair_column *column, const struct repair_columns *columns)
{
    const struct network *network = column->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (is_due(column, columns, lid, false))
            repair_near_want(&column->distances, network->terminals.items[network->owner[lid]].at);
    }
}

bool repair_mend_columns(struct repair_column *column, const struct repair_columns *columns,
                         const struct workers *workers)
{
    want_goals(column, columns);
    /* Switches first: there is less choice. Where a part of a tree can be reached only down and up
     * again, terminals find other ways around that than those that lead to its switches. */
    return mend_some(column, columns, workers, true) && mend_some(column, columns, workers, false);
}
