/* The manager's four verbs, and when which part gets its turn.
 *
 * Every input runs through the same end: advance() looks whether discovery has come to rest,
 * whether the plan is older than the topology, and whether all that was wanted has been confirmed.
 */
#include "sm/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sm_config_init(struct sm_config *config)
{
    *config = (struct sm_config){
        .engine = &engine_updn,
        .subnet_prefix = GID_PREFIX_LOCAL,
        .subnet_timeout = 18,
        .window = 256,
        .timeout_ns = 200 * NS_PER_MS,
        .retries = 3,
        .sweep_ns = 10 * NS_PER_S,
        .full_every = 6,
        .life_time = 10,
        .poll_ns = 100 * NS_PER_MS,
        .poll_retries = 2,
        .mirror_rate = 10000,
        .hold = true,
        .repair = true,
        .rebalance = 150,
        .part_enforce = SM_ENFORCE_BOTH,
    };
}

struct sm *sm_new(const struct sm_config *config, uint64_t port_guid)
{
    struct sm *sm = mem_zalloc(1, sizeof *sm);
    sm->config = *config;
    if (config->engine->renames && !config->lmc)
        sm->config.lmc = 2; /* renamed destinations need more than one LID each */
    distribute_abort(sm);
    sm->guid = port_guid;
    sm->master_port = sm->given_up = SUBNET_NONE;
    sm->next_sweep = sm->next_poll = TIME_NEVER;
    sm->next_lid = 1;
    subnet_init(&sm->subnet);
    sm->transactions = transactions_new();
    qos_begin(sm);
    return sm;
}

void sm_job_free(struct sm_job *job)
{
    if (!job)
        return;
    network_release(&job->network);
    routes_release(&job->routes);
    routes_release(&job->before);
    order_release(&job->plan);
    repair_release(&job->repair);
    repair_state_release(&job->repair_state);
    dependency_release(&job->checked);
    verify_change_release(&job->change);
    mem_free(job->edited);
    vec_release(&job->nodes);
    mem_free(job);
}

void sm_free(struct sm *sm)
{
    if (!sm)
        return;
    subnet_release(&sm->subnet);
    transactions_free(sm->transactions);
    partitions_release_work(sm);
    multicast_release(sm);
    vec_release(&sm->port_work);
    vec_release(&sm->node_work);
    vec_release(&sm->frontier);
    vec_release(&sm->replies);
    vec_release(&sm->events);
    vec_release(&sm->facts);
    map_release(&sm->remembered);
    map_release(&sm->machines);
    vec_release(&sm->doubles);
    sm_job_free(sm->job);
    mirror_end(sm);
    plan_drop(sm);
    qos_end(sm);
    mem_free(sm);
}

struct port_work *sm_port_work(struct sm *sm, uint32_t port)
{
    while (sm->port_work.count <= port)
        vec_push(&sm->port_work, (struct port_work){0});
    return &sm->port_work.items[port];
}

struct node_work *sm_node_work(struct sm *sm, uint32_t node)
{
    while (sm->node_work.count <= node)
        vec_push(&sm->node_work, (struct node_work){0});
    return &sm->node_work.items[node];
}

void sm_say(struct sm *sm, enum sm_event_kind kind, const char *format, ...)
{
    struct sm_event event = {.kind = kind};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    vec_push(&sm->events, event);
}

void sm_reply(struct sm *sm, const struct sm_message *message)
{
    vec_push(&sm->replies, *message);
}

void sm_begin_change(struct sm *sm, uint64_t now, const char *format, ...)
{
    struct change *change = &sm->change;
    if (change->open || sm->state == SM_STANDBY)
        return; /* merged into the one under way; a standby only watches */
    *change = (struct change){.open = true, .since = now, .before = sm->counts};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(change->cause, sizeof change->cause, format, arguments);
    va_end(arguments);
    sm_say(sm, SM_EVENT_CHANGE, "%s", change->cause);
}

static void finish_change(struct sm *sm, uint64_t now)
{
    struct change *change = &sm->change;
    unsigned switches = 0, adapters = 0;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present) {
            (*(node_at(sm, i)->kind == SUBNET_SWITCH ? &switches : &adapters))++;
            sm_node_work(sm, i)->silences = 0;
        }
    /* A change that needed no new routes has no such phases. */
    uint64_t discovered = change->discovered ? change->discovered : now;
    uint64_t computed = change->computed ? change->computed : discovered;
    change->open = false;
    discovery_report_throttled(sm);
    if (sm->refused) {
        sm_say(sm, SM_EVENT_ERROR, "the subnet is not up: there are no routes for it as it is");
        return;
    }
    sm_say(sm, SM_EVENT_UP,
           "subnet up: %u switches, %u adapters; %s; %.3f ms (discovery %.3f, routes %.3f, "
           "distribution %.3f), %llu SMPs, %u blocks, %u port settings",
           switches, adapters, change->cause, (double)(now - change->since) / (double)NS_PER_MS,
           (double)(discovered - change->since) / (double)NS_PER_MS,
           (double)(computed - discovered) / (double)NS_PER_MS,
           (double)(now - computed) / (double)NS_PER_MS,
           (unsigned long long)(sm->counts.sent - change->before.sent), change->blocks,
           change->ports);
}

