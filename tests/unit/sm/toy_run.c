/* Runs a toy subnet: delivers the SMPs of managers and their answers, computes routes, and advances
 * the time to the next event. */
#include "toy_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_AT_MOST = 100000, SEND_INFO_TID = 0x7E11 };

struct sm_config toy_config(void)
{
    struct sm_config config;
    sm_config_init(&config);
    config.timeout_ns = TOY_TIMEOUT;
    config.sweep_ns = TOY_SWEEP;
    config.poll_ns = TOY_POLL;
    config.poll_retries = 2;
    config.drain_ns = TOY_DRAIN;
    config.full_every = 0;
    return config;
}

struct sm_config toy_config_sweeping(uint64_t interval)
{
    struct sm_config config = toy_config();
    config.sweep_ns = interval;
    return config;
}

/* ---- managers ---- */

unsigned toy_add_manager(struct toy *toy, const char *name, const struct sm_config *config)
{
    unsigned manager = 0;
    while (toy->managers[manager].node)
        manager++;
    assert_true(manager < TOY_MANAGERS);
    struct toy_node *node = toy_node(toy, name);
    unsigned port = node->is_switch ? 0 : 1;
    struct sm *sm = sm_new(config, node->guid + port);
    toy->managers[manager].sm = sm;
    toy->managers[manager].node = node;
    toy->managers[manager].port = port;
    toy_set_manager_bit(node, port);
    if (manager == 0)
        toy->sm = sm;
    return manager;
}

unsigned toy_start_manager(struct toy *toy, const char *name, const struct sm_config *config)
{
    unsigned manager = toy_add_manager(toy, name, config);
    sm_start(toy->managers[manager].sm, toy->now);
    return manager;
}

/* The fabric clears IsSM when the process ends. */
void toy_kill(struct toy *toy, unsigned manager)
{
    toy_clear_manager_bit(toy->managers[manager].node, toy->managers[manager].port);
    sm_free(toy->managers[manager].sm);
    toy->managers[manager].sm = NULL;
    if (manager == 0)
        toy->sm = NULL;
}

void toy_restart(struct toy *toy, unsigned manager, const struct sm_config *config)
{
    struct toy_node *node = toy->managers[manager].node;
    struct sm *sm = sm_new(config, node->guid + toy->managers[manager].port);
    toy->managers[manager].sm = sm;
    toy_set_manager_bit(node, toy->managers[manager].port);
    if (manager == 0)
        toy->sm = sm;
    sm_start(sm, toy->now);
}

struct toy *toy_up_with(void **state, const char *links, struct sm_config config)
{
    struct toy *toy = toy_open(state, links);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_mark(toy);
    return toy;
}

struct toy *toy_up(void **state, const char *links)
{
    return toy_up_with(state, links, toy_config());
}

static struct toy_end manager_port(const struct toy *toy, unsigned manager)
{
    return (struct toy_end){toy->managers[manager].node, toy->managers[manager].port};
}

static unsigned manager_at(const struct toy *toy, struct toy_end end)
{
    unsigned port = end.node && end.node->is_switch ? 0 : end.port;
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        if (toy->managers[i].sm && toy->managers[i].node == end.node &&
            toy->managers[i].port == port)
            return i;
    return TOY_MANAGERS;
}

/* ---- output of managers ---- */

static struct toy_end destination(const struct toy *toy, unsigned manager,
                                  struct sm_message *message)
{
    uint8_t *mad = message->mad;
    if (!mad_is_directed(mad))
        return toy_forward(manager_port(toy, manager), message->lid);
    unsigned hops = (unsigned)wire_get(mad, SMP_HOP_COUNT);
    uint8_t *there = wire_bytes(mad, SMP_INITIAL_PATH), *back = wire_bytes(mad, SMP_RETURN_PATH);
    uint8_t path[SMP_MAX_HOPS + 1], ignored[SMP_MAX_HOPS + 1];
    if (!mad_is_response(mad))
        return toy_walk(manager_port(toy, manager), there, hops, back);
    for (unsigned hop = 1; hop <= hops; hop++)
        path[hop] = back[hops + 1 - hop];
    return toy_walk(manager_port(toy, manager), path, hops, ignored);
}

