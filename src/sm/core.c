/* Creation of a manager, its input and output, and the order in which its parts run.
 *
 * Every input ends in advance(): when discovery is complete, it advances the reconfiguration of a
 * master (reconfigure.c) or the copy of a standby (standby_copy.c). */
#include "routing/engines/engine_fallback.h"
#include "sm/admission.h"
#include "sm/discovery/discovery.h"
#include "sm/discovery/own_link.h"
#include "sm/discovery/sweeps.h"
#include "sm/discovery/traps.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/mastership/mastership.h"
#include "sm/mastership/mastership_table.h"
#include "sm/mastership/standby_copy.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/moves.h"
#include "sm/tables/multicast.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program.h"
#include "sm/tables/qos.h"
#include "sm/tables/reregister.h"
#include "sm/transactions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct sm_policy sm_policy_default = {
    .chases_losses = true,
    .short_drains = true,
    .reads_whole_nodes = true,
    .services = true,
    .keeps_old_entries = true,
};

static void limit_to_papers(struct sm_config *config)
{
    config->scope_full = true;
    config->repair = false;
    config->lid_route = false;
    config->copy_rate = 0;
    config->quiesce =
        false; /* sources are stopped by arbitration tables, which it does not write */
}

/* The manager of the papers that weft reproduces (ICPP 2003, SAN-2 2003, TPDS 2006).
 *
 * It works sequentially: explore everything, compute, write. It keeps no copy of another manager's
 * subnet: a standby that becomes master explores everything, and writes the end ports. Discovery
 * reads NodeInfo and PortInfo only, through every port except the one by which it reached a node.
 * End ports get LIDs in the order of discovery and are activated by the same Set. The switches have
 * tables of 1,024 entries, all of which are written whenever one changes; their ports are activated
 * one by one after that. There are no partitions, service levels, multicast groups or repairs. */
const struct sm_policy sm_policy_paper = {
    .limit = limit_to_papers,
    .sequential = true,
    .no_window = true,
    .fixed_timeouts = true,
    .probes_every_port = true,
    .ports_once = true,
    .whole_tables = true,
};

/* ---- output ---- */

struct outbox {
    VEC(struct sm_event) events;
    VEC(struct sm_message) urgent; /* answers to requests for SMInfo */
    VEC(struct sm_message) replies;
    VEC(struct sm_lid_fact) facts;
    size_t events_taken, urgent_taken, replies_taken, facts_taken;
    char *last_text; /* of the last event taken */
};

static void release_outbox(struct sm *sm)
{
    struct outbox *outbox = sm->outbox;
    for (size_t i = outbox->events_taken; i < outbox->events.count; i++)
        mem_free((char *)(uintptr_t)outbox->events.items[i].text);
    mem_free(outbox->last_text);
    vec_release(&sm->outbox->events);
    vec_release(&sm->outbox->urgent);
    vec_release(&sm->outbox->replies);
    vec_release(&sm->outbox->facts);
}

SM_PART(outbox, .release = release_outbox);

static void add_event(struct sm *sm, struct sm_event event, const char *format, va_list arguments)
{
    struct text text = {0};
    text_vprintf(&text, format, arguments);
    event.text = text.data;
    vec_push(&sm->outbox->events, event);
}

void sm_log_event(struct sm *sm, struct sm_event event, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_event(sm, event, format, arguments);
    va_end(arguments);
}

void sm_explain(struct sm *sm, enum log_part part, const char *format, ...)
{
    if (!sm_is_debugged(sm, part))
        return;
    va_list arguments;
    va_start(arguments, format);
    add_event(sm, (struct sm_event){.kind = SM_EVENT_DEBUG, .part = part, .at = SUBNET_NONE},
              format, arguments);
    va_end(arguments);
}

void sm_set_debug(struct sm *sm, uint32_t parts)
{
    sm->config.debug = parts;
}

