/* Distribution: the order in which new tables are written (TPDS 2006; routing/update/make_plan.h).
 *
 * Modes:
 *
 *   ordered  Traffic continues. The waves of the plan are written one after the other; each is
 *            acknowledged before the next, with a drain (drain.c) where the plan has one. While
 *            entries without a safe order are written, and during a drain for which broken routes
 *            wait, sources are stopped (quiesce.c). Where that is impossible, entries without a
 *            safe order drop packets first, which loses traffic to their LIDs.
 *   static   Traffic is stopped at every switch port, all tables are written, traffic is started.
 *            This relies on agents that accept Set(PortState = Init).
 *   naive    All tables are written at once, as other managers do: safe only without traffic.
 *
 * If the switches have no tables yet, ordered mode writes all tables at once, too.
 *
 * Addresses of virtual machines that move have a plan each. Their waves are written together, while
 * traffic continues, in every mode; stuck entries drop packets first.
 *
 * program.c writes the difference between `wanted` and `actual`; this file decides when an entry
 * becomes wanted. The transition table is in reconfigure.c; the actions of its phases from WAVES to
 * START and of MOVE are here. */
#include "sm/tables/distribute.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/blocks.h"
#include "sm/tables/drain.h"
#include "sm/tables/moves.h"
#include "sm/tables/program.h"
#include "sm/tables/program_ports.h"
#include "sm/tables/qos.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"

#include <string.h>

static request_outcome state_ended, state_set, state_refused;
static const struct request_kind set_port_state = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .writes = true,
    .ended = state_ended,
    .answered = state_set,
    .refused = state_refused,
    .loses_contact = true,
};

struct distribution {
    struct table_writer tables;         /* of the plan of the current tables */
    uint32_t job;                       /* lower half of the job's number; 0: none */
    uint32_t pending;                   /* Sets of port states under way */
    uint64_t waves, drains, drained_ns; /* all since the manager started */
    uint64_t stopped;                   /* when all sources were last stopped; 0: never */
    VEC(struct table_update) moved;     /* scratch: entries of one wave of all moves */
    bool levels_in_use;                 /* sources use the plan's first service levels */
    bool quiesced_early; /* sources were stopped before the first wave: old tables drain */
    bool refusal_logged; /* logged since the manager started: an agent refuses a port state */
};

static struct subnet_tables *tables_of(struct sm *sm, uint32_t at)
{
    assert(at < plan_current(sm)->nodes.count);
    return node_at(sm, plan_current(sm)->nodes.items[at])->tables;
}

static void want_port(struct subnet_tables *tables, unsigned lid, uint8_t port)
{
    subnet_extend_tables(tables, lid + 1);
    tables->wanted[lid] = port;
    if (tables->wanted_end <= lid)
        tables->wanted_end = (uint16_t)(lid + 1);
}

/* Makes a range of the new table of a switch wanted; `drop`: entries that drop packets. */
static void want_range(struct sm *sm, const struct table_update *update, bool drop)
{
    struct subnet_tables *tables = tables_of(sm, update->at);
    const struct routes *routes = &plan_current(sm)->routes;
    for (unsigned lid = update->first_lid; lid < update->first_lid + update->lid_count; lid++)
        if (lid < LFT_ENTRIES)
            want_port(tables, lid, drop ? PORT_NONE : routes_port(routes, update->at, lid));
}

/* The entries of the new tables that a switch can hold. */
static unsigned table_length(const struct routes *routes)
{
    return routes->stride < LFT_ENTRIES ? routes->stride : LFT_ENTRIES;
}

