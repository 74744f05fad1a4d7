/* The manager of the papers that weft reproduces (seeds 000 to 002).
 *
 * It is the only manager and works sequentially: explore everything, compute, write. Discovery
 * reads NodeInfo and PortInfo only, through every port except the one by which it reached a node.
 * End ports get LIDs in the order of discovery and are activated by the same Set. The switches have
 * tables of 1,024 entries, all of which are written whenever one changes; their ports are activated
 * one by one after that. There are no partitions, service levels, multicast groups or repairs. */
#include "sm/policy.h"

static void limit_to_papers(struct sm_config *config)
{
    config->scope_full = true;
    config->repair = false;
    config->lid_route = false;
}

const struct sm_policy sm_policy_paper = {
    .limit = limit_to_papers,
    .alone = true,
    .sequential = true,
    .no_window = true,
    .fixed_timeouts = true,
    .probes_every_port = true,
    .ports_once = true,
    .whole_tables = true,
};