/* Answers to SMInfo requests are sent first: a standby that waits too long for one takes over. */
void sm_reply(struct sm *sm, const struct sm_message *message)
{
    if (wire_get(message->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_SM_INFO)
        vec_push(&sm->outbox->urgent, *message);
    else
        vec_push(&sm->outbox->replies, *message);
}

void sm_persist(struct sm *sm, struct sm_lid_fact fact)
{
    assert(fact.guid && fact.lid);
    vec_push(&sm->outbox->facts, fact);
}

/* Whether the list has items that are not taken; if not, it is emptied. */
static bool is_waiting(size_t *count, size_t *taken)
{
    assert(*taken <= *count);
    if (*taken < *count)
        return true;
    *count = *taken = 0;
    return false;
}

/* ---- creation and release ---- */

static const struct sm_part *const parts[] = {
#define PART(name) &name##_part,
#include "sm/parts.def"
#undef PART
};
enum { PART_COUNT = sizeof parts / sizeof *parts };

struct sm *sm_new(const struct sm_config *config, uint64_t port_guid)
{
    assert(config->engine && config->policy);
    struct sm *sm = mem_zalloc(1, sizeof *sm);
    sm->config = *config;
    if (config->policy->limit)
        config->policy->limit(&sm->config);
    if (config->engine->renames && !config->lmc)
        sm->config.lmc = 2; /* engines that rename need several LIDs for each destination */
    sm->guid = port_guid;
    subnet_init(&sm->subnet);
    sm->subnet.names = config->names;
    sm->subnet.functions.dynamic = sm->config.dynamic_lids;
    sm->subnet.functions.lmc = sm->config.lmc;
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (parts[i]->bytes) {
            void *part = mem_zalloc(1, parts[i]->bytes);
            memcpy((char *)sm + parts[i]->offset, &part, sizeof part);
        }
        if (parts[i]->init)
            parts[i]->init(sm);
    }
    sm->config.qos = NULL; /* copied by init_qos_state() */
    return sm;
}

void sm_free(struct sm *sm)
{
    if (!sm)
        return;
    for (size_t i = PART_COUNT; i-- > 0;) {
        char *part = NULL;
        if (parts[i]->bytes)
            memcpy(&part, (char *)sm + parts[i]->offset, sizeof part);
        if (parts[i]->release)
            parts[i]->release(sm);
        if (!part)
            continue;
        for (const size_t *vector = parts[i]->vectors; *vector; vector++) {
            VEC(char) items;
            memcpy(&items, part + *vector - 1, sizeof items);
            vec_release(&items);
        }
        mem_free(part);
    }
    alias_plan_release(&sm->alias_plan);
    subnet_release(&sm->subnet);
    mem_free(sm);
}

void sm_drop_requests(struct sm *sm)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        if (parts[i]->requests_dropped)
            parts[i]->requests_dropped(sm);
}

static void advance(struct sm *sm);

static void reroute(struct sm *sm, enum plan_reason reason, enum sm_cause_kind cause)
{
    if (sm_state(sm) != SM_MASTER)
        return;
    reconfigure_request(sm, reason);
    sm_begin_change(sm, SM_CAUSE(cause, SUBNET_NONE));
    advance(sm);
}

/* Entries of addresses that move. */
static void write_moves(struct sm *sm)
{
    reconfigure_write_moves(sm);
    if (moves_take_reroute(sm))
        reroute(sm, REASON_OPERATOR, SM_CAUSE_MOVE);
}

static void advance(struct sm *sm)
{
    if (sm_own_link_is_down(sm))
        return;
    if (sm_state(sm) != SM_NOT_ACTIVE && faults_take_restart(sm)) {
        if (sm_state(sm) == SM_MASTER)
            reconfigure_request(sm, REASON_TOPOLOGY);
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_CONFUSED_GUIDS, SUBNET_NONE));
        discovery_restart(sm);
    }
    discovery_update_paths(sm);
    if (discovery_is_complete(sm) && discovery_continue(sm))
        return;
    if (sm_state(sm) == SM_DISCOVERING && discovery_is_complete(sm) && discovery_knows_itself(sm))
        mastership_complete_discovery(sm);
    if (sm_state(sm) == SM_STANDBY)
        standby_copy_advance(sm);
    if (sm_state(sm) != SM_MASTER || !discovery_is_complete(sm))
        return;
    reconfigure_advance(sm);
    audit_advance(sm);
    write_moves(sm);
}

void sm_start(struct sm *sm, uint64_t now)
{
    sm->now = now;
    standby_copy_start(sm);
    own_link_schedule(sm);
    mastership_handle(sm, sm->config.alone ? ON_START_AS_MASTER : ON_START);
}

void sm_stop(struct sm *sm, uint64_t now)
{
    sm->now = now;
    mastership_end(sm);
}

bool sm_hand_over(struct sm *sm, uint64_t now)
{
    sm->now = now;
    return !sm_own_link_is_down(sm) && mastership_yield(sm);
}

bool sm_write_moves(struct sm *sm, uint64_t now)
{
    sm->now = now;
    write_moves(sm);
    return moves_count(sm, true) > 0;
}

