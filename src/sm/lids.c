/* Assignment of LIDs, which change as rarely as possible (Villar 2004, section 6.4.3).
 *
 * A port keeps the LID that this manager assigned before. Else it gets the LID stored by an earlier
 * run, or the one in its PortInfo (assigned by another manager), if no other port has it; after
 * another master, PortInfo takes precedence. If two ports have the same LID, the manager's own port
 * comes first, then the order of discovery. All other ports get the lowest free LID, in the order
 * of topology/lid_order.h, which weft route uses too. It may be the stored LID of an absent port
 * only if no others are left. With reassign_lids, all ports get new LIDs when a manager starts,
 * unless it replaces another master. With the policy of the papers, a port gets its LID when it is
 * discovered. */
#include "sm/lids.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/plan.h"
#include "sm/tables/functions.h"
#include "topology/lid_order.h"
#include "vswitch/model/addresses.h"

#include <stdio.h>
#include <string.h>

struct lids {
    struct map remembered; /* port GUID → lid << 3 | lmc */
    uint16_t next[2];      /* where the search for a free LID continues; [true]: avoiding LIDs of
                            * absent ports */
    bool assigned;         /* this run has assigned LIDs */
    /* The first tables with a known block that contains the LIDs in question, or NULL; found once
     * for each block of an assignment. */
    const struct subnet_tables *tables;
    unsigned tables_block;
};

static void search_from_the_lowest(struct sm *sm)
{
    sm->lids->next[false] = sm->lids->next[true] = 1;
}

static void init_lids(struct sm *sm)
{
    search_from_the_lowest(sm);
}

static void release_lids(struct sm *sm)
{
    map_release(&sm->lids->remembered);
}

SM_PART(lids, .init = init_lids, .release = release_lids);

void sm_restore_lid(struct sm *sm, const struct sm_lid_fact *fact)
{
    map_set(&sm->lids->remembered, fact->guid, (uint32_t)fact->lid << 3 | (fact->lmc & 7u));
    subnet_reserve_lids(&sm->subnet, fact->lid, fact->lmc & 7u);
}

typedef bool candidate(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid);

static bool remembered(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid)
{
    uint32_t fact = map_get(&sm->lids->remembered, port_at(sm, port)->guid);
    *lid = fact >> 3;
    return fact != MAP_NONE && (fact & 7) == lmc;
}

static bool reported(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid)
{
    const uint8_t *info = port_at(sm, port)->info;
    *lid = (unsigned)wire_get(info, PORT_INFO_LID);
    return *lid && wire_get(info, PORT_INFO_LMC) == lmc;
}

/* Before the first plan, an entry for a LID in the tables may belong to a port that does not answer
 * at present. */
static bool is_in_tables(struct sm *sm, unsigned lid, unsigned span)
{
    unsigned block = lid / LFT_BLOCK;
    bool found = false;
    if (plan_current(sm))
        return false;
    if (block != sm->lids->tables_block)
        sm->lids->tables = NULL;
    for (uint32_t node = 0;
         block != sm->lids->tables_block && node < sm->subnet.nodes.count && !sm->lids->tables;
         node++) {
        const struct subnet_tables *tables = node_at(sm, node)->tables;
        if (tables && subnet_block_known(tables, block))
            sm->lids->tables = tables; /* all switches have the same LIDs */
    }
    sm->lids->tables_block = block;
    for (unsigned i = 0; i < span && sm->lids->tables; i++)
        found |= subnet_actual_port(sm->lids->tables, lid + i) != PORT_NONE;
    return found;
}

/* The first assignment of a run with reassign_lids. */
static bool is_reassigning(const struct sm *sm)
{
    return sm->config.reassign_lids && !sm->lids->assigned;
}

static bool is_of_an_absent_port(struct sm *sm, unsigned lid, unsigned lmc)
{
    return subnet_lid_range_reserved(&sm->subnet, lid, lmc) || is_in_tables(sm, lid, 1u << lmc);
}

