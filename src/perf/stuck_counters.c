/* The problem "stuck counter": a field of PortCounters at its largest value counts no further. It
 * is listed once for each node, for the first NODES_LISTED of them: a switch without
 * PortCountersExtended has many such fields soon. */
#include "perf/perf.h"
#include "subnet/names.h"

#include <stdio.h>

enum { NODES_LISTED = 16 };

static bool list_node(const struct perf *perf, const struct subnet *subnet, uint32_t node,
                      struct problems *problems)
{
    const struct subnet_node *of = &subnet->nodes.items[node];
    uint64_t stuck = 0;
    unsigned ports = 0, first = 0, counters = 0, name = 0;
    for (unsigned number = 1; number <= of->port_count; number++) {
        const struct port_counters *at = perf_port_counters(perf, of->first_port + number);
        if (!at || !at->stuck)
            continue;
        first = ports++ ? first : number;
        stuck |= at->stuck;
    }
    if (!ports)
        return false;
    for (unsigned i = COUNTER_COUNT; i-- > 0;)
        if (stuck >> i & 1) {
            counters++;
            name = i;
        }
    char others[64] = "", place[32] = "";
    if (counters > 1)
        snprintf(others, sizeof others, " and %u other counters", counters - 1);
    if (ports > 1)
        snprintf(place, sizeof place, " and %u other ports", ports - 1);
    problems_add(problems, PROBLEM_STUCK_COUNTER, subnet_at_node(subnet, node),
                 "%s%s of port %u%s reached the largest value and count no further; weft clears "
                 "no counters: 'perfquery -R %u %u' clears those of a port",
                 port_counter_infos[name].name, others, first, place,
                 subnet->ports.items[subnet_end_port(subnet, of->first_port + first)].lid, first);
    return true;
}

void perf_list_problems(const struct perf *perf, const struct subnet *subnet,
                        struct problems *problems)
{
    struct perf_counts counts;
    perf_counts(perf, &counts);
    for (uint32_t i = 0, listed = 0; counts.stuck_ports && i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present && list_node(perf, subnet, i, problems) &&
            ++listed == NODES_LISTED)
            return;
}
