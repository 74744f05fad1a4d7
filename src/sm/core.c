/* The manager's four verbs, and when which part gets its turn.
 *
 * Every input runs through the same end: advance() looks whether discovery has come to rest, and
 * lets the master's reconfiguration (reconfigure.c) or the standby's copy (mirror.c) go on. */
#include "sm/internal.h"

#include <stdarg.h>
#include <stdio.h>

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
    sm->guid = port_guid;
    sm->next_sweep = TIME_NEVER;
    sm->next_lid = 1;
    subnet_init(&sm->subnet);
    sm->subnet.functions.dynamic = sm->config.dynamic_lids;
    sm->subnet.functions.lmc = sm->config.lmc;
    sm->transactions = transactions_new();
    sm->reconfigure = reconfigure_new();
    sm->report = report_new();
    sm->distribution = distribute_new();
    sm->program = program_new();
    sm->mastership = mastership_new();
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
    standing_release(&job->standing);
    dependency_release(&job->checked);
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
    mastership_free(sm->mastership);
    partitions_release_work(sm);
    multicast_release(sm);
    vec_release(&sm->port_work);
    vec_release(&sm->node_work);
    vec_release(&sm->frontier);
    vec_release(&sm->replies);
    vec_release(&sm->events);
    vec_release(&sm->facts);
    map_release(&sm->remembered);
    sm_job_free(sm->job);
    mirror_end(sm);
    plan_drop(sm);
    qos_end(sm);
    program_free(sm->program);
    distribute_free(sm->distribution);
    report_free(sm->report);
    reconfigure_free(sm->reconfigure);
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

static void advance(struct sm *sm, uint64_t now)
{
    discovery_update_paths(sm, now);
    if (!sm->discovering && discovery_continue(sm, now))
        return;
    if (!sm->discovering)
        mastership_discovered(sm, now);
    if (sm->state == SM_STANDBY)
        mirror_advance(sm, now);
    if (sm->state != SM_MASTER || sm->discovering)
        return;
    reconfigure_advance(sm, now);
    audit_advance(sm, now);
}

void sm_remember(struct sm *sm, const struct sm_fact *fact)
{
    map_set(&sm->remembered, fact->guid, (uint32_t)fact->lid << 3 | (fact->lmc & 7u));
}

void sm_start(struct sm *sm, uint64_t now)
{
    sm->token = (uint32_t)hash_mix(now ^ sm->guid) << 1; /* not that of an earlier run */
    mastership_start(sm, now);
}

void sm_receive(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    uint64_t method = wire_get(message->mad, MAD_METHOD);
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    if (!mad_is_smp(message->mad))
        return;
    mastership_count_smp(sm);
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
    distribute_expire(sm, now);
    advance(sm, now);
}

uint64_t sm_deadline(const struct sm *sm)
{
    uint64_t deadline = transactions_deadline(sm);
    if (mastership_deadline(sm) < deadline)
        deadline = mastership_deadline(sm);
    if (sm->state == SM_MASTER && sm->next_sweep < deadline)
        deadline = sm->next_sweep;
    if (mirror_deadline(sm) < deadline)
        deadline = mirror_deadline(sm);
    if (discovery_deadline(sm) < deadline)
        deadline = discovery_deadline(sm);
    if (distribute_deadline(sm) < deadline)
        deadline = distribute_deadline(sm);
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
    if (mirror_checked(sm, job, !refusal))
        return;
    if (reconfigure_computed(sm, now, job, refusal))
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

void sm_inherit(struct sm *sm, uint16_t master_lid)
{
    sm->heritage = master_lid;
}

void sm_ask_clients(struct sm *sm, uint64_t now)
{
    unsigned asked = 0;
    if (sm->asks_in == mastership_number(sm))
        return;
    sm->asks_in = mastership_number(sm);
    for (uint32_t port = 0; port < sm->port_work.count; port++)
        asked += sm->port_work.items[port].ask;
    if (asked)
        sm_say(sm, SM_EVENT_STATE, "clients of %u ports are asked to register again", asked);
    program_schedule(sm);
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
    return sm->state == SM_MASTER && reconfigure_phase(sm) == PHASE_IDLE && sm->discovering == 0 &&
           !reconfigure_is_outdated(sm) && sm->blocks_under_way == 0 && multicast_is_settled(sm) &&
           sm->partitioning.reading == 0 && sm->subnet.functions.writing == 0;
}

void sm_reroute_for(struct sm *sm, uint64_t now, enum plan_reason reason)
{
    if (sm->state != SM_MASTER)
        return;
    reconfigure_request(sm, reason);
    sm_begin_change(sm, now, "asked to");
    advance(sm, now);
}

void sm_reroute(struct sm *sm, uint64_t now)
{
    sm_reroute_for(sm, now, REASON_OPERATOR);
}

void sm_counts(const struct sm *sm, struct sm_counts *counts)
{
    *counts = sm->counts;
}