bool sm_receive(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    sm->now = now;
    uint64_t method = wire_get(message->mad, MAD_METHOD);
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    bool reported = false;
    if (!mad_is_smp(message->mad))
        return false;
    mastership_count_smp(sm);
    if ((method == METHOD_GET || method == METHOD_SET) && attribute == ATTRIBUTE_SM_INFO) {
        uint32_t origin = admission_origin(sm, message);
        /* The budget of a port is far above what managers and tools need. */
        if (origin != SUBNET_NONE && origin != sm->subnet.own_port &&
            !admission_take(sm, origin, ADMIT_SM_INFO))
            return false;
        mastership_receive(sm, message);
    } else if (sm_state(sm) == SM_NOT_ACTIVE) {
        return false; /* until a Set(SMInfo) enables it */
    } else if (method == METHOD_GET_RESP) {
        transactions_receive(sm, message);
    } else if (method == METHOD_TRAP && attribute == ATTRIBUTE_NOTICE) {
        reported = change_trap(sm, message);
        if (!reported)
            return false; /* the trap was ignored */
    }
    advance(sm);
    return reported;
}

/* Whether a part expires in the present state of the manager. */
static bool part_runs(const struct sm_part *part, bool link_is_up, bool is_master)
{
    return (part->while_down || link_is_up) && (!part->as_master || is_master);
}

void sm_expire(struct sm *sm, uint64_t now)
{
    sm->now = now;
    for (size_t i = 0; i < PART_COUNT; i++)
        if (parts[i]->expire &&
            part_runs(parts[i], !sm_own_link_is_down(sm), sm_state(sm) == SM_MASTER))
            parts[i]->expire(sm);
    advance(sm);
}

uint64_t sm_deadline(const struct sm *sm)
{
    bool link_is_up = !sm_own_link_is_down(sm), is_master = sm_state(sm) == SM_MASTER;
    uint64_t first = TIME_NEVER;
    for (size_t i = 0; i < PART_COUNT; i++)
        if (parts[i]->deadline && part_runs(parts[i], link_is_up, is_master))
            first = time_first(first, parts[i]->deadline(sm));
    return first;
}

/* Events come before requests, so that the owner can attribute these to a change. */
bool sm_next_output(struct sm *sm, uint64_t now, struct sm_output *output)
{
    sm->now = now;
    struct outbox *outbox = sm->outbox;
    mem_free(outbox->last_text);
    outbox->last_text = NULL;
    if (is_waiting(&outbox->urgent.count, &outbox->urgent_taken)) {
        output->kind = SM_SEND;
        output->message = outbox->urgent.items[outbox->urgent_taken++];
    } else if (is_waiting(&outbox->events.count, &outbox->events_taken)) {
        output->kind = SM_EVENT;
        output->event = outbox->events.items[outbox->events_taken++];
        outbox->last_text = (char *)(uintptr_t)output->event.text;
    } else if (is_waiting(&outbox->replies.count, &outbox->replies_taken)) {
        output->kind = SM_SEND;
        output->message = outbox->replies.items[outbox->replies_taken++];
    } else if ((output->job = plan_next_job(sm))) {
        output->kind = SM_COMPUTE;
    } else if (transactions_next(sm, &output->message)) {
        output->kind = SM_SEND;
    } else if (transactions_have_dropped(sm)) { /* some requests ended without input */
        advance(sm);
        return sm_next_output(sm, now, output);
    } else if (is_waiting(&outbox->facts.count, &outbox->facts_taken)) {
        output->kind = SM_PERSIST;
        output->fact = outbox->facts.items[outbox->facts_taken++];
    } else {
        return false;
    }
    return true;
}

void sm_computed(struct sm *sm, uint64_t now, struct sm_job *job, const struct err *refusal)
{
    sm->now = now;
    if (standby_copy_checked(sm, job, !refusal))
        return;
    if (reconfigure_computed(sm, job, refusal))
        advance(sm);
}

void sm_set_alias_guids(struct sm *sm, const struct alias_guids *aliases)
{
    sm->alias_guids = aliases;
}

void sm_registrations_changed(struct sm *sm, uint64_t now)
{
    sm->now = now;
    advance(sm);
}

void sm_reregister_clients(struct sm *sm, uint64_t now)
{
    sm->now = now;
    if (reregister_all(sm))
        advance(sm);
}