static bool find_free(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid, bool avoid)
{
    unsigned span = 1u << lmc;
    uint16_t *next = &sm->lids->next[avoid];
    for (*lid = span > *next ? span : (*next + span - 1u) / span * span;
         *lid + span - 1 <= LID_UNICAST_LAST; *lid += span) {
        if (!subnet_lid_range_free(&sm->subnet, port, *lid, lmc) ||
            (avoid && is_of_an_absent_port(sm, *lid, lmc)))
            continue;
        if (lmc == 0)
            *next = (uint16_t)*lid;
        return true;
    }
    return false;
}

static bool lowest_free(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid)
{
    bool avoid = !is_reassigning(sm);
    return (avoid && find_free(sm, port, lmc, lid, true)) || find_free(sm, port, lmc, lid, false);
}

static unsigned wanted_lmc(struct sm *sm, const struct subnet_port *port)
{
    return node_at(sm, port->node)->kind == SUBNET_SWITCH ? 0 : sm->config.lmc;
}

static bool needs_lid(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    /* A virtual function may get its LID before it is up; a vSwitch has the LID of its PF. */
    bool known = p->known || subnet_vf_port_of(&sm->subnet, port) != SUBNET_NONE;
    return node->present && subnet_is_end_port(&sm->subnet, port) && known && !node->vswitch &&
           (p->lid == 0 || p->lmc != wanted_lmc(sm, p));
}

void lids_remember(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port == SUBNET_NONE ? NULL : port_at(sm, port);
    if (!p || !p->lid || !p->guid) /* a virtual function may have a LID before a GUID */
        return;
    map_set(&sm->lids->remembered, p->guid, (uint32_t)p->lid << 3 | p->lmc);
    sm_persist(sm, ((struct sm_lid_fact){p->guid, p->lid, p->lmc}));
}

static void try_candidate(struct sm *sm, uint32_t port, candidate *choose)
{
    struct subnet_port *p = port_at(sm, port);
    unsigned lmc = wanted_lmc(sm, p), lid;
    if (!needs_lid(sm, port) || !choose(sm, port, lmc, &lid) ||
        !subnet_lid_range_free(&sm->subnet, port, lid, lmc))
        return;
    assert(lid && lid + (1u << lmc) - 1 <= LID_UNICAST_LAST);
    subnet_set_lid(&sm->subnet, port, (uint16_t)lid, lmc);
    lids_remember(sm, port);
}

/* ---- numbering ---- */

/* The end ports of present nodes and their links, for lid_order(). */
struct numbering {
    VEC(struct lid_order_end) ends;
    VEC(uint32_t) ports; /* by end: its port */
    VEC(uint32_t) links;
    uint32_t *end_of; /* by port */
};

static void add_links_of(struct sm *sm, struct numbering *numbering, uint32_t end)
{
    uint32_t port = numbering->ports.items[end];
    const struct subnet_node *node = node_at(sm, port_at(sm, port)->node);
    bool is_switch = node->kind == SUBNET_SWITCH;
    uint32_t first = is_switch ? port + 1 : port;
    uint32_t last = is_switch ? port + node->port_count : port;
    numbering->ends.items[end].first_link = (uint32_t)numbering->links.count;
    for (uint32_t at = first; at <= last; at++)
        if (port_at(sm, at)->peer != SUBNET_NONE)
            vec_push(&numbering->links,
                     numbering->end_of[subnet_end_port(&sm->subnet, port_at(sm, at)->peer)]);
    numbering->ends.items[end].link_count =
        (uint32_t)numbering->links.count - numbering->ends.items[end].first_link;
}

static void numbering_init(struct sm *sm, struct numbering *numbering)
{
    *numbering =
        (struct numbering){.end_of = mem_alloc(sm->subnet.ports.count * sizeof(uint32_t) + 1)};
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_node *node = node_at(sm, port_at(sm, port)->node);
        if (!node->present || !subnet_is_end_port(&sm->subnet, port))
            continue;
        bool is_switch = node->kind == SUBNET_SWITCH;
        numbering->end_of[port] = (uint32_t)numbering->ends.count;
        vec_push(&numbering->ports, port);
        vec_push(&numbering->ends,
                 ((struct lid_order_end){.guid = is_switch ? node->guid : port_at(sm, port)->guid,
                                         .starts = is_switch && !node->vswitch}));
    }
    for (uint32_t end = 0; end < numbering->ends.count; end++)
        add_links_of(sm, numbering, end);
}

