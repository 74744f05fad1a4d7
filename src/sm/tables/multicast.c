/* Multicast: plans a tree for each group and updates the tables of switches.
 *
 * When new routes are in force, and for groups that changed, trees are computed
 * (routing/multicast/multicast.h) and checked (routing/check/verify_multicast.h). The result are
 * wanted blocks of 32 groups for 16 ports (subnet/blocks.h). A block with a group is wanted of all
 * switches, which removes entries of a previous master.
 *
 * An update takes one step or two (routing/update/tree_order.h), for all groups together. The
 * second one begins when the first is acknowledged and packets on the old trees have drained. Later
 * changes wait for the next round.
 *
 * Arms are stored by node of the subnet, because networks change from plan to plan. */
#include "routing/multicast/multicast.h"
#include "base/map.h"
#include "routing/check/verify_multicast.h"
#include "routing/update/tree_order.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/blocks.h"
#include "sm/tables/distribute.h"
#include "sm/tables/multicast.h"
#include "sm/tables/program.h"
#include "sm/tables/qos.h"
#include "sm/transactions.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MLIDS = 32, MLID_BLOCKS = (MLID_COUNT + BLOCK_MLIDS - 1) / BLOCK_MLIDS };

struct group_tree {
    uint64_t touched;              /* of the group when the tree was made; 0: no group */
    uint64_t number;               /* of the round in which it was made */
    struct tree_arms held, wanted; /* that switches may have; that are wanted now */
    struct tree_arms goal;         /* of the new tree */
    uint32_t depth;                /* of the tree of `held` */
    uint32_t goal_depth;
    uint32_t missed;       /* members without a path */
    uint64_t first_missed; /* port GUID of the first of them */
    bool moving;           /* the second step of an update is pending */
};

struct tree_base {
    unsigned vl;
    uint32_t switches; /* usable ones; identifies the set, since the sets are nested */
    bool refused;      /* its trees could deadlock with others: it has none */
    bool *usable;
    struct multicast_base *base;
};

struct edit { /* of an entry of a block */
    uint32_t node;
    uint16_t part, entry, mask;
};

struct multicast {
    uint64_t job, paths, groups; /* of which trees were last made */
    uint64_t round;
    struct map by_guid; /* port GUID → end point */
    VEC(struct tree_base) bases;
    struct multicast_check *check;
    VEC(struct group_tree) trees; /* by MLID - MLID_FIRST */
    uint64_t used[BITSET_WORDS(MLID_BLOCKS)];
    bool inherited;             /* see inherit_blocks() */
    bool moving, drains;        /* a tree is moving; one of them gains arms as well */
    struct table_writer writer; /* of the drain between the steps */
    VEC(struct edit) edits;
    const struct groups *owned_groups;    /* the owner's; NULL: there is no multicast */
    uint16_t top;                         /* see multicast_top() */
    VEC(struct multicast_member) members; /* of one group; scratch */
    VEC(uint64_t) guids;                  /* of `members` */
    uint64_t reported;                    /* hash of the last log line about missed members */
};

static void drop_bases(struct multicast *m)
{
    for (size_t i = 0; i < m->bases.count; i++) {
        multicast_base_free(m->bases.items[i].base);
        mem_free(m->bases.items[i].usable);
    }
    m->bases.count = 0;
    multicast_check_free(m->check);
    m->check = NULL;
}

static void release_multicast(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    drop_bases(m);
    vec_release(&m->bases);
    map_release(&m->by_guid);
    for (size_t i = 0; i < m->trees.count; i++) {
        vec_release(&m->trees.items[i].held.items);
        vec_release(&m->trees.items[i].wanted.items);
        vec_release(&m->trees.items[i].goal.items);
    }
    vec_release(&m->trees);
    vec_release(&m->edits);
    vec_release(&m->members);
    vec_release(&m->guids);
}

void sm_set_groups(struct sm *sm, const struct groups *groups)
{
    sm->multicast->owned_groups = sm->config.policy->services ? groups : NULL;
}

