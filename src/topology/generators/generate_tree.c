/* Fat trees.
 *
 * XGFT(h; m1 … mh; w1 … wh), the extended generalised fat tree of Öhring, Ibel, Das and Kumar:
 * hosts are level 0, and there are h levels of switches. A node of level i is a row of digits
 * x1 … xh, where digit j runs below wj for j ≤ i and below mj above. Nodes of neighbouring levels
 * i and i+1 are linked if they agree in all digits but number i+1; that digit of the child selects
 * one of the m(i+1) down ports of the parent, that of the parent one of the w(i+1) up ports of the
 * child. Down ports come first, then the up ports.
 *
 * A k-ary n-tree (Petrini and Vanneschi) is XGFT(n; k … k; 1 k … k). The shorthands are trees of
 * 36-port switches: 324 and 648 hosts on two levels, 5832 and 11664 on three. */
#include "topology/generators/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct tree_plan {
    unsigned height;
    uint64_t m[PLAN_LIST_ITEMS + 1], w[PLAN_LIST_ITEMS + 1]; /* from 1 */
    uint64_t ports;                                          /* 0: as many as needed */
    uint64_t parallel;
};

static uint64_t digit_range(const struct tree_plan *tree, unsigned level, unsigned digit)
{
    return digit <= level ? tree->w[digit] : tree->m[digit];
}

static uint64_t count_level(const struct tree_plan *tree, unsigned level)
{
    uint64_t count = 1;
    for (unsigned digit = 1; digit <= tree->height; digit++)
        count = plan_times(count, digit_range(tree, level, digit));
    return count;
}

/* Cables for each link below `level`; a host has one. */
static uint64_t cables(const struct tree_plan *tree, unsigned level)
{
    return level == 1 ? 1 : tree->parallel;
}

static uint64_t ports_needed(const struct tree_plan *tree, unsigned level)
{
    uint64_t down = plan_times(tree->m[level], cables(tree, level));
    uint64_t up = 0;
    if (level < tree->height)
        up = plan_times(tree->w[level + 1], cables(tree, level + 1));
    return down > TOPOLOGY_MAX_PORTS || up > TOPOLOGY_MAX_PORTS ? TOPOLOGY_MAX_PORTS : down + up;
}

static int check_tree(const struct fabric_plan *plan, const struct tree_plan *tree)
{
    uint64_t switches = 0, most_ports = 1;
    for (unsigned level = 1; level <= tree->height; level++) {
        uint64_t count = count_level(tree, level), ports = ports_needed(tree, level);
        switches = count > TOPOLOGY_MAX_NODES ? TOPOLOGY_MAX_NODES + 1 : switches + count;
        most_ports = ports > most_ports ? ports : most_ports;
    }
    if (tree->ports && tree->ports < most_ports)
        return err_set(plan->err, EINVAL, "the tree needs switches of %llu ports, not %llu",
                       (unsigned long long)most_ports, (unsigned long long)tree->ports);
    if (tree->w[1] > TOPOLOGY_PORTS_PER_NODE)
        return err_set(plan->err, EINVAL, "hosts would need %llu ports; they have 1 to %d",
                       (unsigned long long)tree->w[1], TOPOLOGY_PORTS_PER_NODE);
    return plan_check_size(plan, switches, count_level(tree, 0),
                           tree->ports ? tree->ports : most_ports);
}

/* Names: leaves L, spines S in two levels; M and C (core) in three levels, with the number of the
 * pod, or of the pod switch to which a core switch belongs. */
static void add_switch(struct fabric_plan *plan, const struct tree_plan *tree, unsigned level,
                       unsigned number)
{
    assert(level >= 1 && level <= tree->height);
    unsigned inner = (unsigned)(level > 1 ? tree->w[2] : tree->m[2]);
    unsigned ports = (unsigned)(tree->ports ? tree->ports : ports_needed(tree, level));
    if (tree->height <= 2)
        plan_add_switch(plan, ports, "%c%u", level == 1 ? 'L' : 'S', number);
    else if (tree->height == 3 && tree->w[1] == 1)
        plan_add_switch(plan, ports, "%c%u_%u", "?LMC"[level],
                        level < 3 ? number / inner : number % inner,
                        level < 3 ? number % inner : number / inner);
    else
        plan_add_switch(plan, ports, "T%u_%u", level, number);
}