/* Whether its coming or going is news. That of a virtual machine's adapter is not: its hypervisor
 * was announced. */
static bool is_news(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = &sm->subnet.nodes.items[index];
    return node->present != sm_node_work(sm, index)->announced &&
           (node->kind == SUBNET_SWITCH ||
            subnet_socket_of(&sm->subnet, node->first_port + 1) == SUBNET_NONE);
}

/* One by one while people can follow, else how many. */
static void announce_nodes(struct sm *sm)
{
    enum { MANY = 100 };
    uint32_t counts[2][2] = {{0}}; /* adapters and switches, gone and in */
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (is_news(sm, i))
            counts[node_at(sm, i)->kind == SUBNET_SWITCH][node_at(sm, i)->present]++;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = &sm->subnet.nodes.items[i];
        bool in = node->present, is_switch = node->kind == SUBNET_SWITCH;
        if (!is_news(sm, i))
            continue;
        sm_node_work(sm, i)->announced = in;
        sm_node_work(sm, i)->described &= in;
        if (counts[0][in] + counts[1][in] < MANY)
            sm_say(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, "%s 0x%016llx \"%s\" %s",
                   is_switch ? "switch" : "adapter", (unsigned long long)node->guid,
                   node->description, in ? "is in" : "is gone");
    }
    for (unsigned in = 0; in < 2; in++)
        if (counts[0][in] + counts[1][in] >= MANY)
            sm_say(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, "%u switches and %u adapters %s",
                   counts[1][in], counts[0][in], in ? "are in" : "are gone");
}

/* A hybrid starts with the tables that are quick to have. */
static void plan_first(struct sm *sm)
{
    const struct engine *engine = sm->config.engine;
    if (engine->provisional)
        plan_routes(sm, engine->provisional, true);
    else
        plan_routes(sm, engine, false);
}

/* What lies behind a link that went is gone, or is reached another way. */
static void mind_ways(struct sm *sm, uint64_t now)
{
    if (!sm->ways_stale || sm->config.paper)
        return;
    sm->ways_stale = false;
    if (subnet_find_ways(&sm->subnet))
        transactions_cut(sm, now);
}

static void plan_anew(struct sm *sm, uint64_t now)
{
    distribute_abort(sm);
    subnet_find_ways(&sm->subnet);
    lids_assign(sm);
    announce_nodes(sm);
    sm->planned_generation = sm->subnet.generation;
    sm_begin_change(sm, now, "the topology changed");
    sm->change.discovered = now;
    if (!mirror_take_routes(sm))
        plan_first(sm);
    sm->stale = true; /* addresses and port settings need not wait for routes */
}

static void program_what_is_stale(struct sm *sm)
{
    if (!sm->stale)
        return;
    sm->stale = false;
    program_all(sm);
}

/* What is wanted besides routes follows from the topology and from what was asked for. */
void plan_services(struct sm *sm)
{
    if (sm->subnet.generation != sm->planned_generation || sm->config.paper)
        return;
    partitions_plan(sm);
    qos_plan(sm);
    blocks_program(sm);
}

/* Whether all that was wanted is there. */
static void conclude(struct sm *sm, uint64_t now)
{
    if (sm->computing || sm->distribution.stage != STAGE_IDLE)
        return;
    if (sm->current && !sm->tables_under_way && qos_is_settled(sm)) {
        plan_serve(sm);
        qos_serve(sm);
    }
    multicast_plan(sm, now); /* trees go by routes that are in force */
    blocks_program(sm);
    if (!transactions_idle(sm) || sm->subnet.generation != sm->planned_generation)
        return;
    if (sm->change.open && sm->current && sm->current->provisional) {
        plan_routes(sm, sm->config.engine, false); /* the final tables of a hybrid */
        return;
    }
    if (sm->change.open)
        finish_change(sm, now);
    mirror_end_change(sm);
}

