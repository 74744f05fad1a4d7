/* Failures by name, and the nodes that they cut off: a breadth-first search over all cables. */
#include "experiment/whatif/whatif.h"

#include "console/names.h"
#include "topology/analysis/subnets.h"
#include "wire/mad.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct whatif_failure whatif_fail(const struct topology *topology, uint32_t node, uint32_t port)
{
    bool is_switch = topology->nodes.items[node].kind == NODE_SWITCH,
         is_link = port != TOPOLOGY_NONE;
    struct action action = {.node = is_link ? TOPOLOGY_NONE : node, .port = port};
    action.kind = is_link ? ACTION_FAIL_LINK : is_switch ? ACTION_FAIL_SWITCH : ACTION_FAIL_NODE;
    return (struct whatif_failure){node, port, action};
}

bool whatif_kills(const struct whatif_failure *failure)
{
    return action_has(&failure->action, ACTION_BREAKS) &&
           action_row(&failure->action)->lasting.sets;
}

/* ---- words ---- */

/* The action "fail KIND"; ACTION_KINDS: there is none. */
static enum action_kind find_kind(const char *word)
{
    const char *second = strcmp(word, "host") == 0 ? "node" : word;
    enum action_kind kind = 0;
    for (; kind < ACTION_KINDS; kind++)
        if (strcmp(action_rows[kind].words.first, "fail") == 0 &&
            strcmp(action_rows[kind].words.second, second) == 0)
            break;
    return kind;
}

static int add(struct whatif_failures *failures, const struct topology *topology,
               enum action_kind kind, const char *node, const char *port, struct err *err)
{
    struct cursor cursor = {.file = "", .err = err};
    struct action action = {.kind = kind,
                            .node = TOPOLOGY_NONE,
                            .port = TOPOLOGY_NONE,
                            .node_word = {.text = node},
                            .port_word = {.text = port}};
    int status = action_bind(&action, topology, &cursor);
    if (status == 0)
        vec_push(failures, whatif_fail(topology, action_node(&action, topology), action.port));
    return status;
}

/* All links between two nodes. */
static int add_links(struct whatif_failures *failures, const struct topology *topology,
                     const char *name, const char *other_name, struct err *err)
{
    uint32_t node, other;
    int status = names_find_node(topology, name, &node, err);
    if (status == 0)
        status = names_find_node(topology, other_name, &other, err);
    if (status)
        return status;
    const struct topology_node *n = &topology->nodes.items[node];
    size_t before = failures->count;
    for (unsigned i = 1; i <= n->port_count; i++) {
        uint32_t port = n->first_port + i, peer = topology->ports.items[port].peer;
        if (peer != TOPOLOGY_NONE && topology->ports.items[peer].node == other)
            vec_push(failures, whatif_fail(topology, node, port));
    }
    return failures->count > before
               ? 0
               : err_set(err, EINVAL, "there is no link between '%.80s' and '%.80s'",
                         node_label(topology, node), node_label(topology, other));
}

/* The words behind "link"; returns the number of words taken, or an error. */
static int take_link(struct whatif_failures *failures, const struct topology *topology,
                     enum action_kind kind, const char *const *words, size_t count, struct err *err)
{
    struct cursor cursor = {.file = "", .err = err};
    const struct word word = {.text = words[0]};
    struct named_place place;
    if (bind_place(&word, topology, &cursor, 1, &place))
        return cursor.status;
    if (place.count) {
        const char *colon = strrchr(words[0], ':');
        char name[TOPOLOGY_NAME_BYTES + 1];
        snprintf(name, sizeof name, "%.*s", (int)(colon - words[0]), words[0]);
        int status = add(failures, topology, kind, name, colon + 1, err);
        return status ? status : 1;
    }
    if (count < 2 || find_kind(words[1]) != ACTION_KINDS)
        return err_set(err, EINVAL, "link '%.80s': expected a port, or the node at the other end",
                       words[0]);
    /* "0x20" is a GUID. */
    int status = words[1][strspn(words[1], "0123456789")] == 0
                     ? add(failures, topology, kind, words[0], words[1], err)
                     : add_links(failures, topology, words[0], words[1], err);
    return status ? status : 2;
}