/* TOY_TRACE=1 prints every SMP and event. */
static void trace_sent(const struct toy_sent *sent)
{
    if (getenv("TOY_TRACE"))
        printf("%12.3f ms manager %u: method %02x attribute %02x modifier %x to %s\n",
               (double)sent->at / (double)TOY_MS, sent->manager, sent->method, sent->attribute,
               sent->modifier, sent->node ? sent->node->name : "no node");
}

static void take_event(struct toy *toy, unsigned manager, const struct sm_event *event)
{
    text_printf(&toy->events, "%u %u %s\n", manager, event->kind, event->text);
    if (getenv("TOY_TRACE"))
        printf("%12.3f ms manager %u: %s\n", (double)toy->now / (double)TOY_MS, manager,
               event->text);
}

/* The kernel refuses a request whose transaction ID is still outstanding: it would be lost. */
static void assert_new_transaction(const struct toy *toy, const struct toy_flight *flight)
{
    uint64_t tid = wire_get(flight->message.mad, MAD_TID);
    for (size_t i = 0; !mad_is_response(flight->message.mad) && i < toy->flights.count; i++) {
        const struct toy_flight *other = &toy->flights.items[i];
        if (other->manager == flight->manager && other->kind != FLIGHT_ANSWER &&
            !mad_is_response(other->message.mad) && other->deadline > toy->now &&
            wire_get(other->message.mad, MAD_TID) == tid)
            fail_msg("manager %u: transaction ID %" PRIx64 " is still outstanding", flight->manager,
                     tid);
    }
}

static void take_message(struct toy *toy, unsigned manager, const struct sm_message *message)
{
    uint64_t timeout = message->request_timeout_ns;
    struct toy_flight flight = {.at = toy->now + TOY_LATENCY,
                                .deadline = timeout ? toy->now + timeout : 0,
                                .manager = manager,
                                .message = *message};
    uint8_t *mad = flight.message.mad;
    struct toy_sent sent = {.at = toy->now,
                            .manager = manager,
                            .attribute = (unsigned)wire_get(mad, MAD_ATTRIBUTE_ID),
                            .method = (unsigned)wire_get(mad, MAD_METHOD),
                            .modifier = (uint32_t)wire_get(mad, MAD_ATTRIBUTE_MODIFIER),
                            .hops = (unsigned)wire_get(mad, SMP_HOP_COUNT),
                            .tid = wire_get(mad, MAD_TID)};
    bool travels = mad_is_directed(mad) || sent.method == METHOD_GET ||
                   (sent.method == METHOD_GET_RESP && message->lid != LID_PERMISSIVE);
    if (travels)
        sent.node = destination(toy, manager, &flight.message).node;
    assert_new_transaction(toy, &flight);
    vec_push(&toy->sent, sent);
    trace_sent(&sent);
    if (sent.method == METHOD_GET_RESP && sent.tid == SEND_INFO_TID)
        toy->info_response = *message;
    else if (travels)
        vec_push(&toy->flights, flight);
    unsigned outstanding = toy_outstanding(toy, manager);
    if (outstanding > toy->most_outstanding)
        toy->most_outstanding = outstanding;
}

static void run_job(struct toy *toy, unsigned manager, struct sm_job *job)
{
    struct err err;
    int status = toy->refuse_jobs ? err_set(&err, 1, "the toy refuses") : sm_job_run(job, &err);
    sm_computed(toy->managers[manager].sm, toy->now, job, status ? &err : NULL);
}

static void take_job(struct toy *toy, unsigned manager, struct sm_job *job)
{
    toy->jobs++;
    if (!toy->hold_jobs) {
        run_job(toy, manager, job);
        return;
    }
    if (toy->job) /* finish the older job first */
        toy_compute(toy);
    toy->job = job;
    toy->job_of = manager;
}

void toy_compute(struct toy *toy)
{
    struct sm_job *job = toy->job;
    assert_non_null(job);
    toy->job = NULL;
    run_job(toy, toy->job_of, job);
}

void toy_take_outputs(struct toy *toy)
{
    struct sm_output output;
    for (unsigned i = 0, steps = 0; i < TOY_MANAGERS; i++)
        while (toy->managers[i].sm && sm_next_output(toy->managers[i].sm, toy->now, &output)) {
            if (++steps > STEPS_AT_MOST)
                fail_msg("manager %u has output without end", i);
            switch (output.kind) {
            case SM_SEND: take_message(toy, i, &output.message); break;
            case SM_COMPUTE: take_job(toy, i, output.job); break;
            case SM_EVENT: take_event(toy, i, &output.event); break;
            case SM_PERSIST: break;
            }
        }
}

