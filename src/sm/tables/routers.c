/* Routers: learns which subnets they lead to, and writes their next-hop tables.
 *
 * When the subnet is settled, and every second from then on, each router's port in this subnet is
 * read: the adjacent subnets, and the next-hop tables that the managers of the other subnets wrote.
 * From these, and from the configured rules, the next-hop table of this port is made
 * (subnet/prefix_routes.h) and written where it differs. A router without these attributes serves
 * configured rules only. Subnets without routers cause no requests.
 *
 * A router that changes is read again at once, but so often only: one whose tables change with
 * every reading costs no more than the regular turns, and is a problem. */
#include "sm/tables/routers.h"

#include "base/rate_limit.h"
#include "sm/internal.h"
#include "sm/transactions.h"
#include "subnet/names.h"

enum { HOPS_PER_BLOCK = 4, SUBNETS_PER_BLOCK = 8, MODIFIER_PORT = 24, FOUND_MOST = 512 };
static const uint64_t interval = NS_PER_S;
/* Turns out of order, and changes of a router that are not a problem yet, in a time. */
enum { EXTRA_TURNS = 16, STEADY_CHANGES = 8 };
static const uint64_t extra_time = 2 * NS_PER_S, steady_time = 10 * NS_PER_S;

struct router_state {
    uint32_t port;        /* of the router, in this subnet */
    bool busy;            /* a request is outstanding */
    unsigned at;          /* the port whose table is read */
    uint32_t block, left; /* the block that is read or written; entries that remain */
    VEC(struct prefix_route) found;
    struct prefix_route wanted[ROUTER_NEXT_HOPS], written[ROUTER_NEXT_HOPS];
    unsigned wanted_count, written_count;
    bool known; /* `written` is what the router has */
    struct rate_window changes;
    uint64_t unsteady_since; /* 0: it is steady */
};

struct routers {
    VEC(struct router_state) states;
    uint64_t generation;      /* of the subnet, when the states were made; plus 1 */
    uint64_t next;            /* when the routers are read again; TIME_NEVER: there are none */
    struct rate_window extra; /* turns out of order */
};

static void init_routers(struct sm *sm)
{
    sm->routers->next = TIME_NEVER;
    sm->subnet.prefix_routes.own = sm->config.subnet_prefix;
    sm->subnet.prefix_routes.rules = sm->config.prefix_rules;
}

static void release_routers(struct sm *sm)
{
    for (size_t i = 0; i < sm->routers->states.count; i++)
        vec_release(&sm->routers->states.items[i].found);
}

static struct router_state *state_of(struct sm *sm, uint32_t port)
{
    for (size_t i = 0; i < sm->routers->states.count; i++)
        if (sm->routers->states.items[i].port == port)
            return &sm->routers->states.items[i];
    return NULL;
}

/* All routers are read again now, if that was not asked for too often. */
static void read_soon(struct sm *sm)
{
    if (rate_window_add(&sm->routers->extra, sm->now, extra_time) <= EXTRA_TURNS)
        sm->routers->next = sm->now;
}

static void note_change_of(struct sm *sm, struct router_state *state)
{
    if (rate_window_add(&state->changes, sm->now, steady_time) == STEADY_CHANGES + 1 &&
        !state->unsteady_since) {
        state->unsteady_since = sm->now;
        sm_log_listed(sm, SM_EVENT_WARNING, state->port,
                      "router %s leads to other subnets again and again",
                      subnet_node_name(&sm->subnet, port_at(sm, state->port)->node).text);
    }
}

static bool is_unsteady(const struct router_state *state, uint64_t now)
{
    return state->unsteady_since && now < state->changes.last + 2 * steady_time;
}

static void routers_list_problems(struct sm *sm, struct problems *problems)
{
    for (size_t i = 0; i < sm->routers->states.count; i++) {
        const struct router_state *state = &sm->routers->states.items[i];
        if (is_unsteady(state, sm->now))
            problems_add(problems, PROBLEM_UNSTEADY_ROUTER,
                         subnet_at_node(&sm->subnet, port_at(sm, state->port)->node),
                         "the subnets that it leads to change again and again");
    }
}

static void drop_routers(struct sm *sm)
{
    for (size_t i = 0; i < sm->routers->states.count; i++)
        sm->routers->states.items[i].busy = sm->routers->states.items[i].known = false;
    sm->routers->generation = 0;
}

static request_outcome info_read, adjacent_read, hops_read, block_written, top_written, given_up;
static const struct request_kind get_info = {.attribute = ATTRIBUTE_ROUTER_INFO,
                                             .answered = info_read,
                                             .refused = given_up,
                                             .unanswered = given_up};
static const struct request_kind get_adjacent = {.attribute = ATTRIBUTE_ADJACENT_SUBNETS_TABLE,
                                                 .answered = adjacent_read,
                                                 .refused = given_up,
                                                 .unanswered = given_up};
