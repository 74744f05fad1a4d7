/* Cuts a fabric into partitions of equal weight with few links between them.
 *
 * Switches are distributed; every other node, and the parts of a device, belong to the switch that
 * they lead to. The weight of a switch is the number of connected ports, its nodes included, since
 * each link costs about the same. A partition grows from one switch: always by the switch that adds
 * the fewest links to the cut (Karypis and Kumar, "A fast and high quality multilevel scheme for
 * partitioning irregular graphs", 1998: GGGP). Then switches at the cut move while that shortens
 * it (Fiduccia and Mattheyses, 1982, without their moves uphill). Pods of a tree end up whole. */
#include "fabric/partitions.h"

enum { DEVICE_LEVELS = 4, PASSES = 10, SLACK_PERCENT = 3, UNKNOWN = 0xff };

struct cut {
    const struct fabric *fabric;
    uint32_t *anchors;  /* by node: the switch that it belongs to */
    uint32_t *switches; /* the nodes that are their own anchors */
    uint32_t count;
    uint64_t *weights; /* by node */
    uint64_t total;
    uint8_t *parts;   /* by node, for anchors */
    int32_t *inside;  /* by node: links to the partition that grows */
    int32_t *outside; /* links to switches without a partition */
};

static uint32_t peer_node(const struct fabric *fabric, uint32_t port)
{
    uint32_t peer = fabric->ports[port].peer;
    return peer == NONE ? NONE : fabric->ports[peer].node;
}

static bool is_physical_switch(const struct fabric *fabric, uint32_t node)
{
    return fabric->nodes[node].is_switch && !fabric->nodes[node].sma.device;
}

/* Towards the switches: from a virtual function to the virtual switch, from there to the cable. */
static uint32_t find_anchor(const struct fabric *fabric, uint32_t node)
{
    uint32_t at = node;
    for (unsigned level = 0; level < DEVICE_LEVELS && !is_physical_switch(fabric, at); level++) {
        uint32_t next = NONE;
        const struct node *of = &fabric->nodes[at];
        for (unsigned number = 1; number <= of->sma.port_count && next == NONE; number++)
            next = peer_node(fabric, of->first_port + number);
        if (next == NONE)
            break;
        at = next;
    }
    return is_physical_switch(fabric, at) ? at : node;
}

static void start(struct cut *cut, const struct fabric *fabric)
{
    uint32_t nodes = fabric->node_count;
    *cut = (struct cut){.fabric = fabric};
    cut->anchors = mem_zalloc(nodes, sizeof *cut->anchors);
    cut->switches = mem_zalloc(nodes, sizeof *cut->switches);
    cut->weights = mem_zalloc(nodes, sizeof *cut->weights);
    cut->parts = mem_zalloc(nodes, sizeof *cut->parts);
    cut->inside = mem_zalloc(nodes, sizeof *cut->inside);
    cut->outside = mem_zalloc(nodes, sizeof *cut->outside);
    for (uint32_t i = 0; i < nodes; i++) {
        cut->anchors[i] = find_anchor(fabric, i);
        cut->parts[i] = UNKNOWN;
        if (cut->anchors[i] == i)
            cut->switches[cut->count++] = i;
    }
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        uint32_t peer = peer_node(fabric, i), anchor = cut->anchors[fabric->ports[i].node];
        if (peer == NONE)
            continue;
        cut->weights[anchor]++;
        cut->total++;
        cut->outside[anchor] += cut->anchors[peer] != anchor;
    }
}

/* The nodes of an anchor are all nodes whose ports lead to it: their links to other anchors count,
 * too, so that an adapter with two cables pulls its switches together. */
static void take(struct cut *cut, uint32_t anchor, uint8_t part)
{
    const struct fabric *fabric = cut->fabric;
    const struct node *node = &fabric->nodes[anchor];
    cut->parts[anchor] = part;
    for (unsigned number = 1; number <= node->sma.port_count; number++) {
        uint32_t peer = peer_node(fabric, node->first_port + number);
        uint32_t other = peer == NONE ? anchor : cut->anchors[peer];
        cut->inside[other] += other != anchor;
        cut->outside[other] -= other != anchor;
    }
}