/* ---- input of managers ---- */

static bool rule_applies(struct toy *toy, const struct toy_end *end, const uint8_t *mad,
                         enum toy_fault *fault)
{
    for (unsigned i = 0; i < TOY_RULES; i++) {
        struct toy_rule *rule = &toy->rules[i];
        if (!rule->times || (rule->node && strcmp(rule->node, end->node->name) != 0) ||
            (rule->attribute && rule->attribute != wire_get(mad, MAD_ATTRIBUTE_ID)) ||
            (rule->method && rule->method != wire_get(mad, MAD_METHOD)))
            continue;
        rule->times--;
        *fault = rule->fault;
        return true;
    }
    return false;
}

static void lose(struct toy *toy, struct toy_flight flight)
{
    flight.kind = FLIGHT_LOST;
    flight.at = flight.deadline;
    if (flight.deadline)
        vec_push(&toy->flights, flight);
}

static void receive(struct toy *toy, unsigned manager, const struct sm_message *message)
{
    if (toy->managers[manager].sm && !toy->managers[manager].stopped)
        sm_receive(toy->managers[manager].sm, toy->now, message);
}

/* Delivers an SMP to the agent of the node where it arrives. */
static void serve(struct toy *toy, struct toy_flight flight, struct toy_end end,
                  const enum toy_fault *fault)
{
    struct toy_flight again = {.kind = FLIGHT_ANSWER, .manager = flight.manager};
    if (fault && *fault == TOY_REFUSE)
        toy_make_answer(flight.message.mad, STATUS_BAD_VALUE);
    else
        toy_agent_answer(end.node, end.port, flight.message.mad);
    again.message = flight.message;
    again.at = flight.deadline + TOY_MS;
    if (fault && (*fault == TOY_DELAY || *fault == TOY_REPEAT))
        vec_push(&toy->flights, again);
    again.at = toy->now + end.node->delay;
    if ((fault && *fault == TOY_REPEAT) || end.node->delay)
        vec_push(&toy->flights, again);
    if (fault && (*fault == TOY_DELAY || *fault == TOY_LOSE_ANSWER))
        lose(toy, flight);
    else if (!end.node->delay)
        receive(toy, flight.manager, &flight.message);
}

/* Protection level 2: nobody reads or writes without the M_Key. */
static bool has_m_key(struct toy_end end, const uint8_t *mad)
{
    const uint8_t *info = end.node->ports[end.node->is_switch ? 0 : end.port].info;
    uint64_t key = wire_get(info, PORT_INFO_M_KEY);
    if (!key || wire_get(info, PORT_INFO_M_KEY_PROTECT_BITS) < 2 || wire_get(mad, SMP_M_KEY) == key)
        return true;
    end.node->violations++;
    return false;
}

static uint16_t source_lid(const struct toy *toy, unsigned manager)
{
    struct toy_end from = manager_port(toy, manager);
    return (uint16_t)wire_get(from.node->ports[from.port].info, PORT_INFO_LID);
}

static void arrive(struct toy *toy, struct toy_flight flight)
{
    uint8_t *mad = flight.message.mad;
    enum toy_fault fault;
    if (flight.kind == FLIGHT_ANSWER)
        receive(toy, flight.manager, &flight.message);
    if (flight.kind != FLIGHT_REQUEST)
        return;
    struct toy_end end = destination(toy, flight.manager, &flight.message);
    if (!mad_is_directed(mad))
        flight.message.lid = source_lid(toy, flight.manager);
    unsigned other = manager_at(toy, end);
    bool matched = end.node && rule_applies(toy, &end, mad, &fault);
    bool for_agent = end.node && (wire_get(mad, MAD_ATTRIBUTE_ID) != ATTRIBUTE_SM_INFO ||
                                  end.node->claims_manager);
    bool checked = for_agent && wire_get(mad, MAD_ATTRIBUTE_ID) != ATTRIBUTE_SM_INFO;
    if (!end.node || end.node->mute ||
        (end.node->loses_every && ++end.node->arrived % end.node->loses_every == 0) ||
        (matched && fault == TOY_LOSE) || (checked && !has_m_key(end, mad)) ||
        (!for_agent && other == TOY_MANAGERS))
        lose(toy, flight);
    else if (for_agent)
        serve(toy, flight, end, matched ? &fault : NULL);
    else
        receive(toy, other, &flight.message); /* its answer is among its outputs */
}