/* A switch keeps its entries until their wave; unknown blocks are written at once. */
static void want_actual(struct sm *sm)
{
    const struct routes *routes = &plan_current(sm)->routes;
    unsigned length = table_length(routes);
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        struct subnet_tables *tables = tables_of(sm, at);
        uint32_t node = plan_current(sm)->nodes.items[at];
        uint64_t top = wire_get(node_at(sm, node)->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
        bool keeps = top > routes->top_lid && top < LFT_ENTRIES;
        tables->wanted_top = keeps ? (uint16_t)top : routes->top_lid;
        unsigned used = tables->wanted_end > length ? tables->wanted_end : length, end = used;
        subnet_extend_tables(tables, used > tables->wanted_top ? used : tables->wanted_top + 1u);
        for (unsigned first = 0; first < tables->length; first += LFT_BLOCK) {
            if (subnet_block_known(tables, first / LFT_BLOCK)) {
                memcpy(tables->wanted + first, tables->actual + first, LFT_BLOCK);
                end = first + LFT_BLOCK > end ? first + LFT_BLOCK : end;
            } else if (first < used) {
                for (unsigned i = first; i < first + LFT_BLOCK; i++)
                    tables->wanted[i] = routes_port(routes, at, i);
            }
        }
        tables->wanted_end = (uint16_t)end;
    }
}

bool distribute_drain_is_over(struct sm *sm, struct table_writer *writer, unsigned hops)
{
    if (!writer->drained)
        writer->resume_at = sm->now + drain_time(sm, hops);
    writer->drained = true;
    return sm->now >= writer->resume_at;
}

/* Waits for packets that pass at most `hops` switches; 0: the longest path. */
static void drain(struct sm *sm, uint32_t hops)
{
    struct table_writer *tables = &sm->distribution->tables;
    assert(!tables->resume_at && reconfigure_is_distributing(sm));
    if (!hops || !sm->config.policy->short_drains)
        hops = plan_current(sm)->result.longest;
    uint64_t time = drain_time(sm, hops);
    tables->resume_at = sm->now + time;
    tables->drained = true;
    sm->distribution->drains++;
    sm->distribution->drained_ns += time;
    sm_debug(sm, PART_DISTRIBUTION, "drain of %llu us: packets pass at most %u switches",
             (unsigned long long)time / NS_PER_US, hops);
}

void distribute_costs(const struct sm *sm, struct sm_change *costs)
{
    costs->waves = sm->distribution->waves;
    costs->drains = sm->distribution->drains;
    costs->drained_ns = sm->distribution->drained_ns;
    costs->stopped = sm->distribution->stopped;
}

uint64_t distribute_drained_ns(const struct sm *sm)
{
    return sm->distribution->drained_ns;
}

static void stop_sources(struct sm *sm, uint16_t vls, const char *why)
{
    sm_log(sm, SM_EVENT_CHANGE, "%s: sources wait", why);
    if (vls == UINT16_MAX)
        sm->distribution->stopped = sm->now;
    quiesce_begin(sm, vls);
}

/* Static: one Set to every port of every switch, to Init or to Active. */
static void set_all_ports(struct sm *sm, unsigned state)
{
    for (size_t i = 0; i < plan_current(sm)->nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, plan_current(sm)->nodes.items[i]);
        for (unsigned number = 1; node->present && number <= node->port_count; number++) {
            uint32_t port = node->first_port + number;
            const struct subnet_port *p = port_at(sm, port);
            if (!program_writes_ports_once(sm) && p->peer == SUBNET_NONE)
                continue;
            uint8_t info[SMP_DATA_BYTES];
            memcpy(info, p->info, sizeof info);
            wire_set(info, PORT_INFO_PORT_STATE, state);
            wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
            sm->distribution->pending++;
            sm_send(sm, &set_port_state,
                    (union request_subject){.state = {port, sm->distribution->job}},
                    node->first_port, sm_port_info_modifier(sm, port), info);
        }
    }
}

/* Ignores requests of an earlier distribution. */
static void state_ended(struct sm *sm, const struct request *request)
{
    if (request->about.state.distribution != sm->distribution->job)
        return;
    assert(sm->distribution->pending);
    sm->distribution->pending--;
}

static void state_set(struct sm *sm, const struct request *request)
{
    discovery_store_port(sm, request->about.state.port, request->answer);
}

