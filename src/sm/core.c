/* The manager's four verbs, and when which part gets its turn.
 *
 * Every input runs through the same end: advance() looks whether discovery has come to rest, and
 * lets the master's reconfiguration (reconfigure.c) or the standby's copy (standby_copy.c) go on.
 */
#include "sm/internal.h"

const struct sm_policy sm_policy_default = {
    .chases_losses = true,
    .short_drains = true,
    .reads_whole_nodes = true,
    .services = true,
    .keeps_old_entries = true,
};

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
        .copy_rate = 10000,
        .hold = true,
        .repair = true,
        .rebalance = 150,
        .part_enforce = SM_ENFORCE_BOTH,
        .policy = &sm_policy_default,
    };
}

struct sm *sm_new(const struct sm_config *config, uint64_t port_guid)
{
    struct sm *sm = mem_zalloc(1, sizeof *sm);
    sm->config = *config;
    if (config->policy->limit)
        config->policy->limit(&sm->config);
    if (config->engine->renames && !config->lmc)
        sm->config.lmc = 2; /* renamed destinations need more than one LID each */
    sm->guid = port_guid;
    subnet_init(&sm->subnet);
    sm->subnet.functions.dynamic = sm->config.dynamic_lids;
    sm->subnet.functions.lmc = sm->config.lmc;
    sm->outbox = outbox_new();
    sm->transactions = transactions_new();
    sm->mastership = mastership_new();
    sm->discovery = discovery_new();
    sm->sweeps = sweeps_new();
    sm->reconfigure = reconfigure_new();
    sm->report = report_new();
    sm->lids = lids_new();
    sm->plan = plan_new();
    sm->distribution = distribute_new();
    sm->program = program_new();
    sm->port_writer = program_ports_new();
    sm->reregister = reregister_new();
    sm->block_writer = blocks_new();
    sm->partitioning = partitions_new();
    sm->service = qos_new(config->qos);
    sm->hold = quiesce_new();
    sm->multicast = multicast_new();
    sm->standby_copy = standby_copy_new();
    sm->audit = audit_new();
    sm->config.qos = NULL; /* its owner's; was copied */
    return sm;
}

void sm_job_free(struct sm_job *job)
{
    if (!job)
        return;
    network_release(&job->network);
    routes_release(&job->routes);
    routes_release(&job->before);
    update_plan_release(&job->plan);
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
    mem_free(sm->audit);
    standby_copy_free(sm->standby_copy);
    multicast_free(sm->multicast);
    mem_free(sm->hold);
    qos_free(sm->service);
    partitions_free(sm->partitioning);
    mem_free(sm->block_writer);
    reregister_free(sm->reregister);
    program_ports_free(sm->port_writer);
    program_free(sm->program);
    mem_free(sm->distribution);
    plan_free(sm->plan);
    lids_free(sm->lids);
    report_free(sm->report);
    mem_free(sm->reconfigure);
    sweeps_free(sm->sweeps);
    discovery_free(sm->discovery);
    mastership_free(sm->mastership);
    transactions_free(sm->transactions);
    outbox_free(sm->outbox);
    subnet_release(&sm->subnet);
    mem_free(sm);
}

/* Nobody waits for any request any more. */
void sm_drop_requests(struct sm *sm)
{
    transactions_flush(sm);
    discovery_requests_dropped(sm);
    sweeps_requests_dropped(sm);
    standby_copy_requests_dropped(sm);
    audit_requests_dropped(sm);
    program_requests_dropped(sm);
    program_ports_requests_dropped(sm);
    blocks_requests_dropped(sm);
    functions_requests_dropped(sm);
    partitions_requests_dropped(sm);
    reconfigure_requests_dropped(sm);
}

static void advance(struct sm *sm, uint64_t now)
{
    discovery_update_paths(sm, now);
    if (discovery_is_complete(sm) && discovery_continue(sm, now))
        return;
    if (discovery_is_complete(sm))
        mastership_discovered(sm, now);
    if (sm_state(sm) == SM_STANDBY)
        standby_copy_advance(sm, now);
    if (sm_state(sm) != SM_MASTER || !discovery_is_complete(sm))
        return;
    reconfigure_advance(sm, now);
    audit_advance(sm, now);
}