uint8_t *toy_trap(struct toy *toy, const char *name, unsigned number)
{
    struct toy_end from = {toy_node(toy, name), !toy_node(toy, name)->is_switch};
    const uint8_t *info = from.node->ports[from.port].info;
    struct toy_end end = toy_forward(from, (unsigned)wire_get(info, PORT_INFO_MASTER_SM_LID));
    struct toy_flight flight = {.kind = FLIGHT_ANSWER, .at = toy->now + TOY_LATENCY};
    uint8_t *mad = flight.message.mad, *notice = mad + SMP_DATA_OFFSET;
    flight.manager = manager_at(toy, end);
    if (!wire_get(info, PORT_INFO_LID) || flight.manager == TOY_MANAGERS)
        return NULL;
    flight.message.lid = (uint16_t)wire_get(info, PORT_INFO_LID);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_TRAP);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NOTICE);
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TRAP_NUMBER, number);
    wire_set(notice, NOTICE_ISSUER_LID, flight.message.lid);
    vec_push(&toy->flights, flight);
    return toy->flights.items[toy->flights.count - 1].message.mad + SMP_DATA_OFFSET;
}

/* Finds a path from an end to a node, as a list of output ports, by depth-first search. */
static bool find_path(struct toy_end from, const struct toy_node *to, uint8_t *path, unsigned hop,
                      unsigned limit)
{
    if (from.node == to)
        return path[0] = (uint8_t)hop, true;
    for (unsigned port = 1; hop < limit && port <= from.node->port_count; port++) {
        struct toy_end next = toy_hop(from, port);
        path[hop + 1] = (uint8_t)port;
        if (next.node && (next.node->is_switch || next.node == to) &&
            find_path(next, to, path, hop + 1, limit))
            return true;
    }
    return false;
}

unsigned toy_send_info(struct toy *toy, const char *from, unsigned manager, unsigned method,
                       unsigned control, uint8_t info[64])
{
    struct toy_end end = {toy_node(toy, from), 1};
    struct sm_message message = {.lid = LID_PERMISSIVE};
    uint8_t *mad = message.mad, *path = wire_bytes(mad, SMP_INITIAL_PATH);
    bool found = false;
    for (unsigned limit = 0; limit < 8 && !found; limit++)
        found = find_path(end, toy->managers[manager].node, path, 0, limit);
    assert_true(found);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_SM_INFO);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, control);
    wire_set(mad, MAD_TID, SEND_INFO_TID);
    wire_set(mad, SMP_HOP_COUNT, path[0]);
    memcpy(mad + SMP_DATA_OFFSET, info, SMP_DATA_BYTES);
    toy_walk(end, path, path[0], wire_bytes(mad, SMP_RETURN_PATH));
    path[0] = 0;
    memset(&toy->info_response, 0, sizeof toy->info_response);
    receive(toy, manager, &message);
    toy_take_outputs(toy);
    assert_int_equal(wire_get(toy->info_response.mad, MAD_METHOD), METHOD_GET_RESP);
    memcpy(info, toy->info_response.mad + SMP_DATA_OFFSET, SMP_DATA_BYTES);
    return (unsigned)wire_get(toy->info_response.mad, SMP_STATUS);
}

void toy_add_rule(struct toy *toy, struct toy_rule rule)
{
    for (unsigned i = 0; i < TOY_RULES; i++)
        if (!toy->rules[i].times) {
            toy->rules[i] = rule;
            return;
        }
    fail_msg("too many rules");
}

/* ---- time ---- */

static size_t next_flight(const struct toy *toy)
{
    size_t first = 0;
    for (size_t i = 1; i < toy->flights.count; i++)
        if (toy->flights.items[i].at < toy->flights.items[first].at)
            first = i;
    return first;
}