uint16_t multicast_top(const struct sm *sm)
{
    return sm->multicast->top;
}

/* Blocks that were wanted in an earlier mastership are not written again: new trees come first. */
void multicast_forget(struct sm *sm)
{
    struct blocks *blocks = &sm->subnet.blocks;
    for (uint32_t row = 0; row < blocks->rows.count; row++)
        if (blocks->rows.items[row].kind == BLOCK_MULTICAST)
            blocks_want_nothing(blocks, blocks->rows.items[row].port, BLOCK_MULTICAST,
                                blocks->rows.items[row].part);
    release_multicast(sm);
    *sm->multicast =
        (struct multicast){.owned_groups = sm->multicast->owned_groups, .top = sm->multicast->top};
}

/* ---- sets of arms ---- */

static void copy_arms(struct tree_arms *to, const struct tree_arms *from)
{
    to->items.count = 0;
    for (size_t i = 0; i < from->items.count; i++)
        vec_push(&to->items, from->items.items[i]);
}

/* ---- blocks ---- */

static void add_edit(struct multicast *m, uint32_t mlid_index, const struct multicast_arm *arm,
                     uint16_t mask)
{
    vec_push(&m->edits,
             ((struct edit){.node = arm->at,
                            .part = (uint16_t)(arm->position << 9 | mlid_index / BLOCK_MLIDS),
                            .entry = (uint16_t)(mlid_index % BLOCK_MLIDS),
                            .mask = mask}));
}

/* Queues the edits that turn the wanted arms of a group into these. */
static void want_arms(struct multicast *m, uint32_t mlid_index, const struct tree_arms *arms)
{
    struct group_tree *group_tree = &m->trees.items[mlid_index];
    size_t j = 0;
    for (size_t i = 0; i < group_tree->wanted.items.count; i++) { /* no longer wanted */
        const struct multicast_arm *arm = &group_tree->wanted.items.items[i];
        while (j < arms->items.count && tree_arm_precedes(&arms->items.items[j], arm))
            j++;
        if (j == arms->items.count || tree_arm_precedes(arm, &arms->items.items[j]))
            add_edit(m, mlid_index, arm, 0);
    }
    for (size_t i = 0; i < arms->items.count; i++)
        add_edit(m, mlid_index, &arms->items.items[i], arms->items.items[i].mask);
    copy_arms(&group_tree->wanted, arms);
}

static int compare_edits(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static void apply_edits(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    if (m->edits.count)
        qsort(m->edits.items, m->edits.count, sizeof *m->edits.items, compare_edits);
    for (size_t i = 0; i < m->edits.count;) {
        const struct edit *first = &m->edits.items[i];
        uint32_t port = node_at(sm, first->node)->first_port;
        uint8_t data[BLOCK_BYTES] = {0};
        const uint8_t *wanted =
            blocks_wanted(&sm->subnet.blocks, port, BLOCK_MULTICAST, first->part);
        if (wanted)
            memcpy(data, wanted, sizeof data);
        for (; i < m->edits.count && m->edits.items[i].node == first->node &&
               m->edits.items[i].part == first->part;
             i++)
            wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, m->edits.items[i].entry,
                        m->edits.items[i].mask);
        blocks_want(&sm->subnet.blocks, port, BLOCK_MULTICAST, first->part, data);
    }
    m->edits.count = 0;
}

static unsigned capacity_of(const struct sm *sm, uint32_t node)
{
    return (unsigned)wire_get(node_at(sm, node)->switch_info, SWITCH_INFO_MULTICAST_FDB_CAP);
}

