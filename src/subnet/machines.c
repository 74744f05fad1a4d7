/* The rows of wanted virtual machines, chained by GUID. */
#include "subnet/machines.h"

#include <stdio.h>
#include <string.h>

enum { ENDED_KEPT = 256 };

void wanted_machines_init(struct wanted_machines *wanted, uint64_t *generation)
{
    *wanted =
        (struct wanted_machines){.generation = generation, .kept = generation ? 0 : UINT64_MAX};
}

void wanted_machines_release(struct wanted_machines *wanted)
{
    vec_release(&wanted->rows);
    map_release(&wanted->by_guid);
}

static uint64_t next_generation(struct wanted_machines *wanted)
{
    return wanted->last = ++*(wanted->generation ? wanted->generation : &wanted->own);
}

static struct wanted_machine *find(const struct wanted_machines *wanted, uint64_t guid,
                                   uint64_t place, enum machine_wish wish)
{
    uint32_t at = map_get(&wanted->by_guid, guid);
    for (; at != MAP_NONE; at = wanted->rows.items[at].next) {
        struct wanted_machine *row = &wanted->rows.items[at];
        if (place ? row->place == place : row->wish == wish)
            return row;
    }
    return NULL;
}

const struct wanted_machine *wanted_machines_at(const struct wanted_machines *wanted, uint64_t guid,
                                                uint64_t place)
{
    const struct wanted_machine *row = find(wanted, guid, place, MACHINE_ENDED);
    return row && row->wish != MACHINE_ENDED ? row : NULL;
}

const struct wanted_machine *wanted_machines_running(const struct wanted_machines *wanted,
                                                     uint64_t guid)
{
    return find(wanted, guid, 0, MACHINE_RUNS);
}

const struct wanted_machine *wanted_machines_any(const struct wanted_machines *wanted,
                                                 uint64_t guid)
{
    const struct wanted_machine *running = wanted_machines_running(wanted, guid);
    return running ? running : find(wanted, guid, 0, MACHINE_REMOVED);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct machine_history wanted_machines_history(const struct wanted_machines *wanted, uint64_t guid,
                                               uint64_t until)
{
    struct machine_history history = {0};
    uint32_t at = map_get(&wanted->by_guid, guid);
    for (; at != MAP_NONE; at = wanted->rows.items[at].next) {
        const struct wanted_machine *row = &wanted->rows.items[at];
        history.known = true;
        if (row->changed > until)
            continue;
        history.changed = later(history.changed, row->changed);
        history.decided = later(history.decided, row->decided);
        history.decision = later(history.decision, row->decision);
    }
    return history;
}

static uint64_t decision_of(const struct wanted_machines *wanted, uint64_t guid)
{
    return wanted_machines_history(wanted, guid, UINT64_MAX).decision;
}

static void change(struct wanted_machines *wanted, struct wanted_machine *row,
                   enum machine_wish wish)
{
    wanted->ended += (wish == MACHINE_ENDED) - (size_t)(row->wish == MACHINE_ENDED);
    row->wish = wish;
    row->changed = next_generation(wanted);
}

static struct wanted_machine *add(struct wanted_machines *wanted, uint64_t guid, uint64_t place)
{
    uint32_t next = map_get(&wanted->by_guid, guid);
    map_set(&wanted->by_guid, guid, (uint32_t)wanted->rows.count);
    vec_push(&wanted->rows,
             ((struct wanted_machine){
                 .guid = guid, .place = place, .wish = MACHINE_ENDED, .next = next}));
    wanted->ended++;
    return &wanted->rows.items[wanted->rows.count - 1];
}

static void drop_ended(struct wanted_machines *wanted)
{
    size_t kept = 0;
    if (wanted->ended <= ENDED_KEPT + wanted->rows.count / 2)
        return;
    for (size_t i = 0; i < wanted->rows.count; i++) {
        struct wanted_machine *row = &wanted->rows.items[i];
        row->decision = decision_of(wanted, row->guid);
        if (row->wish == MACHINE_ENDED)
            wanted->decision_dropped = later(wanted->decision_dropped, row->decision);
    }
    map_release(&wanted->by_guid);
    for (size_t i = 0; i < wanted->rows.count; i++) {
        struct wanted_machine row = wanted->rows.items[i];
        if (row.wish == MACHINE_ENDED)
            continue;
        row.next = map_get(&wanted->by_guid, row.guid);
        map_set(&wanted->by_guid, row.guid, (uint32_t)kept);
        wanted->rows.items[kept++] = row;
    }
    wanted->rows.count = kept;
    wanted->ended = 0;
    wanted->dropped = next_generation(wanted);
}

/* Agents and files may have any bytes. */
static void set_text(char text[MACHINE_NAME_LIMIT + 1], const char *wanted)
{
    if (!*wanted)
        return;
    snprintf(text, MACHINE_NAME_LIMIT + 1, "%s", wanted);
    for (; *text; text++)
        if ((uint8_t)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void wanted_machines_set(struct wanted_machines *wanted, const struct wanted_machine *wish)
{
    struct wanted_machine *row = find(wanted, wish->guid, wish->place, MACHINE_ENDED);
    const struct wanted_machine *elsewhere = NULL;
    wanted->decisions = later(wanted->decisions, wish->decision);
    if (!row && wish->wish == MACHINE_ENDED && !wish->decision)
        return;
    if (!row)
        row = add(wanted, wish->guid, wish->place);
    struct wanted_machine before = *row;
    set_text(row->name, wish->name);
    set_text(row->adapter, wish->adapter);
    if (wish->lid)
        row->lid = wish->lid;
    row->decision = later(row->decision, wish->decision);
    if (row->wish != wish->wish || row->decision != before.decision || row->lid != before.lid ||
        strcmp(row->name, before.name) != 0 || strcmp(row->adapter, before.adapter) != 0)
        change(wanted, row, wish->wish);
    if (wish->wish != MACHINE_RUNS) {
        drop_ended(wanted);
        return;
    }
    row->wish = MACHINE_REMOVED; /* the search finds another one that runs */
    while ((elsewhere = wanted_machines_running(wanted, wish->guid)))
        change(wanted, find(wanted, elsewhere->guid, elsewhere->place, MACHINE_RUNS),
               MACHINE_REMOVED);
    row->wish = MACHINE_RUNS;
}

void wanted_machines_decide(struct wanted_machines *wanted, const struct wanted_machine *wish)
{
    struct wanted_machine decided = *wish;
    decided.decision = wanted->decisions + 1;
    wanted_machines_set(wanted, &decided);
    struct wanted_machine *row = find(wanted, wish->guid, wish->place, MACHINE_ENDED);
    if (row)
        row->decided = row->changed;
}

void wanted_machines_clear(struct wanted_machines *wanted)
{
    wanted->decision_dropped = 0;
    if (!wanted->rows.count)
        return;
    wanted_machines_release(wanted);
    wanted->ended = 0;
    wanted->dropped = next_generation(wanted);
}