/* Agents of one fabric usually all refuse, in every distribution: only the first one is logged. */
static void state_refused(struct sm *sm, const struct request *request)
{
    const struct subnet_port *port = port_at(sm, request->about.state.port);
    if (sm->distribution->refusal_logged ||
        wire_get(port->info, PORT_INFO_PORT_STATE) == PORT_STATE_DOWN)
        return;
    sm->distribution->refusal_logged = true;
    sm_log_at(sm, SM_EVENT_ERROR, request->about.state.port,
              "port %u of 0x%016llx refuses a port state (status 0x%x): 'mode static' needs agents "
              "that accept Init, and cannot stop traffic at this port (logged once)",
              port->number, (unsigned long long)node_at(sm, port->node)->guid, request->status);
}

/* ---- transitions (reconfigure.c) ---- */

enum reconfigure_event distribute_begin(struct sm *sm)
{
    struct distribution *d = sm->distribution;
    const struct sm_job *job = plan_current(sm);
    const char *why_not;
    assert(!d->pending && !transactions_under_way(sm, GROUP_TABLES));
    distribute_reset(sm);
    d->job = (uint32_t)job->number;
    sm_debug(sm, PART_DISTRIBUTION,
             "job %u: %zu waves with %u drains, %zu ranges without a safe order, %s", d->job,
             job->plan.waves.count, update_plan_drains(&job->plan), job->plan.stuck.count,
             job->mode == SM_STATIC                   ? "mode static"
             : job->mode != SM_ORDERED || !job->known ? "no tables to respect"
             : job->traffic == TRAFFIC_URGENT         ? "routes are broken: urgent"
                                                      : "traffic continues");
    if (job->mode == SM_STATIC)
        return EVENT_DECIDED_STOP;
    if (quiesce_is_on(sm)) /* by a distribution that was broken off */
        d->quiesced_early = true;
    else if (job->mode == SM_ORDERED && job->known)
        d->quiesced_early = job->traffic == TRAFFIC_URGENT && job->before.ports &&
                            quiesce_is_possible(sm, &why_not);
    else
        return EVENT_DECIDED_ALL;
    return d->quiesced_early ? EVENT_DECIDED_QUIESCE : EVENT_DECIDED_WAVES;
}

enum reconfigure_event distribute_write_wanted(struct sm *sm)
{
    program_schedule(sm);
    return EVENT_NONE;
}

enum reconfigure_event distribute_keep_tables(struct sm *sm)
{
    want_actual(sm);
    return distribute_write_wanted(sm);
}

enum reconfigure_event distribute_stop_ports(struct sm *sm)
{
    want_actual(sm);
    set_all_ports(sm, PORT_STATE_INIT);
    return distribute_write_wanted(sm);
}

enum reconfigure_event distribute_stop_all_sources(struct sm *sm)
{
    want_actual(sm);
    stop_sources(sm, UINT16_MAX,
                 quiesce_is_on(sm) ? "the last tables were not all written"
                                   : "routes are broken, and waves would take long");
    return distribute_write_wanted(sm);
}

enum reconfigure_event distribute_write_all(struct sm *sm)
{
    const struct routes *routes = &plan_current(sm)->routes;
    unsigned length = table_length(routes);
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        struct subnet_tables *tables = tables_of(sm, at);
        if (tables->wanted_end > length)
            memset(tables->wanted + length, PORT_NONE, tables->wanted_end - length);
        subnet_extend_tables(tables, length);
        memcpy(tables->wanted, routes_row(routes, at), length);
        tables->wanted_end = (uint16_t)length;
        tables->wanted_top = routes->top_lid;
    }
    bool all = sm->config.policy->whole_tables && plan_current(sm)->mode == SM_STATIC;
    for (uint32_t node = 0; all && node < sm->subnet.nodes.count; node++)
        discovery_forget_tables(sm, node); /* every block is written */
    return distribute_write_wanted(sm);
}

