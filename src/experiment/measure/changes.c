#include "experiment/measure/changes.h"

#include "base/sort.h"
#include "base/time.h"

#include <ctype.h>
#include <stdio.h>

void sent_add(struct sent *sent, unsigned method, unsigned attribute)
{
    if (attribute >= WIRE_ATTRIBUTE_COUNT)
        return;
    if (method == METHOD_GET)
        sent->gets[attribute]++;
    else if (method == METHOD_SET)
        sent->sets[attribute]++;
}

/* ---- noting ---- */

void change_record_begin(struct change_record *book, uint32_t nodes)
{
    change_record_release(book);
    book->nodes = nodes;
    book->written = mem_zalloc(nodes + 1, sizeof *book->written);
}

void change_record_release(struct change_record *book)
{
    mem_free(book->written);
    *book = (struct change_record){0};
}

static bool is_table(const struct change_smp *smp)
{
    if (smp->method != METHOD_SET || smp->attribute >= WIRE_ATTRIBUTE_COUNT)
        return false;
    unsigned id = wire_attributes[smp->attribute].id;
    return id == ATTRIBUTE_LINEAR_FORWARDING_TABLE || id == ATTRIBUTE_RANDOM_FORWARDING_TABLE;
}

void change_record_note(struct change_record *book, uint64_t now, const struct change_smp *smp)
{
    sent_add(&book->sent, smp->method, smp->attribute);
    if (smp->method == METHOD_GET)
        book->gets++;
    else
        book->sets++;
    if (smp->routed)
        book->distribute++;
    else
        book->discover++;
    if (!is_table(smp))
        return;
    book->blocks++;
    if (smp->node < book->nodes)
        book->written[smp->node] = now;
}

/* ---- telling ---- */

struct teller {
    struct results *results;
    size_t number;
};

static void tell(struct teller *teller, const char *what, double value, const char *unit)
{
    char name[128];
    snprintf(name, sizeof name, "change.%zu.%s", teller->number, what);
    results_set(teller->results, name, value, unit);
}

static void tell_phases(struct teller *teller, const struct run_record_change *change)
{
    tell(teller, "begin", time_seconds((double)change->begin), "s");
    tell(teller, "time", time_seconds((double)(change->end - change->begin)), "s");
    tell(teller, "finished", change->finished, "");
    for (enum phase_kind kind = change->tied ? PHASE_DETECT : PHASE_DISCOVER; kind < PHASE_KINDS;
         kind++) {
        char name[32];
        uint64_t from, to;
        bool has = run_record_phase(change, kind, &from, &to);
        snprintf(name, sizeof name, "%s.time", phase_names[kind]);
        tell(teller, name, has ? time_seconds((double)(to - from)) : 0, "s");
    }
}

static void tell_kinds(struct teller *teller, const char *method, const uint64_t *counts)
{
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++) {
        char name[96];
        if (!counts[i])
            continue;
        snprintf(name, sizeof name, "smps.%s.%s", method, wire_attributes[i].name);
        for (char *at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        tell(teller, name, (double)counts[i], "SMPs");
    }
}

static void tell_smps(struct teller *teller, const struct change_record *book)
{
    tell(teller, "smps", (double)(book->gets + book->sets), "SMPs");
    tell(teller, "discover.smps", (double)book->discover, "SMPs");
    tell(teller, "distribute.smps", (double)book->distribute, "SMPs");
    tell(teller, "smps.get", (double)book->gets, "SMPs");
    tell(teller, "smps.set", (double)book->sets, "SMPs");
    tell(teller, "compute.operations", (double)book->operations, "operations");
    tell(teller, "blocks", (double)book->blocks, "blocks");
    tell_kinds(teller, "get", book->sent.gets);
    tell_kinds(teller, "set", book->sent.sets);
}

/* The times are sorted in place: the book is closed. */
static void tell_updates(struct teller *teller, const struct change_record *book)
{
    char name[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < book->nodes; i++)
        if (book->written[i])
            book->written[count++] = book->written[i];
    tell(teller, "switches", count, "switches");
    if (count == 0)
        return;
    sort_u64(book->written, count);
    snprintf(name, sizeof name, "change.%zu.updated", teller->number);
    size_t series = results_series(teller->results, name, "share");
    for (uint32_t i = 0; i < count; i++)
        results_add_point(teller->results, series, book->written[i], (i + 1.0) / count);
}

void change_record_close(struct change_record *book, struct run_record *record, size_t index)
{
    struct run_record_change *change = &record->changes.items[index];
    struct teller teller = {&record->results, index + 1};
    change->gets = book->gets;
    change->sets = book->sets;
    change->blocks = book->blocks;
    if (index < CHANGES_TOLD) {
        tell_phases(&teller, change);
        tell_smps(&teller, book);
        tell_updates(&teller, book);
    }
    change_record_release(book);
}