static void advance(struct sm *sm, uint64_t now)
{
    mind_ways(sm, now);
    if (sm->discovering == 0 && discovery_continue(sm))
        return;
    if (sm->discovering == 0)
        mastership_discovered(sm, now);
    if (sm->state == SM_STANDBY)
        mirror_advance(sm, now);
    if (sm->state != SM_MASTER || sm->discovering)
        return;
    /* Not before every switch that can has said what it has to say. */
    if (sm->explore_all && sm->sweeping && now < sm->explore_at)
        return;
    if (sm->explore_all) {
        sm->explore_all = false;
        sm->planned_generation = 0;
        discovery_restart(sm);
        return;
    }
    /* The papers do one thing after the other: addresses are out before routes are computed. */
    bool outdated = sm->subnet.generation != sm->planned_generation;
    if (outdated && sm->config.paper && !transactions_idle(sm))
        return;
    if (outdated && !sm->computing && !sm->tables_under_way)
        plan_anew(sm, now);
    plan_services(sm);
    do { /* a wave may turn out to have nothing to write: nobody would wake us for the next */
        program_what_is_stale(sm);
        distribute_advance(sm, now);
    } while (sm->stale);
    conclude(sm, now);
    audit_advance(sm, now);
}

void sm_remember(struct sm *sm, const struct sm_fact *fact)
{
    map_set(&sm->remembered, fact->guid, (uint32_t)fact->lid << 3 | (fact->lmc & 7u));
}

void sm_start(struct sm *sm, uint64_t now)
{
    sm->token = (uint32_t)hash_mix(now ^ sm->guid) << 1; /* not that of an earlier run */
    /* The papers know one manager only, and it is master from the start. */
    mastership_become(sm, now, sm->config.paper ? SM_MASTER : SM_DISCOVERING, "started");
}

void sm_receive(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    uint64_t method = wire_get(message->mad, MAD_METHOD);
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    if (!mad_is_smp(message->mad))
        return;
    sm->act_count++;
    if ((method == METHOD_GET || method == METHOD_SET) && attribute == ATTRIBUTE_SM_INFO)
        mastership_receive(sm, now, message);
    else if (sm->state == SM_NOT_ACTIVE)
        return; /* until it is told to stand by */
    else if (method == METHOD_GET_RESP)
        transactions_receive(sm, now, message);
    else if (method == METHOD_TRAP && attribute == ATTRIBUTE_NOTICE)
        change_trap(sm, now, message);
    advance(sm, now);
}

void sm_expire(struct sm *sm, uint64_t now)
{
    transactions_expire(sm, now);
    mastership_expire(sm, now);
    mirror_expire(sm, now);
    if (sm->state == SM_MASTER && now >= sm->next_sweep) {
        mend_rebalance(sm, now);
        change_sweep(sm, now);
    }
    if (now >= sm->distribution.resume_at)
        sm->distribution.resume_at = TIME_NEVER; /* drained */
    advance(sm, now);
}

uint64_t sm_deadline(const struct sm *sm)
{
    uint64_t deadline = transactions_deadline(sm);
    if (sm->state == SM_STANDBY && sm->next_poll < deadline)
        deadline = sm->next_poll;
    if (sm->state == SM_MASTER && sm->next_sweep < deadline)
        deadline = sm->next_sweep;
    if (mirror_deadline(sm) < deadline)
        deadline = mirror_deadline(sm);
    if (sm->explore_all && !sm->discovering && sm->explore_at < deadline)
        deadline = sm->explore_at;
    if (sm->distribution.resume_at < deadline)
        deadline = sm->distribution.resume_at;
    if (sm->state == SM_MASTER && multicast_deadline(sm) < deadline)
        deadline = multicast_deadline(sm);
    if (sm->state == SM_MASTER && audit_deadline(sm) < deadline)
        deadline = audit_deadline(sm);
    return deadline;
}

/* Words before deeds: who hears of a change can tell which SMPs it cost. */
bool sm_next_output(struct sm *sm, uint64_t now, struct sm_output *output)
{
    if (sm->events_taken < sm->events.count) {
        output->kind = SM_EVENT;
        output->event = sm->events.items[sm->events_taken++];
        return true;
    }
    sm->events.count = sm->events_taken = 0;
    if (sm->replies_taken < sm->replies.count) {
        output->kind = SM_SEND;
        output->message = sm->replies.items[sm->replies_taken++];
        return true;
    }
    sm->replies.count = sm->replies_taken = 0;
    if (sm->job) {
        output->kind = SM_COMPUTE;
        output->job = sm->job;
        sm->job = NULL;
        return true;
    }
    if (transactions_next(sm, now, &output->message)) {
        output->kind = SM_SEND;
        return true;
    }
    if (sm->undeliverable) { /* requests came to an end without an input: see what follows */
        sm->undeliverable = false;
        advance(sm, now);
        return sm_next_output(sm, now, output);
    }
    if (sm->facts_taken < sm->facts.count) {
        output->kind = SM_PERSIST;
        output->fact = sm->facts.items[sm->facts_taken++];
        return true;
    }
    sm->facts.count = sm->facts_taken = 0;
    return false;
}

