/* VL arbitration on a link (7.6.9): which VL sends next.
 *
 * Each of the two tables is a list of (VL, weight), weights in units of 64 bytes. A table serves
 * its entries round-robin; the VL of an entry may send until its weight is used up (the last packet
 * may overdraw it) or it has nothing to send. The high-priority table goes first, until it has sent
 * LimitOfHighPriority times 4096 bytes while a low-priority packet was ready; 255 means no limit, 0
 * one packet. A VL that is in neither table never sends. Ports without tables serve their VLs
 * round-robin. */
#include "fabric/internal.h"

#include <assert.h>
#include <string.h>

enum { PRIORITY_LOW, PRIORITY_HIGH, TABLES, ENTRIES_PER_PART = 32 };

static void add_entry(struct arbiter_tables *tables, unsigned table, unsigned vl, unsigned weight)
{
    unsigned at = tables->count[table]++;
    assert(at < ARBITER_ENTRIES && vl < 16 && weight);
    tables->vl[table][at] = (uint8_t)vl;
    tables->weight[table][at] = (uint8_t)weight;
    tables->vls[table] |= (uint16_t)(1u << vl);
}

static uint64_t high_limit_of(const struct sma_port *port)
{
    uint64_t limit = wire_get(port->info, PORT_INFO_VL_HIGH_LIMIT);
    return limit == 255 ? TIME_NEVER : limit * 4096;
}

bool arbiter_has_limit(const struct arbiter *arbiter, const struct sma_port *port)
{
    return arbiter->tables && arbiter->tables->high_limit_bytes == high_limit_of(port);
}

void arbiter_load(struct data *data, struct arbiter *arbiter, const struct sma_port *port,
                  unsigned entries, unsigned vls)
{
    assert(entries <= ARBITER_ENTRIES && vls >= 1 && vls <= 15);
    struct arbiter_tables tables;
    memset(&tables, 0, sizeof tables); /* memcmp() compares the padding, too */
    tables.high_limit_bytes = high_limit_of(port);
    for (unsigned table = 0; table < TABLES; table++)
        for (unsigned i = 0; i < entries; i++) {
            const uint8_t *part = port->vl_arbitration[table * 2 + i / ENTRIES_PER_PART];
            unsigned vl = part[i % ENTRIES_PER_PART * 2] & 15;
            unsigned weight = part[i % ENTRIES_PER_PART * 2 + 1];
            if (weight && vl < vls)
                add_entry(&tables, table, vl, weight);
        }
    for (unsigned vl = 0; vl < vls && !entries; vl++)
        add_entry(&tables, PRIORITY_LOW, vl, 1);
    size_t at = 0;
    while (at < data->tables.count && memcmp(data->tables.items[at], &tables, sizeof tables) != 0)
        at++;
    if (at == data->tables.count) {
        vec_push(&data->tables, arena_alloc(&data->memory, sizeof tables));
        memcpy(data->tables.items[at], &tables, sizeof tables);
    }
    const struct arbiter_tables *loaded = data->tables.items[at];
    if (arbiter->tables == loaded)
        return;
    *arbiter = (struct arbiter){.tables = loaded};
    for (unsigned table = 0; table < TABLES; table++)
        arbiter->left[table] = loaded->weight[table][0] * CREDIT_BYTES;
}

int arbiter_pick(struct arbiter *arbiter, unsigned ready)
{
    const struct arbiter_tables *tables = arbiter->tables;
    bool high = ready & tables->vls[PRIORITY_HIGH], low = ready & tables->vls[PRIORITY_LOW];
    bool spent = arbiter->high_sent && arbiter->high_sent >= tables->high_limit_bytes;
    if (!high && !low)
        return -1;
    unsigned table = high && !(spent && low) ? PRIORITY_HIGH : PRIORITY_LOW;
    unsigned at = arbiter->at[table];
    while (arbiter->left[table] <= 0 || !(ready >> tables->vl[table][at] & 1)) {
        at = at + 1u < tables->count[table] ? at + 1 : 0;
        arbiter->left[table] = tables->weight[table][at] * CREDIT_BYTES;
    }
    arbiter->at[table] = (uint8_t)at;
    arbiter->picked = (uint8_t)table;
    return tables->vl[table][at];
}

void arbiter_charge(struct arbiter *arbiter, unsigned bytes)
{
    arbiter->left[arbiter->picked] -= (int32_t)(blocks_of(bytes) * CREDIT_BYTES);
    arbiter->high_sent = arbiter->picked == PRIORITY_HIGH ? arbiter->high_sent + bytes : 0;
}