static uint64_t next_deadline(const struct toy *toy)
{
    uint64_t deadline = TOY_NEVER;
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        if (toy->managers[i].sm && !toy->managers[i].stopped &&
            sm_deadline(toy->managers[i].sm) < deadline)
            deadline = sm_deadline(toy->managers[i].sm);
    return deadline;
}

/* Handles the next arrival or deadline; false: there is none in time. */
static bool step(struct toy *toy, uint64_t until)
{
    toy_take_outputs(toy);
    size_t first = next_flight(toy);
    uint64_t arrival = toy->flights.count ? toy->flights.items[first].at : TOY_NEVER;
    uint64_t deadline = next_deadline(toy), next = arrival < deadline ? arrival : deadline;
    if (next > until) {
        toy->now = until;
        return false;
    }
    toy->now = next > toy->now ? next : toy->now;
    if (arrival <= deadline) {
        struct toy_flight flight = toy->flights.items[first];
        memmove(&toy->flights.items[first], &toy->flights.items[first + 1],
                (--toy->flights.count - first) * sizeof flight);
        arrive(toy, flight);
        return true;
    }
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        if (toy->managers[i].sm && !toy->managers[i].stopped &&
            sm_deadline(toy->managers[i].sm) <= toy->now)
            sm_expire(toy->managers[i].sm, toy->now);
    return true;
}

static void step_or_fail(struct toy *toy, unsigned *steps, const char *goal)
{
    if (++*steps > STEPS_AT_MOST || !step(toy, toy->now + 1000 * TOY_S))
        fail_msg("not %s; events so far:\n%s", goal, toy->events.data ? toy->events.data : "");
}

void toy_run(struct toy *toy, uint64_t duration)
{
    uint64_t until = toy->now + duration;
    for (unsigned steps = 0; step(toy, until);)
        if (++steps > STEPS_AT_MOST)
            fail_msg("events without end; so far:\n%s", toy->events.data ? toy->events.data : "");
}

static bool is_settled(const struct toy *toy)
{
    unsigned masters = 0;
    for (size_t i = 0; i < toy->flights.count; i++)
        if (toy->flights.items[i].kind != FLIGHT_LOST)
            return false;
    for (unsigned i = 0; i < TOY_MANAGERS; i++) {
        const struct sm *sm = toy->managers[i].sm;
        if (sm &&
            (sm_state(sm) == SM_DISCOVERING || (sm_state(sm) == SM_MASTER && !sm_is_settled(sm))))
            return false;
        masters += sm && sm_state(sm) == SM_MASTER;
    }
    return masters > 0;
}

void toy_settle_watched(struct toy *toy, void (*look)(struct toy *toy))
{
    unsigned steps = 0;
    toy_take_outputs(toy);
    while (!is_settled(toy)) {
        step_or_fail(toy, &steps, "settled");
        toy_take_outputs(toy);
        if (look)
            look(toy);
    }
}

void toy_settle(struct toy *toy)
{
    toy_settle_watched(toy, NULL);
}

void toy_run_until_sent(struct toy *toy, const char *node, unsigned attribute, unsigned method)
{
    unsigned steps = 0, before = toy_count(toy, node, attribute, method);
    while (toy_count(toy, node, attribute, method) == before) {
        step_or_fail(toy, &steps, "sent");
        toy_take_outputs(toy);
    }
}

/* ---- queries ---- */

void toy_mark(struct toy *toy)
{
    toy->mark = toy->sent.count;
    text_clear(&toy->events);
}

unsigned toy_count(const struct toy *toy, const char *node, unsigned attribute, unsigned method)
{
    unsigned count = 0;
    for (size_t i = toy->mark; i < toy->sent.count; i++) {
        const struct toy_sent *sent = &toy->sent.items[i];
        count += (!node || (sent->node && strcmp(sent->node->name, node) == 0)) &&
                 (!attribute || sent->attribute == attribute) &&
                 (!method || sent->method == method);
    }
    return count;
}

unsigned toy_count_from(const struct toy *toy, unsigned manager)
{
    unsigned count = 0;
    for (size_t i = toy->mark; i < toy->sent.count; i++)
        count += toy->sent.items[i].manager == manager;
    return count;
}

unsigned toy_outstanding(const struct toy *toy, unsigned manager)
{
    unsigned count = 0;
    for (size_t i = 0; i < toy->flights.count; i++)
        count += toy->flights.items[i].manager == manager && toy->flights.items[i].deadline != 0;
    return count;
}

