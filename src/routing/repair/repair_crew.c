/* Groups of columns that are mended side by side.
 *
 * As long as no channel gets another place in their order, whether a hop may be taken depends on
 * that order alone, not on what other columns gave rise to. So groups need to know nothing of each
 * other but how much links are used. Each of them begins with the use that there was before all,
 * and prefers other ports where that is the same, so that they do not all take the first one. Then
 * the tables are the same whoever mends which group, and when. */
#include "routing/repair/repair_columns.h"

#include <stdatomic.h>
#include <string.h>

/* What is needed to mend a group, for each worker. */
struct crew_member {
    atomic_flag busy;
    bool ready;
    struct repair part; /* of the repair: what changes */
    struct repair_column *column;
    struct repair_batch *batch;
    struct repair_column own_column; /* the first has those of the repair */
    struct repair_batch own_batch;
};

/* Of the load of a channel. */
struct crew_shift {
    uint32_t channel;
    int64_t by;
};

struct crew_outcome {
    VEC(struct repair_entry) entries;
    VEC(struct repair_wait) waits;
    VEC(struct standing_edge) edges;
    VEC(struct crew_shift) shifts;
    struct repair_lids blocked, left; /* see repair_crew_mend() */
};

struct crew {
    const struct repair *repair;
    const struct repair_columns *columns;
    const struct repair_group *groups;
    struct crew_outcome *outcomes; /* by group */
    struct crew_member *members;
    unsigned member_count;
};

static void get_ready(const struct crew *crew, struct crew_member *member)
{
    if (member != crew->members) {
        repair_block_init(&member->own_column.block, member->column->network,
                          member->column->routes, &member->part.standing, member->part.fresh);
        repair_batch_init(&member->own_batch, &member->own_column);
    }
    member->ready = true;
}

/* There are as many as jobs can be done at a time. */
static struct crew_member *find_member(const struct crew *crew)
{
    unsigned i = 0;
    while (atomic_flag_test_and_set(&crew->members[i].busy))
        i = (i + 1) % crew->member_count;
    if (!crew->members[i].ready)
        get_ready(crew, &crew->members[i]);
    return &crew->members[i];
}

/* By how much links are used more now, or less. */
static void find_shifts(const struct crew_member *member, struct crew_outcome *outcome)
{
    const struct network *network = member->column->network;
    const struct repair_block *block = &member->column->block;
    const uint64_t *after = member->batch->load.items, *load = member->part.standing.load;
    for (size_t i = 0; i < block->met.count; i++) {
        const struct network_switch *node = &network->switches.items[block->met.items[i]];
        for (uint32_t port = 0; port <= node->port_count; port++, after++)
            if (*after != load[node->first_port + port])
                vec_push(&outcome->shifts,
                         ((struct crew_shift){node->first_port + port,
                                              (int64_t)(*after - load[node->first_port + port])}));
    }
}

static void mend_group(void *context, size_t index)
{
    const struct crew *crew = context;
    struct crew_outcome *outcome = &crew->outcomes[index];
    struct crew_member *member = find_member(crew);
    struct repair *part = &member->part;
    repair_look_at(member->column, crew->columns, crew->groups[index]);
    member->batch->turn = (uint8_t)(8 * index);
    uint64_t left = member->column->block.lids & ~repair_batch_mend(member->batch);
    for (; left; left &= left - 1) {
        bool blocked = member->batch->blocked & left & -left;
        struct repair_lids *lids = blocked ? &outcome->blocked : &outcome->left;
        vec_push(&lids->list, member->column->block.lid[__builtin_ctzll(left)]);
    }
    find_shifts(member, outcome);
    memcpy(&outcome->entries, &part->entries, sizeof outcome->entries);
    memcpy(&outcome->waits, &part->waits, sizeof outcome->waits);
    memcpy(&outcome->edges, &part->standing.news, sizeof outcome->edges);
    memset(&part->entries, 0, sizeof part->entries);
    memset(&part->waits, 0, sizeof part->waits);
    memset(&part->standing.news, 0, sizeof part->standing.news);
    atomic_flag_clear(&member->busy);
}