enum reconfigure_event distribute_next_wave(struct sm *sm)
{
    struct distribution *d = sm->distribution;
    const struct update_plan *plan = &plan_current(sm)->plan;
    const char *why_not;
    if (plan->first_levels && !d->levels_in_use) {
        d->levels_in_use = true;
        plan_use_first_levels(sm);
        drain(sm, plan->first_hops);
        return EVENT_NONE;
    }
    if (d->tables.wave < plan->waves.count && plan->waves.items[d->tables.wave].drain) {
        if (plan_current(sm)->traffic == TRAFFIC_URGENT && !quiesce_is_on(sm) &&
            quiesce_is_possible(sm, &why_not)) {
            stop_sources(sm, UINT16_MAX, "routes are broken, and packets in flight come first");
            return EVENT_NONE;
        }
        drain(sm, plan->waves.items[d->tables.wave].drain_hops);
        return EVENT_NONE;
    }
    return distribute_drained_wave(sm);
}

/* After the last wave, entries without a safe order and changes of service levels remain. */
enum reconfigure_event distribute_drained_wave(struct sm *sm)
{
    struct distribution *d = sm->distribution;
    const struct update_plan *plan = &plan_current(sm)->plan;
    const char *why_not;
    d->tables.drained = false;
    if (d->tables.wave < plan->waves.count) {
        const struct update_wave *wave = &plan->waves.items[d->tables.wave++];
        assert(wave->first + wave->count <= plan->updates.count);
        d->waves++;
        sm_debug(sm, PART_DISTRIBUTION, "wave %u of %zu: %u ranges%s", d->tables.wave,
                 plan->waves.count, wave->count, wave->drain ? ", after a drain" : "");
        for (uint32_t i = 0; i < wave->count; i++)
            want_range(sm, &plan->updates.items[wave->first + i], false);
        return distribute_write_wanted(sm);
    }
    if (plan->stuck.count || plan->stuck_vls)
        return quiesce_is_possible(sm, &why_not) ? EVENT_DECIDED_QUIESCE : EVENT_DECIDED_DROP;
    return quiesce_is_on(sm) ? EVENT_DECIDED_REST : EVENT_DECIDED_ALL;
}

/* Stops the VLs that carry packets without a safe order. */
enum reconfigure_event distribute_stop_sources(struct sm *sm)
{
    const struct update_plan *plan = &plan_current(sm)->plan;
    bool by_vl = plan_serving(sm) && plan_serving(sm)->routes.vls > 1;
    char text[80];
    snprintf(text, sizeof text, "%zu table ranges have no safe order", plan->stuck.count);
    stop_sources(sm, by_vl ? plan->stuck_vls : UINT16_MAX, text);
    return EVENT_NONE;
}

/* If sources cannot be stopped, or one refuses to. */
enum reconfigure_event distribute_drop_rest(struct sm *sm)
{
    const struct update_plan *plan = &plan_current(sm)->plan;
    const char *why;
    if (quiesce_is_possible(sm, &why))
        why = "an adapter refuses to be stopped";
    quiesce_end(sm);
    sm_log(sm, SM_EVENT_WARNING,
           "%zu table ranges have no safe order: their traffic is lost for a while (%s)",
           plan->stuck.count, why);
    sm->distribution->tables.drained = false;
    for (size_t i = 0; i < plan->stuck.count; i++)
        want_range(sm, &plan->stuck.items[i], true);
    return distribute_write_wanted(sm);
}

enum reconfigure_event distribute_drain(struct sm *sm)
{
    const struct sm_job *job = plan_current(sm);
    drain(sm, sm->distribution->quiesced_early ? job->result.longest_before : job->plan.stuck_hops);
    return EVENT_NONE;
}

enum reconfigure_event distribute_drain_quiesced(struct sm *sm)
{
    return quiesce_was_refused(sm) ? EVENT_DECIDED_DROP : distribute_drain(sm);
}

enum reconfigure_event distribute_check_quiesced(struct sm *sm)
{
    sm->distribution->tables.drained = false;
    return quiesce_was_refused(sm) ? EVENT_DECIDED_DROP : EVENT_DECIDED_ALL;
}