void sm_reregister_client(struct sm *sm, uint64_t now, uint64_t guid)
{
    sm->now = now;
    reregister_port(sm, guid);
    advance(sm);
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
        paths.qos = qos_served(sm, &paths.layout);
    }
    return paths;
}

bool sm_is_settled(const struct sm *sm)
{
    return sm_state(sm) == SM_MASTER && !sm_own_link_is_down(sm) && reconfigure_is_idle(sm) &&
           discovery_is_complete(sm) && !reconfigure_is_outdated(sm) &&
           !transactions_under_way(sm, GROUP_BLOCKS) && multicast_is_settled(sm) &&
           !transactions_under_way(sm, GROUP_KEYS) && sm->subnet.functions.writing == 0;
}

void sm_reroute(struct sm *sm, uint64_t now)
{
    sm->now = now;
    reroute(sm, REASON_OPERATOR, SM_CAUSE_REROUTE);
}

void sm_rediscover(struct sm *sm, uint64_t now)
{
    sm->now = now;
    bool master = sm_state(sm) == SM_MASTER;
    if ((!master && sm_state(sm) != SM_DISCOVERING) || sm_own_link_is_down(sm))
        return;
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_REDISCOVERY, SUBNET_NONE));
    if (master)
        reconfigure_request(sm, REASON_TOPOLOGY);
    discovery_restart(sm);
}

void sm_problems(struct sm *sm, uint64_t now, struct problems *problems)
{
    sm->now = now;
    for (size_t i = 0; i < PART_COUNT; i++)
        if (parts[i]->problems && (!parts[i]->as_master || sm_state(sm) == SM_MASTER))
            parts[i]->problems(sm, problems);
}

unsigned sm_exceptions(struct sm *sm, uint64_t now, struct text *first)
{
    struct problems problems = {0};
    unsigned count = 0;
    sm_problems(sm, now, &problems);
    for (size_t i = 0; i < problems.items.count; i++) {
        const struct problem *problem = &problems.items.items[i];
        bool incomplete = problem->kind == PROBLEM_DUPLICATE_GUID ||
                          problem->kind == PROBLEM_DEAD_AGENT ||
                          problem->kind == PROBLEM_REFUSED_TABLE;
        if (!incomplete || count++ || !first)
            continue;
        problem_put_place(problem, &sm->subnet, first);
        text_printf(first, ": %s", problem->text);
    }
    problems_release(&problems);
    return count;
}

static bool same_routes(const struct sm_config *a, const struct sm_config *b)
{
    /* Lists (user routes, roots, order, weights) are in the owner's memory and not compared: any
     * list counts as a difference. */
    return a->engine == b->engine && engine_list_same(&a->others, &b->others) &&
           a->engine_options.root == b->engine_options.root &&
           a->engine_options.root_count == b->engine_options.root_count &&
           a->engine_options.tree == b->engine_options.tree &&
           a->engine_options.father_seed == b->engine_options.father_seed &&
           !a->engine_options.root_count && !a->engine_options.user && !b->engine_options.user &&
           !a->engine_options.first && !b->engine_options.first && !a->engine_options.weights &&
           !b->engine_options.weights && a->engine_options.scatter == b->engine_options.scatter &&
           a->engine_options.port_shift == b->engine_options.port_shift &&
           a->engine_options.disjoint == b->engine_options.disjoint &&
           a->engine_options.max_vls == b->engine_options.max_vls &&
           a->engine_options.seed_balance == b->engine_options.seed_balance &&
           a->engine_options.allow_cycles == b->engine_options.allow_cycles &&
           a->engine_options.reversible == b->engine_options.reversible;
}

void sm_configure(struct sm *sm, uint64_t now, const struct sm_config *config)
{
    sm->now = now;
    bool other_levels = qos_configure(sm, config->qos);
    bool other_routes = !same_routes(&sm->config, config) || other_levels;
    bool other_sweep = sm->config.sweep_ns != config->sweep_ns;
    sm->config = *config;
    if (config->policy->limit)
        config->policy->limit(&sm->config);
    sm->config.qos = NULL; /* copied by qos_configure() */
    sm->subnet.names = config->names;
    sm->subnet.prefix_routes.rules = config->prefix_rules;
    partitions_rules_changed(sm);
    if (sm_state(sm) != SM_MASTER)
        return;
    if (other_sweep)
        sweep_schedule(sm);
    if (other_routes)
        reroute(sm, REASON_POLICY, SM_CAUSE_CONFIGURATION);
    plan_services(sm);
    program_all(sm); /* settings of ports may have changed */
}