/* A fault as a statement: one text, or as many words as make one. Returns the number of words. */
static int take_fault(struct whatif_failures *failures, const struct topology *topology,
                      const char *const *words, size_t count, struct err *err)
{
    struct action action;
    struct err of_fewer;
    unsigned taken = strchr(words[0], ' ')  ? 1
                     : count < ACTION_WORDS ? (unsigned)count
                                            : ACTION_WORDS;
    int status = taken == 1 ? action_read_line(&action, words[0], topology, err)
                            : action_read_words(&action, words, taken, topology, err);
    while (status && --taken)
        status = action_read_words(&action, words, taken, topology, &of_fewer);
    if (status)
        return -EINVAL;
    const struct action_row *row = action_row(&action);
    bool ends_one = row->lasting.sets && row->lasting.ends;
    if (!row->effect || ends_one)
        return err_set(err, EINVAL, "'%s' %s: expected a fault, such as 'mute NODE'",
                       row->words.all, ends_one ? "harms nothing" : "does not act on the fabric");
    struct whatif_failure failure = {action_node(&action, topology), action.port, action};
    vec_push(failures, failure);
    return (int)taken;
}

static bool begins_action(const char *word)
{
    size_t length = strcspn(word, " "), count;
    const char *names[ACTION_VERBS];
    for (count = action_verbs(names); count > 0; count--)
        if (strlen(names[count - 1]) == length && strncmp(names[count - 1], word, length) == 0)
            return true;
    return false;
}

int whatif_read_failures(struct whatif_failures *failures, const struct topology *topology,
                         const char *const *words, size_t count, struct err *err)
{
    enum action_kind kind = ACTION_KINDS;
    const char *what = NULL;
    bool complete = false;
    for (size_t i = 0; i < count;) {
        if ((complete || !what) && begins_action(words[i])) {
            int taken = take_fault(failures, topology, words + i, count - i, err);
            if (taken < 0)
                return taken;
            i += (size_t)taken;
            complete = true;
            continue;
        }
        if ((complete || !what) && find_kind(words[i]) != ACTION_KINDS) {
            what = words[i++];
            kind = find_kind(what);
            complete = false;
            continue;
        }
        if (!what)
            return err_set(err, EINVAL,
                           "'%.80s': expected switch, host or link and its name, or a fault of "
                           "weft-scenario(5)",
                           words[i]);
        bool link = action_rows[kind].arguments[0] == ARGUMENT_PORT;
        int taken = link ? take_link(failures, topology, kind, words + i, count - i, err)
                         : add(failures, topology, kind, words[i], NULL, err);
        if (taken < 0)
            return taken;
        const struct whatif_failure *last = &failures->items[failures->count - 1];
        if (strcmp(what, "host") == 0 && topology->nodes.items[last->node].kind == NODE_SWITCH)
            return err_set(err, EINVAL, "'%.80s' is a switch", words[i]);
        i += link ? (size_t)taken : 1;
        complete = true;
    }
    return complete ? 0 : err_set(err, EINVAL, "expected the name of what fails");
}

/* ---- names ---- */

void whatif_write_failure(const struct topology *topology, const struct whatif_failure *failure,
                          struct text *out)
{
    action_print(&failure->action, topology, out);
}

void whatif_put_failure(const struct topology *topology, const struct whatif_failure *failure,
                        struct text *out)
{
    if (!whatif_kills(failure)) {
        action_print(&failure->action, topology, out);
        return;
    }
    const char *name = node_label(topology, failure->node);
    if (failure->port == TOPOLOGY_NONE) {
        bool is_switch = topology->nodes.items[failure->node].kind == NODE_SWITCH;
        bool is_router = topology->nodes.items[failure->node].kind == NODE_ROUTER;
        text_printf(out, "%s %s", is_switch ? "switch" : is_router ? "router" : "host", name);
        return;
    }
    uint32_t peer = topology->ports.items[failure->port].peer;
    text_printf(out, "link %s port %u <-> %s port %u", name,
                topology_port_number(topology, failure->port),
                node_label(topology, topology->ports.items[peer].node),
                topology_port_number(topology, peer));
}