static const struct request_kind get_hops = {.attribute = ATTRIBUTE_ROUTER_NEXT_HOP_TABLE,
                                             .answered = hops_read,
                                             .refused = given_up,
                                             .unanswered = given_up};
static const struct request_kind set_hops = {.name = "RouterNextHopTable",
                                             .attribute = ATTRIBUTE_ROUTER_NEXT_HOP_TABLE,
                                             .writes = true,
                                             .answered = block_written,
                                             .refused = given_up,
                                             .unanswered = given_up};
static const struct request_kind set_info = {.name = "RouterInfo",
                                             .attribute = ATTRIBUTE_ROUTER_INFO,
                                             .writes = true,
                                             .answered = top_written,
                                             .refused = given_up,
                                             .unanswered = given_up};

static void ask(struct sm *sm, const struct router_state *state, const struct request_kind *kind,
                uint32_t modifier, const uint8_t *data)
{
    sm_send(sm, kind, (union request_subject){.port = state->port}, state->port, modifier, data);
}

/* No answer or a refusal: the next turn begins anew. What was learnt stays until the router is gone
 * or says otherwise. */
static void given_up(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (state)
        state->busy = state->known = false;
}

/* ---- write ---- */

static void write_next(struct sm *sm, struct router_state *state)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    if (state->block * HOPS_PER_BLOCK >= state->wanted_count) {
        wire_set(data, ROUTER_INFO_NEXT_HOP_TOP, state->wanted_count);
        ask(sm, state, &set_info, 0, data);
        return;
    }
    for (unsigned i = 0; i < HOPS_PER_BLOCK; i++) {
        unsigned entry = state->block * HOPS_PER_BLOCK + i;
        if (entry >= state->wanted_count)
            break;
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_PREFIX, i, state->wanted[entry].prefix);
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_WEIGHT, i, state->wanted[entry].weight);
        wire_set_at(data, ROUTER_NEXT_HOP_TABLE_P_KEY, i, 0xFFFF);
    }
    ask(sm, state, &set_hops, state->block, data);
}

static void block_written(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (!state)
        return;
    state->block++;
    write_next(sm, state);
}

static void top_written(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (!state)
        return;
    memcpy(state->written, state->wanted, sizeof state->written);
    state->written_count = state->wanted_count;
    state->known = true;
    state->busy = false;
}

static bool differs(const struct router_state *state)
{
    if (!state->known || state->wanted_count != state->written_count)
        return true;
    for (unsigned i = 0; i < state->wanted_count; i++)
        if (state->wanted[i].prefix != state->written[i].prefix ||
            state->wanted[i].weight != state->written[i].weight)
            return true;
    return false;
}

static void write_table(struct sm *sm, struct router_state *state)
{
    state->wanted_count = prefix_routes_want(&sm->subnet, state->port, state->wanted);
    if (!differs(state)) {
        state->busy = false;
        return;
    }
    state->block = 0;
    write_next(sm, state);
}

/* ---- read ---- */

/* Takes a prefix that the router leads to, if it is another subnet's. */
static void take_prefix(const struct sm *sm, struct router_state *state, uint64_t prefix,
                        unsigned weight)
{
    if (!prefix || prefix == sm->config.subnet_prefix || weight > ROUTER_WEIGHT_MOST ||
        state->found.count >= FOUND_MOST)
        return;
    for (size_t i = 0; i < state->found.count; i++)
        if (state->found.items[i].prefix == prefix) {
            if (weight < state->found.items[i].weight)
                state->found.items[i].weight = (uint8_t)weight;
            return;
        }
    vec_push(&state->found, ((struct prefix_route){prefix, state->port, (uint8_t)weight}));
}

static void log_prefixes(struct sm *sm, const struct router_state *state)
{
    struct text list = {0};
    for (size_t i = 0; i < state->found.count; i++)
        text_printf(&list, "%s0x%016llx", i ? ", " : "",
                    (unsigned long long)state->found.items[i].prefix);
    sm_log_at(sm, SM_EVENT_CHANGE, state->port, "router %s leads to %s",
              subnet_node_name(&sm->subnet, port_at(sm, state->port)->node).text,
              list.length ? list.data : "no other subnet");
    text_release(&list);
}

/* Goes on with the next port, or ends the reading. */
static void read_next_port(struct sm *sm, struct router_state *state)
{
    const struct subnet_port *port = port_at(sm, state->port);
    do
        state->at++;
    while (state->at == port->number);
    if (state->at <= node_at(sm, port->node)->port_count) {
        ask(sm, state, &get_info, state->at, NULL);
        return;
    }
    if (prefix_routes_learn(&sm->subnet.prefix_routes, state->port, state->found.items,
                            state->found.count)) {
        note_change_of(sm, state);
        if (!is_unsteady(state, sm->now))
            log_prefixes(sm, state);
        read_soon(sm); /* the tables of the other routers change, too */
    }
    write_table(sm, state);
}