void sm_start(struct sm *sm, uint64_t now)
{
    standby_copy_start(sm, now);
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
    else if (sm_state(sm) == SM_NOT_ACTIVE)
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
    standby_copy_expire(sm, now);
    if (sm_state(sm) == SM_MASTER && now >= sweep_deadline(sm)) {
        repair_job_rebalance(sm, now);
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
    if (sm_state(sm) == SM_MASTER && sweep_deadline(sm) < deadline)
        deadline = sweep_deadline(sm);
    if (standby_copy_deadline(sm) < deadline)
        deadline = standby_copy_deadline(sm);
    if (discovery_deadline(sm) < deadline)
        deadline = discovery_deadline(sm);
    if (distribute_deadline(sm) < deadline)
        deadline = distribute_deadline(sm);
    if (sm_state(sm) == SM_MASTER && multicast_deadline(sm) < deadline)
        deadline = multicast_deadline(sm);
    if (sm_state(sm) == SM_MASTER && audit_deadline(sm) < deadline)
        deadline = audit_deadline(sm);
    return deadline;
}

/* Words before deeds: who hears of a change can tell which SMPs it cost. */
bool sm_next_output(struct sm *sm, uint64_t now, struct sm_output *output)
{
    if (outbox_next_event(sm, output) || outbox_next_reply(sm, output))
        return true;
    output->job = plan_next_job(sm);
    if (output->job) {
        output->kind = SM_COMPUTE;
        return true;
    }
    if (transactions_next(sm, now, &output->message)) {
        output->kind = SM_SEND;
        return true;
    }
    if (transactions_have_dropped(sm)) { /* requests came to an end without an input */
        advance(sm, now);
        return sm_next_output(sm, now, output);
    }
    return outbox_next_fact(sm, output);
}

void sm_computed(struct sm *sm, uint64_t now, struct sm_job *job, const struct err *refusal)
{
    if (standby_copy_checked(sm, job, !refusal))
        return;
    if (reconfigure_computed(sm, now, job, refusal))
        advance(sm, now);
}

void sm_groups_changed(struct sm *sm, uint64_t now)
{
    advance(sm, now);
}

void sm_ask_clients(struct sm *sm, uint64_t now)
{
    if (reregister_ask_all(sm))
        advance(sm, now);
}

void sm_ask_client(struct sm *sm, uint64_t now, uint64_t guid)
{
    reregister_ask(sm, guid);
    advance(sm, now);
}

const struct subnet *sm_subnet(const struct sm *sm)
{
    return &sm->subnet;
}

struct sm_paths sm_paths(const struct sm *sm)
{
    struct sm_paths paths = {.generation = plan_paths_generation(sm)};
    if (plan_serving(sm) && sm_state(sm) == SM_MASTER) {
        paths.network = &plan_serving(sm)->network;
        paths.routes = &plan_serving(sm)->routes;
        paths.job = plan_serving(sm)->number;
        paths.overlaid = plan_serving(sm)->options.user != NULL;
        paths.qos = qos_served(sm, &paths.layout);
    }
    return paths;
}

bool sm_has_copy(const struct sm *sm)
{
    return sm_state(sm) == SM_STANDBY && standby_copy_is_complete(sm);
}

bool sm_is_settled(const struct sm *sm)
{
    return sm_state(sm) == SM_MASTER && reconfigure_phase(sm) == PHASE_IDLE &&
           discovery_is_complete(sm) && !reconfigure_is_outdated(sm) && blocks_are_answered(sm) &&
           multicast_is_settled(sm) && partitions_are_read(sm) && sm->subnet.functions.writing == 0;
}

static void reroute(struct sm *sm, uint64_t now, enum plan_reason reason)
{
    if (sm_state(sm) != SM_MASTER)
        return;
    reconfigure_request(sm, reason);
    sm_begin_change(sm, now, "asked to");
    advance(sm, now);
}

void sm_reroute(struct sm *sm, uint64_t now)
{
    reroute(sm, now, REASON_OPERATOR);
}

void sm_look_again(struct sm *sm, uint64_t now)
{
    if (sm_state(sm) != SM_MASTER)
        return;
    sm_begin_change(sm, now, "asked to look again");
    reconfigure_request(sm, REASON_TOPOLOGY);
    discovery_restart(sm);
}

static bool same_routes(const struct sm_config *a, const struct sm_config *b)
{
    /* User routes, roots, and who comes first or weighs more, are lists in the owner's memory:
     * other lists may hold the same, but that is not worth a comparison. */
    return a->engine == b->engine && engine_list_same(&a->others, &b->others) &&
           a->engine_options.root == b->engine_options.root &&
           a->engine_options.root_count == b->engine_options.root_count &&
           !a->engine_options.root_count && !a->engine_options.user && !b->engine_options.user &&
           !a->engine_options.first && !b->engine_options.first && !a->engine_options.weights &&
           !b->engine_options.weights && a->engine_options.scatter == b->engine_options.scatter &&
           a->engine_options.max_vls == b->engine_options.max_vls &&
           a->engine_options.seed_balance == b->engine_options.seed_balance &&
           a->engine_options.allow_cycles == b->engine_options.allow_cycles &&
           a->engine_options.reversible == b->engine_options.reversible;
}

void sm_configure(struct sm *sm, uint64_t now, const struct sm_config *config)
{
    bool other_levels = qos_configure(sm, config->qos);
    bool other_routes = !same_routes(&sm->config, config) || other_levels;
    bool other_sweep = sm->config.sweep_ns != config->sweep_ns;
    sm->config = *config;
    if (config->policy->limit)
        config->policy->limit(&sm->config);
    sm->config.qos = NULL; /* was copied */
    partitions_rules_changed(sm);
    if (sm_state(sm) != SM_MASTER)
        return;
    if (other_sweep)
        sweep_schedule(sm, now);
    if (other_routes)
        reroute(sm, now, REASON_POLICY);
    plan_services(sm);
    program_all(sm); /* time-outs and keys told to ports */
}
