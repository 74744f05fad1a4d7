/* Two networks of publications, with the manager at a switch as there.
 *
 * clos: the three-stage Clos network m, n, r, folded: r edge switches with n hosts each, and m
 * middle switches that each reach every edge switch. The edge switches are numbered around the
 * middle stage, so that the published network of 7 switches and 4 hosts (3, 1, 4) has its middle
 * stage at switches 2, 3 and 4 and the manager at edge switch 0; switch i has the GUID 100 + i, as
 * in its figures ("switches 3 (GUID 103) and 4 (GUID 104)").
 *
 * figure1: the irregular network of 8 switches and 7 hosts on which FERa, PIRa and destination
 * renaming were published, derived from their printed forwarding tables. Numbers are the LIDs of
 * the figure, in the order of a search in port order from the manager's switch, number 1. */
#include "topology/plan.h"

int generate_clos(struct plan *plan)
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

int generate_figure1(struct plan *plan)
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
