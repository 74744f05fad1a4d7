/* Every flow is followed through the tables and counted on the channels that it uses. Pairings,
 * shifts and destinations are separate jobs. All sums are integers, so that they do not depend on
 * the number of threads. */
#include "routing/check/quality.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <string.h>

enum { SLICES_PER_WORKER = 4, LOW_PERCENT = 5 };
#define FULL_SHARE (UINT64_C(1) << 32)

struct measure {
    const struct network *network;
    const struct routes *routes;
    const struct quality_options *options;
    uint32_t *order; /* terminals that take part, as shifts number them */
    uint32_t count;
    uint32_t slices, shifts;
    uint64_t *bandwidth;  /* by pairing: the sum of all shares */
    uint32_t *shift_load; /* by shift */
    struct hops_sum {
        uint64_t pairs, hops, least;
        uint32_t over_max;
    } * hops; /* by slice */
};

/* One job's scratch. */
struct flows {
    const struct measure *measure;
    uint32_t *load; /* by channel */
    VEC(uint32_t) channels;
    uint32_t *first; /* by flow, one more at the end: its channels; empty if not delivered */
    uint32_t count;
};

static void flows_init(struct flows *flows, const struct measure *measure)
{
    *flows = (struct flows){
        .measure = measure,
        .load = mem_zalloc(measure->network->ports.count, sizeof *flows->load),
        .first = mem_zalloc(measure->count + 1, sizeof *flows->first),
    };
}

static void flows_release(struct flows *flows)
{
    mem_free(flows->load);
    mem_free(flows->first);
    vec_release(&flows->channels);
}

/* Appends the channels of a route, with the link to the destination. Returns their number; 0 if the
 * route does not arrive. */
static uint32_t follow_route(struct flows *flows, uint32_t at, uint32_t lid, uint32_t destination)
{
    const struct network *network = flows->measure->network;
    size_t start = flows->channels.count;
    bool arrived = false;
    for (uint32_t hops = 0; lid && hops < network->switches.count && !arrived; hops++) {
        const struct network_switch *node = &network->switches.items[at];
        uint8_t port = routes_port(flows->measure->routes, at, lid);
        if (port == 0 || port > node->port_count)
            break;
        vec_push(&flows->channels, node->first_port + port);
        arrived = network_leads_to(network, at, port, destination);
        at = network_next(network, at, port);
        if (at == NETWORK_NONE)
            break;
    }
    if (!arrived)
        flows->channels.count = start;
    return (uint32_t)(flows->channels.count - start);
}

/* Adds one flow and its load. */
static void add_flow(struct flows *flows, uint32_t source, uint32_t destination)
{
    const struct network *network = flows->measure->network;
    struct path path = path_lookup(flows->measure->routes, network, source, destination);
    uint32_t at = network_switch_of(network, source);
    for (uint32_t hops = follow_route(flows, at, path.dlid, destination); hops > 0; hops--)
        flows->load[flows->channels.items[flows->channels.count - hops]]++;
    flows->first[++flows->count] = (uint32_t)flows->channels.count;
}

static uint32_t slice_start(const struct measure *measure, uint32_t jobs, size_t slice)
{
    return (uint32_t)((uint64_t)jobs * slice / measure->slices);
}

/* Calls off all flows; returns the sum of their shares, and the most flows on one channel. */
static uint64_t end_flows(struct flows *flows, uint32_t *most)
{
    uint64_t shares = 0;
    for (uint32_t flow = 0; flow < flows->count; flow++) {
        uint32_t busiest = 0;
        for (uint32_t i = flows->first[flow]; i < flows->first[flow + 1]; i++)
            if (flows->load[flows->channels.items[i]] > busiest)
                busiest = flows->load[flows->channels.items[i]];
        shares += busiest ? FULL_SHARE / busiest : 0;
        *most = busiest > *most ? busiest : *most;
    }
    for (size_t i = 0; i < flows->channels.count; i++)
        flows->load[flows->channels.items[i]] = 0;
    flows->channels.count = 0;
    flows->count = 0;
    return shares;
}

static void try_patterns(void *context, size_t slice)
{
    const struct measure *measure = context;
    struct flows flows;
    uint32_t *order = mem_alloc(measure->count * sizeof *order), unused = 0;
    uint32_t pairings = measure->options->pairings;
    struct rng rng;
    flows_init(&flows, measure);
    for (uint32_t i = slice_start(measure, pairings, slice);
         i < slice_start(measure, pairings, slice + 1); i++) {
        memcpy(order, measure->order, measure->count * sizeof *order);
        rng_seed(&rng, measure->options->seed, i);
        rng_shuffle(&rng, order, measure->count);
        for (uint32_t k = 0; k + 1 < measure->count; k += 2) {
            add_flow(&flows, order[k], order[k + 1]);
            add_flow(&flows, order[k + 1], order[k]);
        }
        measure->bandwidth[i] = end_flows(&flows, &unused);
    }
    for (uint32_t i = slice_start(measure, measure->shifts, slice);
         i < slice_start(measure, measure->shifts, slice + 1); i++) {
        uint64_t shift = 1 + (uint64_t)i * (measure->count - 1) / measure->shifts;
        for (uint32_t k = 0; k < measure->count; k++)
            add_flow(&flows, measure->order[k], measure->order[(k + shift) % measure->count]);
        end_flows(&flows, &measure->shift_load[i]);
    }
    flows_release(&flows);
    mem_free(order);
}