/* Clears the block in switches that are not in any tree. */
static void clear_elsewhere(struct sm *sm, unsigned block)
{
    static const uint8_t nothing[BLOCK_BYTES];
    for (size_t i = 0; i < plan_current(sm)->nodes.count; i++) {
        uint32_t node = plan_current(sm)->nodes.items[i], port = node_at(sm, node)->first_port;
        unsigned last = node_at(sm, node)->port_count / MULTICAST_POSITION_PORTS;
        for (unsigned position = 0; position <= last; position++) {
            unsigned part = position << 9 | block;
            if (block * BLOCK_MLIDS < capacity_of(sm, node) &&
                !blocks_wanted(&sm->subnet.blocks, port, BLOCK_MULTICAST, part))
                blocks_want(&sm->subnet.blocks, port, BLOCK_MULTICAST, part, nothing);
        }
    }
}

/* Earlier masters may have written blocks up to the top MLID of a switch: those without a tree are
 * cleared. Once in each mastership. */
static void inherit_blocks(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    for (uint32_t i = 0; i < sm->subnet.nodes.count && !m->inherited; i++) {
        const struct subnet_node *node = node_at(sm, i);
        unsigned top = (unsigned)wire_get(node->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP);
        if (!node->present || node->kind != SUBNET_SWITCH || top < MLID_FIRST || top > MLID_LAST)
            continue;
        unsigned mlids = top - MLID_FIRST + 1;
        if (mlids > capacity_of(sm, i))
            mlids = capacity_of(sm, i);
        for (unsigned block = 0; block * BLOCK_MLIDS < mlids; block++)
            bitset_add(m->used, block);
    }
    m->inherited = true;
}

/* Raises the top MLID of switches before blocks above it are written. */
static void use_blocks(struct sm *sm, bool everywhere)
{
    struct multicast *m = sm->multicast;
    unsigned blocks = 0; /* number of the highest block with a group, plus 1 */
    for (unsigned block = 0; block < MLID_BLOCKS; block++) {
        bool used = false;
        for (uint32_t i = block * BLOCK_MLIDS;
             i < (block + 1) * BLOCK_MLIDS && i < m->trees.count && !used; i++)
            used = m->trees.items[i].goal.items.count > 0;
        bool before = bitset_has(m->used, block);
        if (used) {
            bitset_add(m->used, block);
            blocks = block + 1;
        }
        if ((used && !before) || (before && everywhere))
            clear_elsewhere(sm, block);
    }
    uint16_t top = (uint16_t)(MLID_FIRST + blocks * BLOCK_MLIDS - 1);
    if (!blocks || top <= m->top)
        return;
    m->top = top;
    for (size_t i = 0; i < plan_current(sm)->nodes.count; i++)
        program_switch(sm, plan_current(sm)->nodes.items[i]);
    program_schedule(sm);
}

/* ---- the network ---- */

static void index_ports(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    const struct network *network = &plan_current(sm)->network;
    map_release(&m->by_guid);
    for (uint32_t i = 0; i < network->terminals.count; i++)
        map_add(&m->by_guid, network->terminals.items[i].guid, i);
    for (uint32_t i = 0; i < network->switches.count; i++) {
        const struct subnet_node *node = node_at(sm, plan_current(sm)->nodes.items[i]);
        map_add(&m->by_guid, port_at(sm, node->first_port)->guid, i | NETWORK_SWITCH);
    }
}

static const struct tree_base *base_for(struct sm *sm, uint32_t mlid_index, unsigned vl)
{
    struct multicast *m = sm->multicast;
    const struct sm_job *job = plan_current(sm);
    uint32_t count = (uint32_t)job->network.switches.count, switches = 0;
    for (uint32_t i = 0; i < count; i++)
        switches += capacity_of(sm, job->nodes.items[i]) > mlid_index;
    for (size_t i = 0; i < m->bases.count; i++)
        if (m->bases.items[i].vl == vl && m->bases.items[i].switches == switches)
            return &m->bases.items[i];
    struct tree_base tree_base = {.vl = vl, .switches = switches, .usable = mem_alloc(count + 1)};
    for (uint32_t i = 0; i < count; i++)
        tree_base.usable[i] = capacity_of(sm, job->nodes.items[i]) > mlid_index;
    tree_base.base = multicast_base_new(&job->network, &job->routes, vl, tree_base.usable);
    vec_push(&m->bases, tree_base);
    return &m->bases.items[m->bases.count - 1];
}