/* If LIDs are exhausted, the manager's own port takes those of the last port that has enough. */
static void number_own_port(struct sm *sm, const struct numbering *numbering, const uint32_t *order)
{
    uint32_t own = sm->subnet.own_port;
    unsigned lmc = wanted_lmc(sm, port_at(sm, own));
    for (size_t i = numbering->ends.count; i-- > 0 && needs_lid(sm, own);) {
        uint32_t port = numbering->ports.items[order[i]];
        uint16_t lid = port_at(sm, port)->lid;
        if (!lid || port_at(sm, port)->lmc < lmc)
            continue;
        subnet_set_lid(&sm->subnet, port, 0, 0);
        subnet_set_lid(&sm->subnet, own, lid, lmc);
        lids_remember(sm, own);
    }
}

static void number_ports(struct sm *sm)
{
    struct numbering numbering;
    numbering_init(sm, &numbering);
    uint32_t count = (uint32_t)numbering.ends.count;
    uint32_t *order = mem_alloc(count * sizeof *order + 1);
    lid_order(numbering.ends.items, count, numbering.links.items, order);
    for (uint32_t i = 0; i < count; i++)
        try_candidate(sm, numbering.ports.items[order[i]], lowest_free);
    number_own_port(sm, &numbering, order);
    mem_free(order);
    vec_release(&numbering.ends);
    vec_release(&numbering.ports);
    vec_release(&numbering.links);
    mem_free(numbering.end_of);
}

/* ---- assignment ---- */

enum { KEPT_PASSES = 2 };
static candidate *const passes[KEPT_PASSES] = {remembered, reported};
static candidate *const passes_after_another[KEPT_PASSES] = {reported, remembered};

static void release_unconfirmed_lids(struct sm *sm)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        bool present = node_at(sm, p->node)->present && p->known;
        if (p->lid && (!present || p->lid != wire_get(p->info, PORT_INFO_LID)))
            subnet_set_lid(&sm->subnet, port, 0, 0);
    }
}

void lids_assign_port(struct sm *sm, uint32_t port)
{
    sm->lids->tables_block = LFT_BLOCKS;
    for (unsigned pass = 0; pass < KEPT_PASSES; pass++)
        try_candidate(sm, port, passes[pass]);
    try_candidate(sm, port, lowest_free);
}

void lids_assign(struct sm *sm, bool after_another)
{
    assert(discovery_is_complete(sm) && sm->subnet.own_port != SUBNET_NONE);
    unsigned without = 0;
    char names[128] = "";
    candidate *const *choices = after_another ? passes_after_another : passes;
    unsigned kept = sm_state(sm) == SM_STANDBY ? 1 : KEPT_PASSES;
    if (after_another || sm_state(sm) == SM_STANDBY)
        sm->lids->assigned = true; /* a new master keeps the LIDs of the former one */
    else if (is_reassigning(sm))
        kept = 0;
    search_from_the_lowest(sm);
    sm->lids->tables_block = LFT_BLOCKS;
    functions_prepare(sm);
    if (after_another)
        release_unconfirmed_lids(sm);
    for (unsigned pass = 0; pass < kept; pass++) {
        try_candidate(sm, sm->subnet.own_port, choices[pass]);
        for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
            try_candidate(sm, port, choices[pass]);
    }
    bool any = false;
    for (uint32_t port = 0; port < sm->subnet.ports.count && !any; port++)
        any = needs_lid(sm, port);
    if (any && sm_state(sm) != SM_STANDBY) /* a standby assigns none */
        number_ports(sm);
    addresses_share(&sm->subnet);
    if (sm_state(sm) == SM_STANDBY)
        return;
    sm->lids->assigned = true;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (needs_lid(sm, port) && ++without <= 5) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, " 0x%016llx",
                     (unsigned long long)port_at(sm, port)->guid);
        }
    if (without)
        sm_log(sm, SM_EVENT_ERROR, "LIDs are exhausted: %u ports have none:%s%s", without, names,
               without > 5 ? " …" : "");
}