bool toy_logged(const struct toy *toy, const char *words)
{
    return toy->events.length && strstr(toy->events.data, words);
}

unsigned toy_lid(struct toy *toy, const char *node, unsigned port)
{
    return (unsigned)wire_get(toy_node(toy, node)->ports[port].info, PORT_INFO_LID);
}

bool toy_has_node(struct toy *toy, const char *name)
{
    const struct subnet *subnet = sm_subnet(toy->sm);
    uint32_t node = map_get(&subnet->by_guid, toy_node(toy, name)->guid);
    return node != MAP_NONE && subnet->nodes.items[node].present;
}

unsigned toy_present(const struct toy *toy)
{
    const struct subnet *subnet = sm_subnet(toy->sm);
    unsigned count = 0;
    for (size_t i = 0; i < subnet->nodes.count; i++)
        count += subnet->nodes.items[i].present;
    return count;
}

/* End ports: port 0 of switches that are on, and ports of adapters with a cable. */
static bool is_end(const struct toy_node *node, unsigned port)
{
    return !node->mute && (node->is_switch ? port == 0 : port && node->ports[port].peer);
}

static bool reaches_all_ends(const struct toy *toy, struct toy_end from)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned port = 0; port <= toy->nodes[i]->port_count; port++) {
            unsigned lid = (unsigned)wire_get(toy->nodes[i]->ports[port].info, PORT_INFO_LID);
            if (!is_end(toy->nodes[i], port) || (from.node == toy->nodes[i] && from.port == port))
                continue;
            struct toy_end end = toy_forward(from, lid);
            if (!lid || end.node != toy->nodes[i] || end.port != port) {
                if (getenv("TOY_TRACE"))
                    printf("%s port %u does not reach %s port %u (LID %u)\n", from.node->name,
                           from.port, toy->nodes[i]->name, port, lid);
                return false;
            }
        }
    return true;
}

bool toy_delivers(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned port = 0; port <= toy->nodes[i]->port_count; port++)
            if (is_end(toy->nodes[i], port) &&
                !reaches_all_ends(toy, (struct toy_end){toy->nodes[i], port}))
                return false;
    return true;
}

bool toy_loops(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned lid = 1; lid < TOY_LFT && toy->nodes[i]->is_switch; lid++) {
            struct toy_end end = toy_forward((struct toy_end){toy->nodes[i], 0}, lid);
            if (end.node && end.node->is_switch && end.port)
                return true; /* toy_forward() reached its limit of hops */
        }
    return false;
}

bool toy_is_active(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned port = 1; port <= toy->nodes[i]->port_count; port++)
            if (toy->nodes[i]->ports[port].peer &&
                wire_get(toy->nodes[i]->ports[port].info, PORT_INFO_PORT_STATE) !=
                    PORT_STATE_ACTIVE)
                return false;
    return true;
}

bool toy_has_tables(struct toy *toy)
{
    struct sm_paths paths = sm_paths(toy->sm);
    for (uint32_t at = 0; paths.network && at < paths.network->switches.count; at++)
        for (unsigned i = 0; i < toy->node_count; i++)
            for (unsigned lid = 1; lid <= paths.routes->top_lid; lid++)
                if (toy->nodes[i]->guid == paths.network->switches.items[at].guid &&
                    toy->nodes[i]->lft[lid] != routes_port(paths.routes, at, lid))
                    return false;
    return paths.network != NULL;
}

/* Distribution writes no entry from `wanted_end` on, so these have to be PORT_NONE already. */
static bool toy_tables_end(const struct toy *toy)
{
    const struct subnet *subnet = sm_subnet(toy->sm);
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_tables *tables = subnet->nodes.items[i].tables;
        for (unsigned lid = tables ? tables->wanted_end : 0; tables && lid < tables->length; lid++)
            if (tables->wanted[lid] != PORT_NONE)
                return false;
    }
    return true;
}

void toy_assert_up(struct toy *toy)
{
    assert_true(sm_is_settled(toy->sm));
    assert_true(toy_is_active(toy));
    assert_true(toy_has_tables(toy));
    assert_true(toy_delivers(toy));
    assert_true(toy_tables_end(toy));
}