static void read_hops(struct sm *sm, struct router_state *state)
{
    if (state->left)
        ask(sm, state, &get_hops, (uint32_t)state->at << MODIFIER_PORT | state->block, NULL);
    else
        read_next_port(sm, state);
}

static void info_read(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (!state)
        return;
    state->block = 0;
    if (!state->at) { /* of the router's port in this subnet */
        if (wire_get(request->answer, ROUTER_INFO_NEXT_HOP_TOP) != state->written_count)
            state->known = false; /* it was reset */
        state->left = (uint32_t)wire_get(request->answer, ROUTER_INFO_ADJACENT_TOP);
        ask(sm, state, &get_adjacent, 0, NULL);
        return;
    }
    state->left = (uint32_t)wire_get(request->answer, ROUTER_INFO_NEXT_HOP_TOP);
    if (state->left > ROUTER_NEXT_HOPS)
        state->left = ROUTER_NEXT_HOPS;
    read_hops(sm, state);
}

static void adjacent_read(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (!state)
        return;
    for (unsigned i = 0; i < SUBNETS_PER_BLOCK && state->left; i++, state->left--) {
        uint64_t subnet = wire_get_at(request->answer, ADJACENT_SUBNETS_TABLE_PREFIX, i);
        take_prefix(sm, state, GID_PREFIX_SITE | subnet, 1);
    }
    if (state->left)
        ask(sm, state, &get_adjacent, ++state->block, NULL);
    else
        read_next_port(sm, state);
}

static void hops_read(struct sm *sm, const struct request *request)
{
    struct router_state *state = state_of(sm, request->about.port);
    if (!state)
        return;
    for (unsigned i = 0; i < HOPS_PER_BLOCK && state->left; i++, state->left--) {
        uint64_t weight = wire_get_at(request->answer, ROUTER_NEXT_HOP_TABLE_WEIGHT, i);
        take_prefix(sm, state, wire_get_at(request->answer, ROUTER_NEXT_HOP_TABLE_PREFIX, i),
                    weight ? (unsigned)weight + 1 : ROUTER_WEIGHT_MOST + 1);
    }
    state->block++;
    read_hops(sm, state);
}

/* ---- turns ---- */

/* The routers' ports of this subnet, once for each change of its topology. */
static void find_routers(struct sm *sm)
{
    struct routers *routers = sm->routers;
    size_t kept = 0;
    if (routers->generation == sm->subnet.generation + 1)
        return;
    routers->generation = sm->subnet.generation + 1;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++) {
        const struct subnet_node *n = node_at(sm, node);
        for (unsigned i = 1; n->kind == SUBNET_ROUTER && n->present && i <= n->port_count; i++) {
            uint32_t port = n->first_port + i;
            if (port_at(sm, port)->known && port_at(sm, port)->via != SUBNET_NONE &&
                !state_of(sm, port))
                vec_push(&routers->states, (struct router_state){.port = port});
        }
    }
    for (size_t i = 0; i < routers->states.count; i++) {
        struct router_state *state = &routers->states.items[i];
        const struct subnet_port *port = port_at(sm, state->port);
        if (node_at(sm, port->node)->present && port->known && port->via != SUBNET_NONE) {
            routers->states.items[kept++] = *state;
            continue;
        }
        vec_release(&state->found);
        prefix_routes_learn(&sm->subnet.prefix_routes, state->port, NULL, 0);
    }
    routers->states.count = kept;
    routers->next = kept ? sm->now : TIME_NEVER;
}

static void expire_routers(struct sm *sm)
{
    struct routers *routers = sm->routers;
    if (!sm->subnet.routers || !sm_is_settled(sm))
        return;
    find_routers(sm);
    if (sm->now < routers->next)
        return;
    routers->next = sm->now + interval;
    for (size_t i = 0; i < routers->states.count; i++) {
        struct router_state *state = &routers->states.items[i];
        if (state->busy)
            continue;
        if (!is_unsteady(state, sm->now))
            state->unsteady_since = 0;
        state->busy = true;
        state->at = 0;
        state->found.count = 0;
        ask(sm, state, &get_info, 0, NULL);
    }
}

static uint64_t routers_deadline(const struct sm *sm)
{
    const struct routers *routers = sm->routers;
    if (!sm->subnet.routers || !sm_is_settled(sm))
        return TIME_NEVER;
    return routers->generation == sm->subnet.generation + 1 ? routers->next : sm->now;
}

void routers_note_change(struct sm *sm, uint32_t node)
{
    if (node_at(sm, node)->kind == SUBNET_ROUTER && sm->routers->next != TIME_NEVER)
        read_soon(sm);
}

SM_PART(routers, .init = init_routers, .release = release_routers,
        .vectors = {VECTOR(routers, states)}, .requests_dropped = drop_routers,
        .expire = expire_routers, .deadline = routers_deadline, .problems = routers_list_problems,
        .as_master = true);
