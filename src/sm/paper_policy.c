/* The manager of the papers that weft reproduces (seeds 000 to 002).
 *
 * It knows no other manager and does one thing after the other: explore everything, compute, write.
 * Discovery asks for NodeInfo and PortInfo only, through every port but the one that led to a node.
 * An end port gets its LID in the order of discovery and is activated by the same Set. The switches
 * have tables of 1,024 entries, all of which are written whenever one changes; their ports are
 * activated one by one when the tables are there. There are no partitions, levels of service or
 * multicast groups, and no repair. */
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
    .probes_every_port = true,
    .ports_once = true,
    .whole_tables = true,
};