/* The VL of the routes that a service level uses. */
static unsigned vl_of_sl(const struct sm *sm, unsigned sl)
{
    struct qos_layout layout;
    qos_served(sm, &layout);
    if (plan_current(sm)->routes.vls <= 1)
        return 0;
    unsigned vl = layout.levels && layout.stride ? sl / layout.stride : sl;
    return layout.vls ? vl % layout.vls : vl; /* as links map it (subnet/qos.h) */
}

/* ---- making trees ---- */

static void gather_members(struct sm *sm, const struct group *group)
{
    struct multicast *m = sm->multicast;
    m->members.count = m->guids.count = 0;
    for (size_t i = 0; group && i < group->members.count; i++) {
        const struct group_member *member = &group->members.items[i];
        uint32_t end_point = map_get(&m->by_guid, member->guid);
        uint64_t owner = sm->alias_guids ? alias_guids_port(sm->alias_guids, member->guid) : 0;
        if (end_point == MAP_NONE && owner)
            end_point = map_get(&m->by_guid, owner);
        if (end_point == MAP_NONE)
            continue; /* it is not present */
        vec_push(&m->members,
                 ((struct multicast_member){end_point, group_member_receives(member)}));
        vec_push(&m->guids, member->guid);
    }
}

static int compare_arms(const void *a, const void *b)
{
    const struct multicast_arm *x = a, *y = b;
    return (int)tree_arm_precedes(y, x) - (int)tree_arm_precedes(x, y);
}

/* Makes a new goal. A tree that does not pass the check changes nothing. */
static void make_tree(struct sm *sm, uint32_t mlid_index, const struct group *group,
                      struct multicast_tree *tree)
{
    struct multicast *m = sm->multicast;
    struct group_tree *group_tree = &m->trees.items[mlid_index];
    unsigned vl = group ? vl_of_sl(sm, group->sl) : 0;
    struct err err;
    gather_members(sm, group);
    group_tree->touched = group ? group->touched : 0;
    const struct tree_base *tree_base = m->members.count ? base_for(sm, mlid_index, vl) : NULL;
    if (!tree_base || tree_base->refused) {
        tree->arms.count = tree->missed.count = tree->depth = 0;
        for (uint32_t i = 0; i < m->members.count; i++)
            vec_push(&tree->missed, i);
    } else {
        multicast_tree_make(tree_base->base, MLID_FIRST + mlid_index, m->members.items,
                            m->members.count, tree);
        if (multicast_check_tree(m->check, vl, tree_base->usable, m->members.items,
                                 m->members.count, tree, &err)) {
            sm_log(sm, SM_EVENT_ERROR, "the tree of group 0x%04x is refused: %s",
                   MLID_FIRST + mlid_index, err.message);
            return;
        }
    }
    group_tree->goal.items.count = 0;
    for (size_t i = 0; i < tree->arms.count; i++) {
        struct multicast_arm arm = tree->arms.items[i];
        arm.at = plan_current(sm)->nodes.items[arm.at];
        vec_push(&group_tree->goal.items, arm);
    }
    if (group_tree->goal.items.count)
        qsort(group_tree->goal.items.items, group_tree->goal.items.count,
              sizeof *group_tree->goal.items.items, compare_arms);
    group_tree->goal_depth = tree->depth;
    group_tree->missed = (uint32_t)tree->missed.count;
    group_tree->first_missed = group_tree->missed ? m->guids.items[tree->missed.items[0]] : 0;
    group_tree->number = m->round;
}

static void write_goal(struct multicast *m, uint32_t mlid_index)
{
    struct group_tree *group_tree = &m->trees.items[mlid_index];
    want_arms(m, mlid_index, &group_tree->goal);
    copy_arms(&group_tree->held, &group_tree->goal);
    group_tree->depth = group_tree->goal_depth;
    group_tree->moving = false;
}