/* ---- parts ---- */

struct cut_parts {
    const struct topology *topology;
    bool *dead_node, *dead_port;
    uint32_t *part;             /* by node; TOPOLOGY_NONE: failed */
    uint32_t *adapters, *nodes; /* by part */
    uint32_t *queue;
    uint32_t count;
};

/* Finds the part of a node. Routers join subnets. Adapters do not forward between their ports; the
 * search starts at one only if it has no cable to a switch. */
static void find_part(struct cut_parts *parts, uint32_t first)
{
    const struct topology *topology = parts->topology;
    uint32_t head = 0, tail = 0, part = parts->count++;
    parts->part[first] = part;
    for (parts->queue[tail++] = first; head < tail; head++) {
        const struct topology_node *node = &topology->nodes.items[parts->queue[head]];
        bool forwards = node->kind != NODE_ADAPTER || head == 0;
        parts->nodes[part]++;
        parts->adapters[part] += node->kind == NODE_ADAPTER;
        for (unsigned p = 1; forwards && p <= node->port_count; p++) {
            uint32_t port = node->first_port + p, peer = topology->ports.items[port].peer;
            if (peer == TOPOLOGY_NONE || parts->dead_port[port])
                continue;
            uint32_t next = topology->ports.items[peer].node;
            if (parts->dead_node[next] || parts->part[next] != TOPOLOGY_NONE)
                continue;
            parts->part[next] = part;
            parts->queue[tail++] = next;
        }
    }
}

static void find_parts(struct cut_parts *parts, const struct topology *topology,
                       const struct whatif_failure *failures, size_t count)
{
    size_t nodes = topology->nodes.count;
    *parts = (struct cut_parts){.topology = topology};
    parts->dead_node = mem_zalloc(nodes + 1, sizeof *parts->dead_node);
    parts->dead_port = mem_zalloc(topology->ports.count + 1, sizeof *parts->dead_port);
    parts->part = mem_alloc((nodes + 1) * sizeof *parts->part);
    parts->queue = mem_alloc((nodes + 1) * sizeof *parts->queue);
    parts->adapters = mem_zalloc(nodes + 1, sizeof *parts->adapters);
    parts->nodes = mem_zalloc(nodes + 1, sizeof *parts->nodes);
    for (size_t i = 0; i < count; i++) {
        uint32_t port = failures[i].port;
        if (!whatif_kills(&failures[i]))
            continue;
        if (port == TOPOLOGY_NONE)
            parts->dead_node[failures[i].node] = true;
        else
            parts->dead_port[port] = parts->dead_port[topology->ports.items[port].peer] = true;
    }
    for (size_t i = 0; i < nodes; i++)
        parts->part[i] = TOPOLOGY_NONE;
    for (int pass = 0; pass < 2; pass++) /* switches first */
        for (uint32_t i = 0; i < nodes; i++)
            if (!parts->dead_node[i] && parts->part[i] == TOPOLOGY_NONE &&
                (pass || topology->nodes.items[i].kind == NODE_SWITCH))
                find_part(parts, i);
}

static void release_parts(struct cut_parts *parts)
{
    mem_free(parts->dead_node);
    mem_free(parts->dead_port);
    mem_free(parts->part);
    mem_free(parts->adapters);
    mem_free(parts->nodes);
    mem_free(parts->queue);
}

static uint32_t largest_part(const struct cut_parts *parts)
{
    uint32_t best = TOPOLOGY_NONE;
    for (uint32_t i = 0; i < parts->count; i++)
        if (best == TOPOLOGY_NONE || parts->adapters[i] > parts->adapters[best])
            best = i;
    return best;
}

bool whatif_has_routers(const struct topology *topology)
{
    for (size_t i = 0; i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind == NODE_ROUTER)
            return true;
    return false;
}