static void sum_pairings(struct measure *measure, struct quality *quality)
{
    uint32_t pairings = measure->options->pairings;
    uint32_t paired = measure->count - measure->count % 2, low = pairings * LOW_PERCENT / 100;
    double full = (double)FULL_SHARE * paired, sum = 0;
    if (pairings == 0 || measure->count < 2)
        return;
    sort_u64(measure->bandwidth, pairings);
    for (uint32_t i = 0; i < pairings; i++)
        sum += (double)measure->bandwidth[i];
    quality->bandwidth_mean = sum / full / pairings;
    quality->bandwidth_low = (double)measure->bandwidth[low] / full;
}

static void compare_hops(void *context, size_t slice)
{
    const struct measure *measure = context;
    const struct network *network = measure->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *distance = mem_alloc(2 * switches * sizeof *distance);
    struct flows flows;
    struct hops_sum *sum = &measure->hops[slice];
    flows_init(&flows, measure);
    for (uint32_t at = slice_start(measure, switches, slice);
         at < slice_start(measure, switches, slice + 1); at++) {
        if (!network_terminal_count(network, at))
            continue;
        network_distances(network, at, distance, distance + switches);
        for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
            for (uint32_t from = 0; from < switches; from++) {
                uint64_t senders = network_terminal_count(network, from) - (from == at);
                uint32_t to = network->terminals_at[i], lid = network->terminals.items[to].lid;
                if (lid && measure->routes->offsets)
                    lid += measure->routes->offsets[(size_t)at * switches + from];
                uint32_t hops = senders ? follow_route(&flows, from, lid, to) : 0;
                flows.channels.count = 0;
                if (!hops)
                    continue;
                uint32_t over = hops - distance[from] - 1;
                sum->pairs += senders;
                sum->hops += senders * hops;
                sum->least += senders * (distance[from] + 1);
                sum->over_max = over > sum->over_max ? over : sum->over_max;
            }
        }
    }
    flows_release(&flows);
    mem_free(distance);
}

/* Terminals with LIDs, in order. */
static void list_terminals(struct measure *measure)
{
    const struct network *network = measure->network;
    if (measure->options->order) {
        for (size_t i = 0; i < network->terminals.count; i++)
            if (network->terminals.items[measure->options->order[i]].lid)
                measure->order[measure->count++] = measure->options->order[i];
        return;
    }
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid];
        if (!(owner & NETWORK_SWITCH) && network->terminals.items[owner].lid == lid)
            measure->order[measure->count++] = owner;
    }
}

void quality_measure(const struct network *network, const struct routes *routes,
                     const struct quality_options *options, struct quality *quality)
{
    assert(routes->switch_count == network->switches.count);
    struct measure measure = {
        .network = network,
        .routes = routes,
        .options = options,
        .slices = workers_count(options->workers) * SLICES_PER_WORKER,
    };
    struct arena memory = {0};
    uint64_t shift_loads = 0;
    *quality = (struct quality){0};
    measure.order = arena_alloc(&memory, network->terminals.count * sizeof *measure.order);
    list_terminals(&measure);
    if (measure.count > 1)
        measure.shifts = options->shifts < measure.count - 1 ? options->shifts : measure.count - 1;
    measure.bandwidth = arena_alloc(&memory, options->pairings * sizeof *measure.bandwidth);
    measure.shift_load = arena_alloc(&memory, measure.shifts * sizeof *measure.shift_load);
    measure.hops = arena_alloc(&memory, measure.slices * sizeof *measure.hops);
    workers_run(options->workers, measure.slices, try_patterns, &measure);
    workers_run(options->workers, measure.slices, compare_hops, &measure);
    sum_pairings(&measure, quality);
    for (uint32_t i = 0; i < measure.shifts; i++) {
        shift_loads += measure.shift_load[i];
        if (measure.shift_load[i] > quality->shift_load_max)
            quality->shift_load_max = measure.shift_load[i];
    }
    quality->shifts = measure.shifts;
    quality->shift_load_mean = measure.shifts ? (double)shift_loads / measure.shifts : 0;
    for (uint32_t i = 0; i < measure.slices; i++) {
        const struct hops_sum *sum = &measure.hops[i];
        quality->pairs += sum->pairs;
        quality->hops_sum += sum->hops;
        quality->hops_least_sum += sum->least;
        if (sum->over_max > quality->hops_over_max)
            quality->hops_over_max = sum->over_max;
    }
    arena_release(&memory);
}