/* The first step towards the goal, which may be the only one. */
static void begin_update(struct sm *sm, uint32_t mlid_index)
{
    struct multicast *m = sm->multicast;
    assert(mlid_index < m->trees.count && !m->trees.items[mlid_index].moving);
    struct group_tree *group_tree = &m->trees.items[mlid_index];
    struct tree_arms common = {0};
    enum tree_order order = tree_order_plan(&group_tree->held, &group_tree->goal, &common);
    if (order == TREE_AT_ONCE) {
        write_goal(m, mlid_index);
    } else {
        want_arms(m, mlid_index, &common);
        group_tree->moving = m->moving = true;
        m->drains |= order == TREE_AFTER_DRAIN;
    }
    vec_release(&common.items);
}

/* ---- the second step ---- */

/* Takes the second step when the fabric has drained; false: not yet. */
static bool updates_are_done(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    if (!m->moving)
        return true;
    if (!blocks_are_written(sm))
        return false;
    unsigned depth = 0; /* of the old trees */
    for (size_t i = 0; i < m->trees.count; i++)
        if (m->trees.items[i].moving && m->trees.items[i].depth > depth)
            depth = m->trees.items[i].depth;
    if (m->drains && !distribute_drain_is_over(sm, &m->writer, 2 * depth + 1))
        return false;
    for (uint32_t i = 0; i < m->trees.count; i++)
        if (m->trees.items[i].moving)
            write_goal(m, i);
    m->moving = m->drains = false;
    m->writer = (struct table_writer){0};
    apply_edits(sm);
    return true;
}

/* New routes are in force during an update: new goals start from the arms that switches may have.
 */
static void break_off(struct multicast *m)
{
    struct tree_arms common = {0};
    for (size_t i = 0; i < m->trees.count; i++) {
        struct group_tree *group_tree = &m->trees.items[i];
        if (group_tree->moving && m->writer.drained) { /* the first step is acknowledged */
            tree_order_plan(&group_tree->held, &group_tree->goal, &common);
            copy_arms(&group_tree->held, &common);
        }
        group_tree->moving = false;
    }
    vec_release(&common.items);
    m->moving = m->drains = false;
    m->writer = (struct table_writer){0};
}

static uint64_t multicast_deadline(const struct sm *sm)
{
    uint64_t drained_at = sm->multicast->writer.resume_at;
    return drained_at ? drained_at : TIME_NEVER;
}

bool multicast_is_settled(const struct sm *sm)
{
    return !sm->multicast->moving;
}

/* ---- planning ---- */

static void report_unreached(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    uint64_t missed = 0, groups = 0, first = 0, hash;
    for (size_t i = 0; i < m->trees.count; i++) {
        missed += m->trees.items[i].missed;
        groups += m->trees.items[i].missed != 0;
        if (!first)
            first = m->trees.items[i].first_missed;
    }
    hash = missed ? hash_mix(hash_mix(missed) + first) + groups : 0;
    if (hash == m->reported)
        return;
    m->reported = hash;
    if (missed)
        sm_log(
            sm, SM_EVENT_WARNING,
            "multicast does not reach %llu members of %llu groups: a switch on the path does not "
            "support it, or it could deadlock with unicast; the first is port 0x%016llx",
            (unsigned long long)missed, (unsigned long long)groups, (unsigned long long)first);
    else
        sm_log(sm, SM_EVENT_CHANGE, "multicast reaches all members again");
}

/* Trees on one VL with different sets of switches can form a dependency cycle if unicast follows no
 * order. Gives up the trees with the fewest switches; false: there is only one set for each VL. */
static bool refuse_base(struct multicast *m)
{
    struct tree_base *least = NULL;
    for (size_t i = 0; i < m->bases.count; i++)
        for (size_t j = 0; j < m->bases.count; j++) {
            struct tree_base *one = &m->bases.items[i], *other = &m->bases.items[j];
            if (i != j && one->vl == other->vl && !one->refused && !other->refused &&
                (!least || one->switches < least->switches))
                least = one;
        }
    if (least)
        least->refused = true;
    return least != NULL;
}