/* The subnet of a node's first port with a cable, by the cables before the failures. */
static uint32_t subnet_at(const struct topology *topology, const uint32_t *subnet_of, uint32_t node)
{
    uint32_t first = topology->nodes.items[node].first_port;
    for (unsigned p = 1; p <= topology->nodes.items[node].port_count; p++)
        if (subnet_of[first + p] != TOPOLOGY_NONE)
            return subnet_of[first + p];
    return TOPOLOGY_NONE;
}

void whatif_choose_managers(const struct topology *topology, const struct whatif_failure *failures,
                            size_t count, struct whatif_managers *managers)
{
    struct cut_parts parts;
    struct graph graph;
    uint32_t *subnet_of = mem_alloc((topology->ports.count + 1) * sizeof *subnet_of);
    managers->count = 0;
    graph_init(&graph, topology);
    bool *served = mem_zalloc(topology_subnets(topology, &graph, subnet_of) + 1u, sizeof *served);
    find_parts(&parts, topology, failures, count);
    uint32_t best = largest_part(&parts);
    bool routed = whatif_has_routers(topology);
    for (size_t i = 0; i < count; i++) /* a faulty adapter is as bad a place as a dead one */
        if (failures[i].node != TOPOLOGY_NONE)
            parts.dead_node[failures[i].node] = true;
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        uint32_t subnet = subnet_at(topology, subnet_of, i);
        if (topology->nodes.items[i].kind != NODE_ADAPTER || parts.dead_node[i] ||
            best == TOPOLOGY_NONE ||
            (routed ? subnet == TOPOLOGY_NONE || served[subnet]
                    : parts.part[i] != best || managers->count))
            continue;
        if (routed)
            served[subnet] = true;
        vec_push(managers, i);
    }
    release_parts(&parts);
    graph_release(&graph);
    mem_free(served);
    mem_free(subnet_of);
}

void whatif_put_prefix(const struct topology *topology, uint32_t node, struct text *out)
{
    struct graph graph;
    if (!whatif_has_routers(topology))
        return;
    uint32_t *subnet_of = mem_alloc((topology->ports.count + 1) * sizeof *subnet_of);
    graph_init(&graph, topology);
    topology_subnets(topology, &graph, subnet_of);
    uint32_t subnet = subnet_at(topology, subnet_of, node);
    if (subnet != TOPOLOGY_NONE)
        text_printf(out, " subnet_prefix 0x%016" PRIx64, GID_PREFIX_SITE + subnet + 1);
    graph_release(&graph);
    mem_free(subnet_of);
}

/* The part that counts: of the first manager that can still reach others; else the largest. */
static uint32_t main_part(const struct cut_parts *parts, const struct whatif_question *question,
                          bool *lost)
{
    *lost = false;
    for (size_t i = 0; i < question->manager_count; i++) {
        uint32_t part = parts->part[question->managers[i]];
        if (part != TOPOLOGY_NONE && parts->nodes[part] > 1)
            return part;
    }
    *lost = true;
    return largest_part(parts);
}

void whatif_find_cut(const struct whatif_question *question, struct whatif_cut *cut)
{
    const struct topology *topology = question->topology;
    struct cut_parts before, after;
    bool lost;
    *cut = (struct whatif_cut){0};
    find_parts(&before, topology, NULL, 0);
    find_parts(&after, topology, question->failures, question->failure_count);
    uint32_t old = main_part(&before, question, &lost);
    uint32_t new = main_part(&after, question, &cut->manager_lost);
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        bool is_switch = topology->nodes.items[i].kind == NODE_SWITCH;
        if (before.part[i] != old) {
            *(is_switch ? &cut->switches_before : &cut->adapters_before) += 1;
        } else if (after.part[i] != new && !after.dead_node[i]) {
            if (is_switch)
                vec_push(&cut->switches, i);
            else
                vec_push(&cut->adapters, i);
        }
    }
    for (uint32_t i = 0; i < after.count; i++)
        cut->parts += after.adapters[i] > 0;
    release_parts(&before);
    release_parts(&after);
}

void whatif_cut_release(struct whatif_cut *cut)
{
    vec_release(&cut->adapters);
    vec_release(&cut->switches);
}
