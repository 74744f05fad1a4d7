#include "routing/repair/repair_settling.h"

void settling_find_inflows(struct repair_batch *batch, struct repair_settling *settling)
{
    const struct network *network = batch->column->network;
    const struct standing *standing = &batch->column->repair->standing;
    uint32_t at = settling->at, first_port = network->switches.items[at].first_port;
    settling->inflow_count = 0;
    settling->last_inflow = INT64_MIN;
    if (!(batch->block->fed[at] & settling->lids) || batch->column->repair->patient)
        return;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint8_t in = network->edges[e].port;
        uint64_t lids = batch->block->coming[first_port + in] & settling->lids;
        if (!lids)
            continue;
        int64_t label = standing->label[standing->graph.first_node[at] + in];
        settling->inflows[settling->inflow_count++] = (struct repair_inflow){in, lids};
        settling->last_inflow = label > settling->last_inflow ? label : settling->last_inflow;
    }
}

uint64_t settling_use(const struct repair_settling *settling, const struct network_edge *hop)
{
    return settling->load[hop->port] << 8 | (uint8_t)(hop->port - settling->turn);
}

/* How near a switch is to any of the goals, and to all. */
static struct repair_nearness nearness_of(struct repair_batch *batch, uint32_t at)
{
    struct repair_nearness *nearness = &batch->nearness[at];
    if (nearness->number != batch->block->number) {
        *nearness = (struct repair_nearness){batch->block->number, NEAR_NONE, 0};
        for (unsigned g = 0; g < batch->goal_count; g++) {
            uint8_t near = batch->goals[g].near[at];
            nearness->least = near < nearness->least ? near : nearness->least;
            nearness->most = near > nearness->most ? near : nearness->most;
        }
    }
    return *nearness;
}

/* The LIDs for which a switch may be nearer than so many hops. */
static uint64_t lids_near(struct repair_batch *batch, uint32_t at, uint32_t hops)
{
    struct repair_nearness nearness = nearness_of(batch, at);
    uint64_t lids = 0;
    if (nearness.least >= hops)
        return 0;
    if (nearness.most < hops)
        return batch->block->lids;
    for (unsigned g = 0; g < batch->goal_count; g++)
        lids |= batch->goals[g].near[at] < hops ? batch->goals[g].lids : 0;
    return lids;
}

void settling_find_candidates(struct repair_batch *batch, struct repair_settling *settling)
{
    const struct network *network = batch->column->network;
    uint32_t at = settling->at;
    unsigned count = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *hop = &network->edges[e];
        uint64_t near = lids_near(batch, hop->to, settling->hops) & settling->lids;
        settling->place[hop->port] = (uint8_t)count;
        if (near)
            settling->candidates[count++] = (struct repair_candidate){
                .use = settling_use(settling, hop), .good = near, .open = near, .hop = hop};
    }
    settling->candidate_count = count;
    batch->column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
}

void settling_forget_ratings(struct repair_settling *settling)
{
    settling->last_inflow = INT64_MAX;
    for (unsigned c = 0; c < settling->candidate_count; c++) {
        settling->candidates[c].rated = false;
        settling->candidates[c].good = settling->candidates[c].open;
    }
}

/* Of these LIDs, those that would go on from there in a way that was refused before. */
static uint64_t refused_after(const struct repair_batch *batch, const struct network_edge *hop,
                              uint64_t lids)
{
    const struct standing *standing = &batch->column->repair->standing;
    const uint64_t *row = standing_refused_row(standing, hop->to, hop->to_port, 0);
    uint64_t refused = 0;
    for (; row && lids; lids &= lids - 1) {
        unsigned lid = (unsigned)__builtin_ctzll(lids);
        uint8_t out = *repair_block_entry(batch->block, hop->to, lid);
        if (out <= batch->column->network->switches.items[hop->to].port_count)
            refused |= (uint64_t)bitset_has(row, out) << lid;
    }
    return refused;
}

void settling_rate(struct repair_batch *batch, struct repair_settling *settling,
                   struct repair_candidate *candidate)
{
    const struct standing *standing = &batch->column->repair->standing;
    const struct network_edge *hop = candidate->hop;
    uint32_t first_port = batch->column->network->switches.items[settling->at].first_port;
    int64_t label = standing->label[standing->graph.first_node[hop->to] + hop->to_port];
    uint64_t broken = batch->block->broken[hop->to];
    candidate->rated = true;
    candidate->open &= ~broken | batch->settled[hop->to];
    candidate->goes = broken;
    if (candidate->open & ~broken)
        candidate->goes |= repair_block_fitting(batch->block, first_port + hop->port, hop,
                                                candidate->open & ~broken);
    uint64_t refused = refused_after(batch, hop, candidate->open & ~candidate->goes);
    candidate->open &= ~refused;
    settling->refused |= refused;
    candidate->late = 0;
    for (unsigned i = 0; settling->last_inflow >= label && i < settling->inflow_count; i++)
        if (standing->label[standing->graph.first_node[settling->at] + settling->inflows[i].in] >=
            label)
            candidate->late |= settling->inflows[i].lids;
    candidate->good = candidate->open & candidate->goes & ~candidate->late;
    batch->column->repair->operations += 2 + settling->inflow_count;
}

struct repair_candidate *settling_best(struct repair_settling *settling, uint64_t bit, uint8_t old)
{
    struct repair_candidate *end = settling->candidates + settling->candidate_count;
    uint64_t least = UINT64_MAX;
    unsigned place = settling->place[old];
    if (place < settling->candidate_count && settling->candidates[place].hop->port == old &&
        settling->candidates[place].good & bit)
        return &settling->candidates[place];
    for (struct repair_candidate *candidate = settling->candidates; candidate < end; candidate++) {
        uint64_t use = candidate->good & bit ? candidate->use : UINT64_MAX;
        least = use < least ? use : least;
    }
    return least < UINT64_MAX
               ? &settling->candidates[settling->place[(uint8_t)(least + settling->turn)]]
               : NULL;
}

struct repair_candidate *settling_next_best(const struct repair_batch *batch,
                                            struct repair_settling *settling, uint64_t bit,
                                            uint8_t old)
{
    bool strange = !batch->column->repair->standing.directed;
    struct repair_candidate *best = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned c = 0; c < settling->candidate_count; c++) {
        struct repair_candidate *candidate = &settling->candidates[c];
        uint64_t against = !(candidate->goes & bit), late = (candidate->late & bit) != 0;
        uint64_t other = candidate->hop->port != old;
        uint64_t rating = against << 63 | late << 62 | other << 61 | candidate->use;
        if (!(candidate->open & bit) || (against && !strange) || rating >= least)
            continue;
        least = rating;
        best = candidate;
    }
    return best;
}