/* All tables are written, and the fabric is empty. */
enum reconfigure_event distribute_start_sources(struct sm *sm)
{
    assert(quiesce_is_on(sm) && !transactions_under_way(sm, GROUP_TABLES));
    plan_serve(sm);
    qos_serve(sm);
    quiesce_end(sm);
    return EVENT_NONE;
}

/* Unless ports are written once, program_ports.c makes these ports Active. */
enum reconfigure_event distribute_start_ports(struct sm *sm)
{
    if (!program_writes_ports_once(sm))
        return EVENT_CONFIRMED;
    set_all_ports(sm, PORT_STATE_ACTIVE);
    return distribute_write_wanted(sm);
}

/* ---- addresses that move ---- */

static void want_moved(struct sm *sm, const struct table_update *update, uint8_t port)
{
    struct subnet_tables *tables = tables_of(sm, update->at);
    plan_edit_entry(sm, update->at, update->first_lid, port);
    want_port(tables, update->first_lid, port);
    if (tables->wanted_top < update->first_lid)
        tables->wanted_top = update->first_lid;
    vec_push(&sm->distribution->moved, *update);
}

/* The next wave or drain of a move whose last wave is acknowledged. Stuck entries drop packets
 * first and are the last wave. */
static void continue_move(struct sm *sm, struct address_move *move)
{
    const struct update_plan *plan = &move->plan;
    struct table_writer *writer = &move->writer;
    bool stuck = writer->wave == plan->waves.count, drop = stuck && !writer->dropped;
    if (writer->wave == plan->waves.count + (plan->stuck.count > 0)) {
        moves_end(sm, move);
        return;
    }
    if (stuck ? !drop : plan->waves.items[writer->wave].drain) {
        bool begins = !writer->drained,
             over = distribute_drain_is_over(sm, writer, plan->stuck_hops);
        move->result.drains += begins;
        move->result.drained_ns += begins ? writer->resume_at - sm->now : 0;
        if (!over)
            return;
    }
    struct update_wave wave = {.count = (uint32_t)plan->stuck.count};
    if (!stuck)
        wave = plan->waves.items[writer->wave];
    for (uint32_t i = wave.first; i < wave.first + wave.count; i++)
        want_moved(sm, stuck ? &plan->stuck.items[i] : &plan->updates.items[i],
                   drop ? PORT_NONE : plan->ports.items[i]);
    writer->drained = false;
    writer->resume_at = 0;
    writer->dropped |= drop;
    writer->wave += !drop;
    move->result.waves += !drop;
}

/* One Set for all entries of a block. */
static void write_moved(struct sm *sm)
{
    struct distribution *d = sm->distribution;
    struct map blocks = {0};
    for (uint32_t i = 0; i < d->moved.count; i++) {
        const struct table_update *update = &d->moved.items[i];
        uint32_t block = update->first_lid / LFT_BLOCK;
        if (map_add(&blocks, (uint64_t)update->at << 10 | block, i) == i)
            program_block(sm, plan_current(sm)->nodes.items[update->at], block);
    }
    map_release(&blocks);
}

enum reconfigure_event distribute_moves(struct sm *sm)
{
    bool again;
    do { /* a move that is over may let others begin; an empty wave causes no answer */
        again = moves_plan(sm);
        if (transactions_under_way(sm, GROUP_TABLES))
            continue;
        struct address_move *move;
        sm->distribution->moved.count = 0;
        for (size_t i = 0; (move = moves_at(sm, i)); i++) {
            if (!moves_is_written(move))
                continue;
            continue_move(sm, move);
            again |= move->result.state != SM_MOVE_PENDING;
        }
        write_moved(sm);
        again |= sm->distribution->moved.count && !transactions_under_way(sm, GROUP_TABLES);
    } while (again);
    return moves_count(sm, false) ? EVENT_NONE : EVENT_MOVES_OVER;
}

/* ---- progress ---- */