/* All links between `level` and the one below it. Digit 1 of a number counts fastest, so that
 * neighbours in number share a parent. */
static void link_level(struct fabric_plan *plan, const struct tree_plan *tree, unsigned level,
                       const uint32_t *first)
{
    assert(level >= 1 && level <= tree->height);
    uint64_t children = count_level(tree, level - 1);
    uint64_t own_down = level > 1 ? tree->m[level - 1] * cables(tree, level - 1) : 0;
    uint64_t digits[PLAN_LIST_ITEMS + 1];
    for (uint64_t child = 0; child < children; child++) {
        uint64_t rest = child;
        for (unsigned digit = 1; digit <= tree->height; digit++) {
            uint64_t range = digit_range(tree, level - 1, digit);
            digits[digit] = rest % range;
            rest /= range;
        }
        uint64_t child_digit = digits[level];
        for (uint64_t up = 0; up < tree->w[level]; up++) {
            uint64_t parent = 0;
            digits[level] = up;
            for (unsigned digit = tree->height; digit >= 1; digit--)
                parent = parent * digit_range(tree, level, digit) + digits[digit];
            for (uint64_t copy = 0; copy < cables(tree, level); copy++)
                plan_link(plan, first[level - 1] + (uint32_t)child,
                          (unsigned)(own_down + copy * tree->w[level] + up) + 1,
                          first[level] + (uint32_t)parent,
                          (unsigned)(child_digit * cables(tree, level) + copy) + 1);
        }
    }
}

static int draw_tree(struct fabric_plan *plan, const struct tree_plan *tree)
{
    uint32_t first[PLAN_LIST_ITEMS + 1];
    int error = check_tree(plan, tree);
    if (error)
        return error;
    for (unsigned level = 0; level <= tree->height; level++) {
        uint64_t count = count_level(tree, level);
        first[level] = (uint32_t)plan->nodes.count;
        for (uint64_t i = 0; i < count; i++)
            if (level)
                add_switch(plan, tree, level, (unsigned)i);
            else
                plan_add_host(plan, (unsigned)tree->w[1], "H%llu", (unsigned long long)i);
    }
    for (unsigned level = 1; level <= tree->height; level++)
        link_level(plan, tree, level, first);
    return 0;
}

static bool tree_of_size(uint64_t hosts, struct tree_plan *tree)
{
    static const struct {
        unsigned hosts, height, top;
    } sizes[] = {{324, 2, 18}, {648, 2, 36}, {5832, 3, 18}, {11664, 3, 36}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].hosts != hosts)
            continue;
        tree->height = sizes[i].height;
        tree->ports = 36;
        for (unsigned level = 1; level <= tree->height; level++) {
            tree->m[level] = level < tree->height ? 18 : sizes[i].top;
            tree->w[level] = level == 1 ? 1 : 18;
        }
        return true;
    }
    return false;
}

int generate_fattree(struct fabric_plan *plan)
{
    const struct plan_argument *size = &plan->arguments[0], *m = &plan->arguments[1];
    const struct plan_argument *w = &plan->arguments[2], *ports = &plan->arguments[3];
    struct tree_plan tree = {.parallel = plan_number(plan, 4)};
    if (size->given ? m->given || w->given : !m->given || !w->given || m->count != w->count)
        return err_set(plan->err, EINVAL,
                       "fattree takes either a size or m= and w= of the same length, such as "
                       "m=18,36 w=1,18");
    if (size->given && !tree_of_size(size->values[0], &tree))
        return err_set(plan->err, EINVAL, "fattree %llu: expected 324, 648, 5832 or 11664",
                       (unsigned long long)size->values[0]);
    if (!size->given) {
        tree.height = m->count;
        memcpy(tree.m + 1, m->values, m->count * sizeof *m->values);
        memcpy(tree.w + 1, w->values, w->count * sizeof *w->values);
    }
    if (ports->given)
        tree.ports = ports->values[0];
    return draw_tree(plan, &tree);
}

int generate_kary(struct fabric_plan *plan)
{
    struct tree_plan tree = {.height = (unsigned)plan_number(plan, 1), .parallel = 1};
    for (unsigned level = 1; level <= tree.height; level++) {
        tree.m[level] = plan_number(plan, 0);
        tree.w[level] = level == 1 ? 1 : plan_number(plan, 0);
    }
    return draw_tree(plan, &tree);
}