/* Restores the goals before this round; the next change makes all trees again. */
static void undo_round(struct multicast *m)
{
    for (uint32_t i = 0; i < m->trees.count; i++) {
        struct group_tree *group_tree = &m->trees.items[i];
        group_tree->touched = 0;
        if (group_tree->number != m->round)
            continue;
        copy_arms(&group_tree->goal, &group_tree->held);
        group_tree->goal_depth = group_tree->depth;
        group_tree->number = 0;
    }
}

static void make_trees(struct sm *sm, bool all)
{
    struct multicast *m = sm->multicast;
    struct multicast_tree tree = {0};
    for (uint32_t i = 0; i < m->trees.count; i++) {
        const struct group *group = groups_at(m->owned_groups, MLID_FIRST + i);
        if (all || m->trees.items[i].touched != (group ? group->touched : 0))
            make_tree(sm, i, group, &tree);
    }
    multicast_tree_release(&tree);
}

/* Makes trees of all groups, or of those that changed. */
static void update_trees(struct sm *sm, bool all)
{
    struct multicast *m = sm->multicast;
    assert(!m->moving && !m->edits.count && m->check);
    struct err err;
    m->round++;
    for (size_t i = 0; i < m->owned_groups->all.count; i++)
        while (m->trees.count <= (size_t)(m->owned_groups->all.items[i]->mlid - MLID_FIRST))
            vec_push(&m->trees, (struct group_tree){0});
    make_trees(sm, all);
    while (multicast_check_vls(m->check, &err)) {
        multicast_check_free(m->check);
        m->check = multicast_check_new(&plan_current(sm)->network, &plan_current(sm)->routes);
        if (!refuse_base(m)) {
            sm_log(sm, SM_EVENT_ERROR, "new trees are refused: %s", err.message);
            undo_round(m);
            return;
        }
        make_trees(sm, true);
    }
    use_blocks(sm, all);
    for (uint32_t i = 0; i < m->trees.count; i++)
        if (m->trees.items[i].number == m->round)
            begin_update(sm, i);
    apply_edits(sm);
    report_unreached(sm);
}

/* Whether to reserve the last VL of the routes for groups: routes on several VLs follow no order
 * that trees could follow (decision 012). */
bool multicast_wants_vl(const struct sm *sm, unsigned vls)
{
    return sm->multicast->owned_groups && vls > 2 && vls == qos_vls(sm);
}

void multicast_plan(struct sm *sm)
{
    struct multicast *m = sm->multicast;
    assert(sm_state(sm) == SM_MASTER && !reconfigure_is_distributing(sm));
    if (!m->owned_groups || !plan_current(sm) || plan_current(sm) != plan_serving(sm) ||
        transactions_under_way(sm, GROUP_TABLES) || reconfigure_is_outdated(sm))
        return; /* the current routes are not in force, or do not fit the subnet */
    bool other_routes = m->job != plan_current(sm)->number;
    bool all = other_routes || m->paths != plan_paths_generation(sm);
    if (other_routes)
        break_off(m);
    else if (!updates_are_done(sm))
        return;
    if (!all && m->groups == m->owned_groups->generation)
        return;
    /* Entries that virtual machines changed follow the ranks. Without ranks, trees must be checked
     * against the new entries. */
    if (other_routes || (all && !plan_current(sm)->routes.ranks)) {
        drop_bases(m);
        m->check = multicast_check_new(&plan_current(sm)->network, &plan_current(sm)->routes);
    }
    if (all)
        index_ports(sm);
    m->job = plan_current(sm)->number;
    m->paths = plan_paths_generation(sm);
    m->groups = m->owned_groups->generation;
    inherit_blocks(sm);
    update_trees(sm, all);
}

SM_PART(multicast, .release = release_multicast, .deadline = multicast_deadline, .as_master = true);
