/* Computes the load of each port from its counters and the data rate of its link, keeps the highest
 * rows of a key, and sums links by stage. Levels are found by breadth, from the adapters upward. */
#include "perf/ranking.h"

#include "wire/link_rate.h"

#include <string.h>

enum { TICK_BYTES = 4, LEVEL_NONE = UINT8_MAX };

const char *const rank_key_names[RANK_KEYS] = {"load", "wait", "errors", "discards"};

bool rank_key_parse(const char *name, enum rank_key *key)
{
    for (unsigned i = 0; i < RANK_KEYS; i++)
        if (strcmp(name, rank_key_names[i]) == 0)
            return *key = i, true;
    return false;
}

/* ---- loads ---- */

bool port_load_of(const struct perf *perf, const struct subnet *subnet, uint64_t now, uint32_t port,
                  bool hour, struct port_load *load)
{
    const struct port_counters *counters = perf_port_counters(perf, port);
    if (!counters || !counters->interval_ns || !perf_reads_port(perf, subnet, port))
        return false;
    struct history_sample sample =
        hour ? history_sum(perf_port_history(perf, port), now) : history_sample_of(counters);
    double seconds = sample.covered_ms / 1e3;
    double capacity = (double)link_data_bits(subnet->ports.items[port].info) / 8 * seconds;
    if (seconds <= 0)
        return false;
    *load = (struct port_load){.port = port,
                               .transmit = sample.transmit_bytes / seconds,
                               .receive = sample.receive_bytes / seconds,
                               .errors = sample.errors,
                               .discards = sample.discards};
    if (capacity > 0) {
        double wait = sample.wait_ticks * TICK_BYTES / capacity;
        load->load = sample.transmit_bytes / capacity;
        load->wait = wait < 1 ? wait : 1;
    }
    return true;
}

/* ---- ranking ---- */

static double key_of(const struct port_load *load, enum rank_key key)
{
    const double keys[] = {load->load, load->wait, (double)load->errors, (double)load->discards};
    return keys[key];
}

size_t ranking_make(const struct perf *perf, const struct subnet *subnet, uint64_t now,
                    enum rank_key key, bool hour, struct port_load *rows, size_t most)
{
    struct port_load load;
    size_t count = 0;
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        size_t at = 0;
        if (!port_load_of(perf, subnet, now, port, hour, &load) || key_of(&load, key) <= 0)
            continue;
        lower_bound(at, count, key_of(&rows[at], key) >= key_of(&load, key));
        if (at == most)
            continue;
        count -= count == most;
        memmove(rows + at + 1, rows + at, (count - at) * sizeof *rows);
        rows[at] = load;
        count++;
    }
    return count;
}

/* ---- stages ---- */

static uint32_t node_behind(const struct subnet *subnet, uint32_t port)
{
    uint32_t peer = subnet->ports.items[port].peer;
    return peer == SUBNET_NONE ? SUBNET_NONE : subnet->ports.items[peer].node;
}

/* Whether a switch without a level has a neighbour of level `below`. */
static bool is_above(const struct subnet *subnet, const uint8_t *levels, uint32_t node,
                     unsigned below)
{
    const struct subnet_node *of = &subnet->nodes.items[node];
    if (levels[node] != LEVEL_NONE || of->kind != SUBNET_SWITCH)
        return false;
    for (unsigned number = 1; number <= of->port_count; number++) {
        uint32_t next = node_behind(subnet, of->first_port + number);
        if (next != SUBNET_NONE && levels[next] == below)
            return true;
    }
    return false;
}

/* The level of each node; LEVEL_NONE: no adapter is reachable from it. */
static uint8_t *find_levels(const struct subnet *subnet)
{
    uint8_t *levels = mem_alloc(subnet->nodes.count);
    bool more = true;
    for (uint32_t i = 0; i < subnet->nodes.count; i++)
        levels[i] = subnet->nodes.items[i].kind == SUBNET_SWITCH ? LEVEL_NONE : 0;
    for (unsigned level = 1; more && level < LEVEL_NONE; level++) {
        more = false;
        for (uint32_t i = 0; i < subnet->nodes.count; i++)
            if (is_above(subnet, levels, i, level - 1)) {
                levels[i] = (uint8_t)level;
                more = true;
            }
    }
    return levels;
}

/* The stage of these levels, which is inserted if it is new; NULL: there are too many. */
static struct stage *stage_of(struct stage stages[STAGES_MOST], size_t *count, unsigned from,
                              unsigned to)
{
    size_t at = 0;
    lower_bound(at, *count,
                stages[at].from < from || (stages[at].from == from && stages[at].to < to));
    if (at < *count && stages[at].from == from && stages[at].to == to)
        return &stages[at];
    if (*count == STAGES_MOST)
        return NULL;
    mem_shift(stages, count, at, sizeof *stages, true);
    stages[at] = (struct stage){.from = from, .to = to, .busiest = SUBNET_NONE};
    return &stages[at];
}

size_t ranking_stages(const struct perf *perf, const struct subnet *subnet, uint64_t now, bool hour,
                      struct stage stages[STAGES_MOST], double *sent)
{
    uint8_t *levels = find_levels(subnet);
    struct port_load load;
    size_t count = 0;
    *sent = 0;
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        uint32_t node = subnet->ports.items[port].node, next = node_behind(subnet, port);
        if (next == SUBNET_NONE || !port_load_of(perf, subnet, now, port, hour, &load))
            continue;
        struct stage *stage = stage_of(stages, &count, levels[node], levels[next]);
        if (levels[node] == 0)
            *sent += load.transmit;
        if (!stage)
            continue;
        stage->links++;
        stage->mean += load.load; /* the sum, until all are known */
        if (stage->busiest == SUBNET_NONE || load.load > stage->max) {
            stage->max = load.load;
            stage->busiest = port;
        }
    }
    for (size_t i = 0; i < count; i++)
        stages[i].mean /= stages[i].links;
    mem_free(levels);
    return count;
}

double stage_imbalance(const struct stage *stage)
{
    return stage->mean > 0 ? stage->max / stage->mean : 0;
}
