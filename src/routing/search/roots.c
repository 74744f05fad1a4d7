/* Choosing roots: the manager's switch, the centre, a list, or the top of a tree.
 *
 * If the network is a tree (tree.h) of more than one level, the switches without a higher neighbour
 * are detected as the roots. This also holds for trees that lost links or switches. Any other
 * network gets one root, its centre, since several roots in an irregular network leave
 * pairs without a legal route. */
#include "routing/search/roots.h"

#include "base/map.h"
#include "routing/search/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* The centre of every part: the smallest eccentricity, then the least sum of distances, then the
 * lowest index. */
static void choose_centres(struct roots *roots, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *distance = mem_alloc(3 * switches * sizeof *distance);
    uint32_t *queue = distance + switches, *part = queue + switches;
    uint32_t parts = network_parts(network, part);
    struct best {
        uint32_t at, far;
        uint64_t sum;
    } *best = mem_alloc(parts * sizeof *best);
    for (uint32_t i = 0; i < parts; i++)
        best[i] = (struct best){NETWORK_NONE, NETWORK_NONE, UINT64_MAX};
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t far = 0;
        uint64_t sum = 0;
        uint32_t count = network_distances(network, at, distance, queue);
        roots->operations += switches + network_count_edges(network, queue, count);
        for (uint32_t other = 0; other < switches; other++) {
            if (distance[other] == NETWORK_NONE)
                continue;
            far = distance[other] > far ? distance[other] : far;
            sum += distance[other];
        }
        struct best *mine = &best[part[at]];
        if (far < mine->far || (far == mine->far && sum < mine->sum))
            *mine = (struct best){at, far, sum};
    }
    for (uint32_t i = 0; i < parts; i++)
        vec_push(&roots->switches, best[i].at);
    mem_free(best);
    mem_free(distance);
}

/* False, and no roots, if the network is not a tree with terminals at the lowest of several levels
 * only. */
static bool choose_top_stage(struct roots *roots, const struct network *network)
{
    struct engine_options detect = {.root = ROOT_DETECT};
    struct tree tree;
    struct err ignored;
    bool staged = tree_recognise(&tree, network, &detect, &ignored) == 0;
    for (uint32_t at = 0; staged && at < network->switches.count; at++) {
        staged = !tree.level[at] || !network_terminal_count(network, at);
        if (tree.level[at] > 0 && tree_is_top(&tree, network, at))
            vec_push(&roots->switches, at);
    }
    tree_release(&tree);
    if (!staged)
        vec_release(&roots->switches);
    return roots->switches.count > 0;
}

uint32_t roots_find_listed(const struct network *network, const struct engine_options *options,
                           uint32_t *switches)
{
    struct map by_guid = {0};
    uint32_t count = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        map_add(&by_guid, network->switches.items[at].guid, at);
    for (size_t i = 0; i < options->root_count; i++) {
        uint32_t at = map_get(&by_guid, options->root_guids[i]);
        if (at == MAP_NONE)
            continue;
        map_remove(&by_guid, options->root_guids[i]);
        switches[count++] = at;
    }
    map_release(&by_guid);
    return count;
}

bool roots_are_there(const struct network *network, const struct engine_options *options)
{
    uint32_t *switches = mem_alloc((network->switches.count + 1) * sizeof *switches);
    bool any = roots_find_listed(network, options, switches) > 0;
    mem_free(switches);
    return any;
}

int roots_refuse_list(const struct engine_options *options, struct err *err)
{
    return err_set(err, ENOENT, "none of the %zu roots given is a switch of this network",
                   options->root_count);
}

int roots_choose(struct roots *roots, const struct network *network,
                 const struct engine_options *options, enum root_choice fallback, struct err *err)
{
    assert(fallback != ROOT_DEFAULT);
    enum root_choice choice = options->root == ROOT_DEFAULT ? fallback : options->root;
    char label[NETWORK_LABEL_BYTES];
    *roots = (struct roots){0};
    if (network->switches.count == 0)
        return 0;
    if (choice == ROOT_LIST) {
        vec_reserve(&roots->switches, network->switches.count);
        roots->switches.count = roots_find_listed(network, options, roots->switches.items);
        snprintf(roots->note, sizeof roots->note, "%zu of %zu roots given are there",
                 roots->switches.count, options->root_count);
        if (roots->switches.count)
            return 0;
        roots_release(roots);
        return roots_refuse_list(options, err);
    }
    if (choice == ROOT_DETECT && choose_top_stage(roots, network)) {
        snprintf(roots->note, sizeof roots->note, "%zu roots, the top stage of a tree",
                 roots->switches.count);
        return 0;
    }
    bool centre = choice == ROOT_DETECT || choice == ROOT_CENTRE;
    if (centre)
        choose_centres(roots, network);
    else
        vec_push(&roots->switches, network->manager == NETWORK_NONE ? 0 : network->manager);
    assert(roots->switches.items);
    network_label(network, NETWORK_SWITCH | roots->switches.items[0], label);
    snprintf(roots->note, sizeof roots->note, "root %s, %s", label,
             centre ? "the centre of the graph" : "the manager's switch");
    return 0;
}

void roots_release(struct roots *roots)
{
    vec_release(&roots->switches);
}
