/* Networks of publications, with the manager where it was there.
 *
 * clos: the three-stage Clos network m, n, r, folded: r edge switches with n hosts each, and m
 * middle switches that each reach every edge switch. The edge switches are numbered around the
 * middle stage, so that the published network of 7 switches and 4 hosts (3, 1, 4) has its middle
 * stage at switches 2, 3 and 4 and the manager at edge switch 0; switch i has the GUID 100 + i, as
 * in its figures ("switches 3 (GUID 103) and 4 (GUID 104)").
 *
 * figure1: the irregular network of 8 switches and 7 hosts on which FERa, PIRa and destination
 * renaming were published, derived from their printed forwarding tables. Numbers are the LIDs of
 * the figure, in the order of a search in port order from the manager's switch, number 1.
 *
 * thesis: the switch blade and the adapters of J. A. Villar Ortiz (2004), section 6.4.5, derived
 * from the five tables that OpenSM printed there: two upper switches, and three leaves with two
 * links to each of them. Numbers are the printed LIDs, and switches have the printed GUIDs. The
 * manager is at adapter 1, the server. A depth-first discovery in port order from there, without
 * adapter 12, gives LIDs 1 to 11 as printed; adapter 12 has the LID of a node that joins later.
 * The tables do not show port 5 of the upper switches, only that leaf 7 has two ports to each of
 * them: port 5 is assumed to be the second. Nor do they show which two ports of a pair of links are
 * connected: the lower ones are. */
#include "topology/generators/plan.h"

int generate_clos(struct fabric_plan *plan)
{
    uint64_t middles = plan_number(plan, 0), hosts = plan_number(plan, 1);
    uint64_t edges = plan_number(plan, 2), before = edges / 2;
    uint64_t edge_ports = middles + hosts;
    int error = plan_check_size(plan, middles + edges, plan_times(edges, hosts),
                                edge_ports > edges ? edge_ports : edges);
    if (error)
        return error;
    plan->manager_at_switch = true;
    for (uint64_t i = 0; i < middles + edges; i++) {
        bool is_middle = i >= before && i < before + middles;
        uint32_t node = plan_add_switch(plan, (unsigned)(is_middle ? edges : edge_ports), "S%llu",
                                        (unsigned long long)i);
        plan->nodes.items[node].guid = 100 + i;
    }
    for (uint64_t e = 0; e < edges; e++) {
        uint32_t edge = (uint32_t)(e < before ? e : e + middles);
        for (uint64_t m = 0; m < middles; m++)
            plan_link(plan, edge, (unsigned)m + 1, (uint32_t)(before + m), (unsigned)e + 1);
    }
    for (uint64_t e = 0; e < edges; e++) {
        uint32_t edge = (uint32_t)(e < before ? e : e + middles);
        for (uint64_t h = 0; h < hosts; h++)
            plan_attach_host(plan, edge, (unsigned)(middles + h) + 1, e * hosts + h);
    }
    return 0;
}

enum { FIGURE1_LAST = 15, FIGURE1_PORTS = 4 };

static const struct {
    unsigned a, a_port, b, b_port;
} figure1_links[] = {
    {1, 1, 2, 1},  {1, 2, 3, 1},  {1, 3, 4, 1},  {2, 2, 5, 2},   {2, 3, 6, 1},  {2, 4, 7, 1},
    {3, 2, 8, 1},  {3, 3, 9, 1},  {3, 4, 6, 2},  {5, 1, 10, 1},  {5, 3, 11, 1}, {6, 3, 10, 2},
    {6, 4, 12, 1}, {8, 2, 13, 1}, {9, 2, 14, 1}, {10, 3, 15, 1},
};

int generate_figure1(struct fabric_plan *plan)
{
    uint32_t node[FIGURE1_LAST + 1];
    plan->manager_at_switch = true;
    for (unsigned lid = 1; lid <= FIGURE1_LAST; lid++) {
        bool is_switch = lid <= 10 && lid != 4 && lid != 7;
        node[lid] = is_switch ? plan_add_switch(plan, FIGURE1_PORTS, "S%u", lid)
                              : plan_add_host(plan, 1, "H%u", lid);
    }
    for (unsigned i = 0; i < sizeof figure1_links / sizeof figure1_links[0]; i++)
        plan_link(plan, node[figure1_links[i].a], figure1_links[i].a_port, node[figure1_links[i].b],
                  figure1_links[i].b_port);
    return 0;
}

/* Pairs of links between an upper switch and a leaf; ports of the leaf are 5 and 6 to switch 2, and
 * 7 and 8 to switch 4. */
static const struct {
    unsigned leaf, upper_ports[2];
} thesis_leaves[] = {{3, {1, 8}}, {5, {2, 3}}, {7, {4, 5}}};

static const struct {
    unsigned lid, at, port;
} thesis_adapters[] = {{1, 2, 6},  {6, 5, 9},  {8, 7, 9}, {9, 4, 9},
                       {10, 3, 9}, {11, 2, 9}, {12, 3, 2}};

enum { THESIS_LAST = 12, THESIS_PORTS = 9 };

int generate_thesis(struct fabric_plan *plan)
{
    static const uint64_t switch_guids[THESIS_LAST + 1] = {
        [2] = 0xf2, [3] = 0xfa, [4] = 0xf4, [5] = 0xf8, [7] = 0xf6};
    uint32_t node[THESIS_LAST + 1];
    for (unsigned lid = 1; lid <= THESIS_LAST; lid++) {
        node[lid] = switch_guids[lid] ? plan_add_switch(plan, THESIS_PORTS, "S%u", lid)
                                      : plan_add_host(plan, 1, "H%u", lid);
        plan->nodes.items[node[lid]].guid = switch_guids[lid];
        plan->nodes.items[node[lid]].lid = (uint16_t)lid;
    }
    for (unsigned i = 0; i < sizeof thesis_leaves / sizeof thesis_leaves[0]; i++)
        for (unsigned k = 0; k < 2; k++) {
            uint32_t leaf = node[thesis_leaves[i].leaf];
            plan_link(plan, node[2], thesis_leaves[i].upper_ports[k], leaf, 5 + k);
            plan_link(plan, node[4], thesis_leaves[i].upper_ports[k], leaf, 7 + k);
        }
    for (unsigned i = 0; i < sizeof thesis_adapters / sizeof thesis_adapters[0]; i++)
        plan_link(plan, node[thesis_adapters[i].at], thesis_adapters[i].port,
                  node[thesis_adapters[i].lid], 1);
    return 0;
}