/* All that is known of the repair is shared, but for what changes. */
static void gather_members(struct crew *crew, struct repair_column *column,
                           struct repair_batch *batch)
{
    for (unsigned i = 0; i < crew->member_count; i++) {
        struct crew_member *member = &crew->members[i];
        atomic_flag_clear(&member->busy);
        member->part = (struct repair){.standing = crew->repair->standing,
                                       .fresh = crew->repair->fresh,
                                       .patient = crew->repair->patient};
        member->part.standing.fixed = true;
        memset(&member->part.standing.added, 0, sizeof member->part.standing.added);
        member->own_column = *column;
        member->column = i ? &member->own_column : column;
        member->batch = i ? &member->own_batch : batch;
        member->own_column.repair = &member->part;
        member->own_column.block.operations = 0;
    }
    column->repair = &crew->members[0].part;
    column->block.standing = &crew->members[0].part.standing;
}

static void take_lids(struct repair_lids *all, struct repair_lids *some)
{
    for (size_t i = 0; i < some->list.count; i++)
        vec_push(&all->list, some->list.items[i]);
    vec_release(&some->list);
}

static void take_outcome(struct repair *repair, struct crew_outcome *outcome)
{
    uint32_t first = (uint32_t)repair->entries.count;
    vec_reserve(&repair->entries, first + outcome->entries.count);
    if (outcome->entries.count)
        memcpy(repair->entries.items + first, outcome->entries.items,
               outcome->entries.count * sizeof *outcome->entries.items);
    repair->entries.count += outcome->entries.count;
    for (size_t i = 0; i < outcome->waits.count; i++) {
        struct repair_wait wait = outcome->waits.items[i];
        wait.entry += first;
        wait.first += first;
        vec_push(&repair->waits, wait);
    }
    for (size_t i = 0; i < outcome->shifts.count; i++) {
        uint64_t *load = &repair->standing.load[outcome->shifts.items[i].channel];
        int64_t sum = (int64_t)*load + outcome->shifts.items[i].by;
        *load = sum > 0 ? (uint64_t)sum : 0;
    }
    for (size_t i = 0; i < outcome->edges.count; i++)
        standing_put(&repair->standing, outcome->edges.items[i]);
    standing_keep(&repair->standing);
    vec_release(&outcome->entries);
    vec_release(&outcome->waits);
    vec_release(&outcome->edges);
    vec_release(&outcome->shifts);
}

static void dismiss(struct repair *repair, struct repair_column *column, struct crew_member *member,
                    bool first)
{
    repair->operations += member->part.operations;
    repair->broken += member->part.broken;
    vec_release(&member->part.standing.added);
    if (first || !member->ready)
        return;
    column->block.operations += member->own_column.block.operations;
    repair_block_release(&member->own_column.block);
    repair_batch_release(&member->own_batch);
}

void repair_crew_mend(struct repair_column *column, struct repair_batch *batch,
                      const struct repair_columns *columns, const struct workers *workers,
                      const struct repair_group *groups, size_t count, struct repair_lids *blocked,
                      struct repair_lids *left)
{
    struct repair *repair = column->repair;
    unsigned threads = workers_count(workers);
    struct crew crew = {.repair = repair, .columns = columns, .groups = groups};
    crew.member_count = threads < count ? threads : (unsigned)count;
    crew.members = mem_zalloc(crew.member_count, sizeof *crew.members);
    crew.outcomes = mem_zalloc(count, sizeof *crew.outcomes);
    repair_weigh_all(column);
    repair_near_measure(&column->distances);
    gather_members(&crew, column, batch);
    workers_run(workers, count, mend_group, &crew);
    column->repair = repair;
    column->block.standing = &repair->standing;
    batch->turn = 0;
    for (unsigned i = 0; i < crew.member_count; i++)
        dismiss(repair, column, &crew.members[i], i == 0);
    for (size_t i = 0; i < count; i++) {
        take_outcome(repair, &crew.outcomes[i]);
        take_lids(blocked, &crew.outcomes[i].blocked);
        take_lids(left, &crew.outcomes[i].left);
    }
    mem_free(crew.members);
    mem_free(crew.outcomes);
}