void sm_computed(struct sm *sm, uint64_t now, struct sm_job *job, const struct err *refusal)
{
    if (job->number != sm->awaited_job || (sm->state != SM_MASTER && sm->state != SM_STANDBY)) {
        sm_job_free(job); /* of a time that is over */
        return;
    }
    if (sm->state == SM_STANDBY) {
        mirror_checked(sm, job, !refusal);
        return;
    }
    sm->computing = false;
    sm->change.computed = now;
    if (refusal) {
        sm->refused = true;
        sm_say(sm, SM_EVENT_ERROR, "no routes, the old ones stay: %.200s", refusal->message);
        sm_job_free(job);
        hold_end(sm);
    } else if (job->optional && !mend_is_gain(sm, job)) {
        sm_job_free(job);
    } else {
        sm->refused = false;
        bool first = !sm->current && (job->has_before || job->adopt);
        plan_take_routes(sm, job);
        if (first)
            hold_inherit(sm);
    }
    advance(sm, now);
}

void sm_use_groups(struct sm *sm, const struct groups *groups)
{
    sm->groups = groups;
}

void sm_groups_changed(struct sm *sm, uint64_t now)
{
    advance(sm, now);
}

void sm_learns(struct sm *sm, bool learns)
{
    sm->learns = learns;
}

void sm_inherit(struct sm *sm, uint16_t master_lid)
{
    sm->heritage = master_lid;
}

void sm_ask_clients(struct sm *sm, uint64_t now)
{
    unsigned asked = 0;
    if (sm->asks_in == sm->masterships)
        return;
    sm->asks_in = sm->masterships;
    for (uint32_t port = 0; port < sm->port_work.count; port++)
        asked += sm->port_work.items[port].ask;
    if (asked)
        sm_say(sm, SM_EVENT_STATE, "clients of %u ports are asked to register again", asked);
    sm->stale = true;
    advance(sm, now);
}

void sm_ask_client(struct sm *sm, uint64_t now, uint64_t guid)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (sm->subnet.ports.items[port].guid == guid && subnet_is_end_port(&sm->subnet, port)) {
            sm_port_work(sm, port)->ask = true;
            program_port(sm, port);
        }
    advance(sm, now);
}

bool sm_master(const struct sm *sm, struct sm_master *master)
{
    if (sm->state != SM_STANDBY || sm->master_port == SUBNET_NONE)
        return false;
    const struct subnet_port *port = &sm->subnet.ports.items[sm->master_port];
    *master = (struct sm_master){.lid = (uint16_t)wire_get(port->info, PORT_INFO_LID)};
    return mirror_has_heard(sm, &master->weft) && master->lid != 0;
}

enum sm_state sm_state(const struct sm *sm)
{
    return sm->state;
}

uint32_t sm_act_count(const struct sm *sm)
{
    return mirror_act_count(sm);
}

const struct subnet *sm_subnet(const struct sm *sm)
{
    return &sm->subnet;
}

struct sm_paths sm_paths(const struct sm *sm)
{
    struct sm_paths paths = {.generation = sm->paths_generation};
    if (sm->serving && sm->state == SM_MASTER) {
        paths.network = &sm->serving->network;
        paths.routes = &sm->serving->routes;
        paths.job = sm->serving->number;
        paths.overlaid = sm->serving->options.user != NULL;
        paths.qos = &sm->service.served;
        paths.layout = sm->service.served_layout;
    }
    return paths;
}

bool sm_has_copy(const struct sm *sm)
{
    return sm->state == SM_STANDBY && sm->mirror.complete;
}

bool sm_is_settled(const struct sm *sm)
{
    return sm->state == SM_MASTER && !sm->change.open && !sm->computing && sm->discovering == 0 &&
           sm->subnet.generation == sm->planned_generation && sm->blocks_under_way == 0 &&
           multicast_is_settled(sm) && sm->partitioning.reading == 0 &&
           sm->functions_under_way == 0;
}

void sm_reroute(struct sm *sm, uint64_t now)
{
    if (sm->state != SM_MASTER)
        return;
    sm->planned_generation = 0;
    sm->afresh = true;
    sm_begin_change(sm, now, "asked to");
    advance(sm, now);
}

void sm_counts(const struct sm *sm, struct sm_counts *counts)
{
    *counts = sm->counts;
}