/* The switch that adds least to the cut; of several the one with fewest links, so that a partition
 * begins at a leaf. */
static uint32_t find_next(const struct cut *cut, bool first)
{
    uint32_t best = NONE;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < cut->count; i++) {
        uint32_t anchor = cut->switches[i];
        if (cut->parts[anchor] != UNKNOWN || (!first && !cut->inside[anchor]))
            continue;
        int64_t cost = cut->outside[anchor] - cut->inside[anchor];
        if (cost < least) {
            least = cost;
            best = anchor;
        }
    }
    return best;
}

static void grow_partition(struct cut *cut, uint8_t part, uint64_t weight)
{
    for (uint32_t i = 0; i < cut->fabric->node_count; i++)
        cut->inside[i] = 0;
    bool first = true;
    for (uint64_t taken = 0; taken < weight;) {
        uint32_t next = find_next(cut, first);
        if (next == NONE) /* the fabric is not connected */
            next = find_next(cut, true);
        if (next == NONE || (taken && taken + cut->weights[next] / 2 > weight))
            return;
        take(cut, next, part);
        taken += cut->weights[next];
        first = false;
    }
}

/* Moves switches to the partition to which they have most links. */
static bool improve(struct cut *cut, unsigned count, uint64_t *weights)
{
    const struct fabric *fabric = cut->fabric;
    uint64_t most = cut->total / count + cut->total * SLACK_PERCENT / 100 / count;
    bool moved = false;
    for (uint32_t i = 0; i < cut->count; i++) {
        uint32_t anchor = cut->switches[i], links[PARTITIONS_MOST] = {0};
        const struct node *node = &fabric->nodes[anchor];
        unsigned own = cut->parts[anchor], best = own;
        for (unsigned number = 1; number <= node->sma.port_count; number++) {
            uint32_t peer = peer_node(fabric, node->first_port + number);
            if (peer != NONE && cut->anchors[peer] != anchor)
                links[cut->parts[cut->anchors[peer]]]++;
        }
        for (unsigned part = 0; part < count; part++)
            if (links[part] > links[best] && weights[part] + cut->weights[anchor] <= most)
                best = part;
        if (best == own)
            continue;
        weights[own] -= cut->weights[anchor];
        weights[best] += cut->weights[anchor];
        cut->parts[anchor] = (uint8_t)best;
        moved = true;
    }
    return moved;
}

void partitions_cut(struct fabric *fabric)
{
    struct partitions *partitions = fabric->partitions;
    struct cut cut;
    uint64_t weights[PARTITIONS_MOST] = {0}, left;
    start(&cut, fabric);
    left = cut.total;
    for (unsigned part = 0; part + 1 < partitions->count; part++) {
        grow_partition(&cut, (uint8_t)part, left / (partitions->count - part));
        left = 0;
        for (uint32_t i = 0; i < cut.count; i++)
            left += cut.parts[cut.switches[i]] == UNKNOWN ? cut.weights[cut.switches[i]] : 0;
    }
    for (uint32_t i = 0; i < cut.count; i++) {
        uint8_t *part = &cut.parts[cut.switches[i]];
        *part = *part == UNKNOWN ? (uint8_t)(partitions->count - 1) : *part;
        weights[*part] += cut.weights[cut.switches[i]];
    }
    for (unsigned pass = 0; pass < PASSES && improve(&cut, partitions->count, weights); pass++)
        ;
    partitions->of_node = mem_alloc(fabric->node_count);
    for (uint32_t i = 0; i < fabric->node_count; i++)
        partitions->of_node[i] = cut.parts[cut.anchors[i]];
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        uint32_t peer = peer_node(fabric, i);
        fabric->ports[i].crosses =
            peer != NONE && partitions->of_node[peer] != partitions->of_node[fabric->ports[i].node];
    }
    mem_free(cut.anchors);
    mem_free(cut.switches);
    mem_free(cut.weights);
    mem_free(cut.parts);
    mem_free(cut.inside);
    mem_free(cut.outside);
    partitions->is_cut = true;
}