enum reconfigure_event distribute_progress(struct sm *sm)
{
    const struct distribution *d = sm->distribution;
    enum sm_phase phase = reconfigure_phase(sm);
    if (d->pending || transactions_under_way(sm, GROUP_TABLES) || program_is_due(sm) ||
        d->tables.resume_at || (quiesce_is_on(sm) && !blocks_are_written(sm)) ||
        (phase == SM_PHASE_WAVES && program_links_rise(sm)))
        return EVENT_NONE;
    return d->tables.drained ? EVENT_DRAIN_OVER : EVENT_CONFIRMED;
}

/* That of the longest plan of the moves that are written. */
static struct sm_progress progress_of_moves(const struct sm *sm)
{
    struct sm_progress progress = {.phase = SM_PHASE_MOVE};
    const struct address_move *move;
    for (size_t i = 0; (move = moves_at(sm, i)); i++) {
        uint32_t waves = (uint32_t)(move->plan.waves.count + (move->plan.stuck.count > 0));
        if (!moves_is_written(move) || waves < progress.waves)
            continue;
        progress.wave = move->writer.wave;
        progress.waves = waves;
        progress.draining = move->writer.resume_at != 0;
    }
    return progress;
}

struct sm_progress sm_progress(const struct sm *sm)
{
    const struct distribution *d = sm->distribution;
    const struct sm_job *job = reconfigure_is_distributing(sm) ? plan_current(sm) : NULL;
    if (reconfigure_phase(sm) == SM_PHASE_MOVE)
        return progress_of_moves(sm);
    return (struct sm_progress){.phase = reconfigure_phase(sm),
                                .wave = job ? d->tables.wave : 0,
                                .waves = job ? (uint32_t)job->plan.waves.count : 0,
                                .draining = d->tables.resume_at != 0};
}

enum sm_table_progress sm_table_progress(const struct sm *sm, uint32_t node)
{
    const struct sm_job *job = reconfigure_is_distributing(sm) ? plan_current(sm) : NULL;
    const struct subnet_tables *tables = sm->subnet.nodes.items[node].tables;
    if (!job || !tables)
        return SM_TABLE_IN_FORCE;
    size_t at;
    lower_bound(at, job->nodes.count,
                job->nodes.items[at] < node); /* they are in ascending order */
    if (at == job->nodes.count || job->nodes.items[at] != node)
        return SM_TABLE_IN_FORCE;
    size_t entries = (size_t)job->routes.top_lid + 1;
    const uint8_t *row = routes_row(&job->routes, (uint32_t)at);
    if (tables->length < entries)
        return SM_TABLE_WAITS;
    if (memcmp(row, tables->actual, entries) == 0)
        return SM_TABLE_IN_FORCE;
    return memcmp(row, tables->wanted, entries) == 0 ? SM_TABLE_WRITTEN : SM_TABLE_WAITS;
}

bool distribute_has_written_waves(const struct sm *sm)
{
    return sm->distribution->tables.wave != 0;
}

static uint64_t distribute_deadline(const struct sm *sm)
{
    uint64_t first = sm->distribution->tables.resume_at;
    const struct address_move *move;
    for (size_t i = 0; (move = moves_at(sm, i)); i++)
        if (move->writer.resume_at && (!first || move->writer.resume_at < first))
            first = move->writer.resume_at;
    return first ? first : TIME_NEVER;
}

static void distribute_expire(struct sm *sm)
{
    struct table_writer *tables = &sm->distribution->tables;
    struct address_move *move;
    if (sm->now >= tables->resume_at)
        tables->resume_at = 0;
    for (size_t i = 0; (move = moves_at(sm, i)); i++)
        if (sm->now >= move->writer.resume_at)
            move->writer.resume_at = 0;
}

void distribute_reset(struct sm *sm)
{
    const struct distribution before = *sm->distribution;
    *sm->distribution = (struct distribution){.moved = before.moved,
                                              .waves = before.waves,
                                              .drains = before.drains,
                                              .drained_ns = before.drained_ns,
                                              .stopped = before.stopped,
                                              .refusal_logged = before.refusal_logged};
}

SM_PART(distribution, .vectors = {VECTOR(distribution, moved)}, .expire = distribute_expire,
        .deadline = distribute_deadline);
