/* Assignment of LIDs, which change as rarely as possible (paper 003, section 6.4.3).
 *
 * A port keeps the LID that this manager assigned before. Else it gets the LID stored by an earlier
 * run, or the one in its PortInfo (assigned by another manager), if no other port has it; after
 * another master, PortInfo takes precedence. The manager's own port comes first. All other ports
 * get the lowest free LID, in the order of discovery. With reassign_lids, all ports do when a
 * manager starts, unless it replaces another master. */
#include "sm/internal.h"
#include "vswitch/model/addresses.h"

#include <stdio.h>
#include <string.h>

struct lids {
    struct map remembered; /* port GUID → lid << 3 | lmc */
    uint16_t next;         /* where the search for a free LID continues */
    bool assigned;         /* this run has assigned LIDs */
};

static void init_lids(struct sm *sm)
{
    sm->lids->next = 1;
}

static void release_lids(struct sm *sm)
{
    map_release(&sm->lids->remembered);
}

SM_PART(lids, init_lids, release_lids, NULL);

void sm_restore_lid(struct sm *sm, const struct sm_lid_fact *fact)
{
    map_set(&sm->lids->remembered, fact->guid, (uint32_t)fact->lid << 3 | (fact->lmc & 7u));
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
static bool is_in_tables(const struct sm *sm, unsigned lid, unsigned span)
{
    for (uint32_t node = 0; node < sm->subnet.nodes.count && !plan_current(sm); node++) {
        const struct subnet_tables *tables = node_at(sm, node)->tables;
        bool found = false;
        if (!tables || !subnet_block_known(tables, lid / LFT_BLOCK))
            continue;
        for (unsigned i = 0; i < span; i++)
            found |= tables->actual[lid + i] != PORT_NONE;
        return found; /* all switches have the same LIDs */
    }
    return false;
}

/* The first assignment of a run with reassign_lids. */
static bool is_reassigning(const struct sm *sm)
{
    return sm->config.reassign_lids && !sm->lids->assigned;
}

static bool find_free(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid, bool avoid_tables)
{
    unsigned span = 1u << lmc;
    for (*lid = span > sm->lids->next ? span : (sm->lids->next + span - 1u) / span * span;
         *lid + span - 1 <= LID_UNICAST_LAST; *lid += span)
        if (subnet_lid_range_free(&sm->subnet, port, *lid, lmc) &&
            !(avoid_tables && is_in_tables(sm, *lid, span)))
            return true;
    return false;
}

static bool lowest_free(struct sm *sm, uint32_t port, unsigned lmc, unsigned *lid)
{
    bool avoid = !is_reassigning(sm);
    if (!(avoid && find_free(sm, port, lmc, lid, true)) && !find_free(sm, port, lmc, lid, false))
        return false;
    if (lmc == 0)
        sm->lids->next = (uint16_t)*lid;
    return true;
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
    bool known = p->known || subnet_socket_of(&sm->subnet, port) != SUBNET_NONE;
    return node->present && subnet_is_end_port(&sm->subnet, port) && known && !node->vswitch &&
           (p->lid == 0 || p->lmc != wanted_lmc(sm, p));
}

void lids_remember(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port == SUBNET_NONE ? NULL : port_at(sm, port);
    if (!p || !p->lid)
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

enum { PASSES = 3, LAST_PASS = PASSES - 1 };
static candidate *const passes[PASSES] = {remembered, reported, lowest_free};
static candidate *const passes_after_another[PASSES] = {reported, remembered, lowest_free};

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
    for (unsigned pass = 0; pass < PASSES; pass++)
        try_candidate(sm, port, passes[pass]);
}

void lids_assign(struct sm *sm, bool after_another)
{
    assert(discovery_is_complete(sm) && sm->subnet.own_port != SUBNET_NONE);
    unsigned without = 0;
    char names[128] = "";
    candidate *const *choices = after_another ? passes_after_another : passes;
    unsigned last = sm_state(sm) == SM_STANDBY ? 1 : PASSES; /* a standby assigns none */
    unsigned first = 0;
    if (after_another || sm_state(sm) == SM_STANDBY)
        sm->lids->assigned = true; /* a new master keeps the LIDs of the former one */
    else if (is_reassigning(sm))
        first = LAST_PASS;
    sm->lids->next = 1;
    functions_prepare(sm);
    if (after_another)
        release_unconfirmed_lids(sm);
    for (unsigned pass = first; pass < last; pass++) {
        try_candidate(sm, sm->subnet.own_port, choices[pass]);
        for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
            try_candidate(sm, port, choices[pass]);
    }
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
