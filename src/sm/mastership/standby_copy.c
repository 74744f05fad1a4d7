/* A standby's copy of the subnet, with which it takes over without writes and with few reads.
 *
 * A standby discovers the subnet itself, with Gets at a limited rate: nodes, links, port settings,
 * LIDs, tables. The ActCount in the master's SMInfo contains a token, which the master increments
 * when it begins to write (the token is odd then) and when a change ends (even). The standby reads
 * it in the answers to its polls; before the first Set of a change the master also sends it to
 * every other manager (a Get(SMInfo) carries the SMInfo of its sender). A copy is valid while the
 * token is even and unchanged; after each change of the token every node is read again.
 *
 * A standby that takes over reads SwitchInfo of each switch. It reads switches that report a change
 * and nodes that were not read under the last token; nothing else. The tables of the copy have been
 * checked before. If the token is odd, or the master is not a weft SM, discovery starts from
 * scratch.
 *
 * If a master fails during a change whose notice was lost, before the next poll, the copy is wrong
 * although its token is even. So the new master audits the copy: it reads all tables, one switch
 * after the other, at the rate of the copy. If a block differs, routes are planned from the tables
 * in the switches. The full sweep that belongs to the audit reads the ports. The audit also finds
 * sources that the failed master left quiesced.
 *
 * ActCount has 12 bits derived from the GUID, never 0, that identify a token; 12 bits of token; and
 * 8 bits that count SMPs, as the specification requires. */
#include "sm/mastership/standby_copy.h"
#include "base/rate_limit.h"
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/lids.h"
#include "sm/mastership/mastership.h"
#include "sm/mastership/neighbor.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/program.h"
#include "sm/tables/quiesce.h"
#include "sm/tables/random_table.h"
#include "sm/transactions.h"

#include <string.h>

enum {
    MARKS = 4095,
    TOKEN_SHIFT = 8,
    MARK_SHIFT = 20,
    TOKEN_MASK = 0xFFF,
    LEAST_RATE = 1000, /* SMPs a second, without a configured rate */
    BURST = 16,        /* SMPs sent in a row */
    CHANGE_MS = 20,    /* a change of the token lasts so long at least: standbys limit SMInfo */
    QUEUED_AHEAD = 32, /* queued requests above which no read of another node begins */
};

struct node_copy {
    uint32_t reading_token; /* token of the read that is under way; 0: none */
    uint32_t read_token;    /* token of the last complete read; 0: none */
};

struct audit {
    bool due; /* with the next sweep */
    bool running;
    uint32_t cursor;
    uint64_t next_at;
};

struct standby_copy {
    struct audit audit;          /* of a new master */
    uint64_t patience_ns;        /* see standby_copy_patience_ns() */
    uint32_t own_token;          /* of this manager as master */
    uint64_t announced_at;       /* the last change, to standbys; 0: there was none */
    uint64_t even_at;            /* when the token becomes even; TIME_NEVER: it stays as it is */
    VEC(struct node_copy) nodes; /* by node of the subnet */
    struct watched {             /* tokens: 0 is none */
        uint64_t master;         /* port GUID */
        uint32_t token;          /* last token of the master */
        uint32_t round;          /* the token under which nodes are read */
        uint32_t cursor;         /* the next node to be read */
        bool complete;
        bool answered;           /* the master has answered */
        struct sm_job *routes;   /* checked tables; NULL: none */
        uint64_t job;            /* number of the job that checks tables; 0: none */
        struct rate_window sent; /* SMPs: BURST in burst_ns() */
    } watched;
};

static void init_standby_copy(struct sm *sm)
{
    sm->standby_copy->patience_ns = sm->standby_copy->even_at = TIME_NEVER;
}

static void release_standby_copy(struct sm *sm)
{
    sm_job_free(sm->standby_copy->watched.routes);
    vec_release(&sm->standby_copy->nodes);
}

static void drop_standby_copy(struct sm *sm)
{
    sm->standby_copy->audit = (struct audit){0}; /* discovery reads the tables again */
    sm->standby_copy->patience_ns = TIME_NEVER;
    for (size_t i = 0; i < sm->standby_copy->nodes.count; i++)
        sm->standby_copy->nodes.items[i].reading_token = 0;
}

static struct node_copy *node_copy_at(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->standby_copy->nodes, node);
}

static uint32_t mark(uint64_t guid)
{
    return 1 + (uint32_t)(hash_mix(guid) % MARKS);
}

/* ---- master ---- */

void standby_copy_start(struct sm *sm)
{
    sm->standby_copy->own_token = (uint32_t)hash_mix(sm->now ^ sm->guid)
                                  << 1; /* differs from an earlier run */
}

uint32_t standby_copy_act_count_bits(const struct sm *sm)
{
    if (sm_state(sm) != SM_MASTER)
        return 0;
    return mark(sm->guid) << MARK_SHIFT | (sm->standby_copy->own_token & TOKEN_MASK) << TOKEN_SHIFT;
}

/* Many changes in a row, such as hosts that join groups, are one change of the token. */
static void standby_copy_expire(struct sm *sm)
{
    struct standby_copy *copy = sm->standby_copy;
    if (sm->now < copy->even_at)
        return;
    copy->even_at = TIME_NEVER;
    copy->own_token++;
}

void standby_copy_begin_change(struct sm *sm)
{
    struct standby_copy *copy = sm->standby_copy;
    copy->even_at = TIME_NEVER;
    if (sm_state(sm) != SM_MASTER || sm->config.alone || (copy->own_token & 1))
        return;
    copy->own_token++;
    copy->announced_at = 0;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        if (!port_at(sm, port)->manager || !node_at(sm, port_at(sm, port)->node)->present)
            continue;
        mastership_notify(sm, port);
        copy->announced_at = sm->now;
    }
}

void standby_copy_end_change(struct sm *sm)
{
    struct standby_copy *copy = sm->standby_copy;
    if (!(copy->own_token & 1))
        return;
    copy->even_at = copy->announced_at ? copy->announced_at + CHANGE_MS * NS_PER_MS : 0;
    standby_copy_expire(sm);
}

/* ---- standby ---- */

static bool token_is_even(uint32_t token)
{
    return token && !(token & 1);
}

void standby_copy_discard_routes(struct sm *sm)
{
    sm_job_free(sm->standby_copy->watched.routes);
    sm->standby_copy->watched.routes = NULL;
    sm->standby_copy->watched.job = 0; /* the result of a check that is under way is obsolete */
}

static void end_copy(struct sm *sm)
{
    standby_copy_discard_routes(sm);
    sm->standby_copy->watched = (struct watched){0};
    for (size_t i = 0; i < sm->standby_copy->nodes.count; i++)
        sm->standby_copy->nodes.items[i].read_token = 0;
}

bool standby_copy_master_answered(const struct sm *sm, bool *weft)
{
    *weft = sm->standby_copy->watched.token != 0;
    return sm->standby_copy->watched.answered;
}

void standby_copy_watch(struct sm *sm, uint64_t master)
{
    if (sm->standby_copy->watched.master != master)
        end_copy(sm);
    sm->standby_copy->watched.master = master;
}

void standby_copy_receive_info(struct sm *sm, const uint8_t *info)
{
    uint32_t count = (uint32_t)wire_get(info, SM_INFO_ACT_COUNT);
    /* Includes the identifying bits, so it is never 0 for a weft SM. */
    uint32_t token =
        count >> MARK_SHIFT == mark(wire_get(info, SM_INFO_GUID)) ? count >> TOKEN_SHIFT : 0;
    if (sm_state(sm) != SM_STANDBY || wire_get(info, SM_INFO_STATE) != SM_MASTER)
        return;
    sm->standby_copy->watched.answered = true;
    if (token != sm->standby_copy->watched.token) {
        standby_copy_discard_routes(sm);
        if (sm->standby_copy->watched.token)
            sm_drop_requests(sm); /* their answers are obsolete, and the master is busy */
        sm->standby_copy->watched.token = token;
        sm->standby_copy->watched.complete = false;
    }
    standby_copy_advance(sm);
}

static void read_whole(struct sm *sm, uint32_t node)
{
    standby_copy_node_reading(sm, node);
    discovery_forget_tables(sm, node);
    discovery_read_all(sm, node);
    standby_copy_node_read(sm, node); /* there may be nothing to read */
}

void standby_copy_node_reading(struct sm *sm, uint32_t node)
{
    *node_copy_at(sm, node) = (struct node_copy){.reading_token = sm->standby_copy->watched.round};
}

void standby_copy_node_unread(struct sm *sm, uint32_t node)
{
    node_copy_at(sm, node)->reading_token = 0;
}

bool sm_has_copy(const struct sm *sm)
{
    return sm_state(sm) == SM_STANDBY && sm->standby_copy->watched.complete;
}

void standby_copy_node_read(struct sm *sm, uint32_t node)
{
    struct node_copy *work = node_copy_at(sm, node);
    if (work->reading_token && node_at(sm, node)->present && !discovery_is_reading(sm, node))
        work->read_token = work->reading_token;
}

static bool is_behind(struct sm *sm, uint32_t node)
{
    return node_at(sm, node)->present &&
           node_copy_at(sm, node)->read_token != sm->standby_copy->watched.round;
}

void standby_copy_advance(struct sm *sm)
{
    struct watched *watched = &sm->standby_copy->watched;
    assert(sm_state(sm) == SM_STANDBY && watched->cursor <= sm->subnet.nodes.count);
    if (!sm->config.copy_rate || !token_is_even(watched->token) || watched->complete ||
        sm->subnet.own_port == SUBNET_NONE || neighbor_stands_by(sm))
        return;
    if (watched->round != watched->token) {
        watched->round = watched->token;
        watched->cursor = 0;
    }
    while (watched->cursor < sm->subnet.nodes.count && transactions_waiting(sm) < QUEUED_AHEAD) {
        if (is_behind(sm, watched->cursor))
            read_whole(sm, watched->cursor);
        watched->cursor++;
    }
    if (watched->cursor < sm->subnet.nodes.count || !discovery_is_complete(sm))
        return;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (is_behind(sm, node)) { /* it came back */
            watched->cursor = node;
            read_whole(sm, node);
            return;
        }
    /* Everything is read: takes the LIDs and has the tables checked. */
    watched->complete = true;
    subnet_find_paths(&sm->subnet);
    lids_assign(sm, true);
    const struct subnet_node_counts nodes = subnet_count_nodes(&sm->subnet);
    sm_log(sm, SM_EVENT_STATE, "standby, with a copy of %u switches and %u adapters",
           nodes.switches, nodes.adapters);
    if (!sm->config.engine->renames)
        watched->job = plan_routes(sm, sm->config.engine, false, REASON_TAKE_OVER);
}

bool standby_copy_checked(struct sm *sm, struct sm_job *job, bool right)
{
    if (job->number != sm->standby_copy->watched.job)
        return false;
    sm->standby_copy->watched.job = 0;
    if (right && job->generation == sm->subnet.generation)
        sm->standby_copy->watched.routes = job;
    else
        sm_job_free(job);
    return true;
}

/* ---- rate ---- */

/* A standby without a copy still sends some requests. */
static uint32_t copy_pace(const struct sm *sm)
{
    return sm->config.copy_rate ? sm->config.copy_rate : LEAST_RATE;
}

static uint64_t burst_ns(const struct sm *sm)
{
    return BURST * NS_PER_S / copy_pace(sm);
}

static bool burst_is_open(const struct sm *sm)
{
    const struct rate_window *sent = &sm->standby_copy->watched.sent;
    return sent->count < BURST || rate_window_is_over(sent, sm->now, burst_ns(sm));
}

bool standby_copy_may_send(struct sm *sm)
{
    if (sm_state(sm) != SM_STANDBY)
        return true;
    if (!burst_is_open(sm))
        return false;
    rate_window_add(&sm->standby_copy->watched.sent, sm->now, burst_ns(sm));
    return true;
}

/* ---- takeover ---- */

/* Whether a port was not read, or has a link but no known peer: the request was dropped with all
 * others. */
static bool has_gap(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    bool misses = false;
    for (unsigned number = 1; number <= n->port_count && n->present; number++) {
        const struct subnet_port *p = port_at(sm, n->first_port + number);
        misses |= discovery_has_unread_port(sm, n->first_port + number) ||
                  (p->known && p->peer == SUBNET_NONE && n->kind == SUBNET_SWITCH &&
                   !sm_is_avoiding_port(sm, n->first_port + number) &&
                   wire_get(p->info, PORT_INFO_PORT_STATE) > PORT_STATE_DOWN);
    }
    return misses;
}

void standby_copy_take_over(struct sm *sm)
{
    struct watched *watched = &sm->standby_copy->watched;
    if (!token_is_even(watched->token) || watched->round != watched->token ||
        faults_doubt_links(sm)) {
        discovery_restart(sm);
        sm->standby_copy->patience_ns = 2 * sm->config.timeout_ns; /* until the third time-out */
        return;
    }
    sm_drop_requests(sm);
    sm->standby_copy->patience_ns = sm->config.timeout_ns; /* until the second time-out */
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++) {
        if (is_behind(sm, node) || has_gap(sm, node))
            read_whole(sm, node);
        else if (node_at(sm, node)->present && node_at(sm, node)->kind == SUBNET_SWITCH)
            discovery_read_switch(sm, node);
    }
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        struct subnet_port *p = port_at(sm, port);
        port_at(sm, port)->rival = false;
        if (!node_at(sm, p->node)->present)
            continue;
        /* Virtual machines may have moved without a notice right before the master failed. */
        if (sm_is_avoiding_port(sm, port) || subnet_is_vf_port(&sm->subnet, port))
            discovery_read_port(sm, port);
        if (p->manager)
            mastership_query(sm, port);
    }
    discovery_read_port(sm, sm->subnet.own_port);
    sm->standby_copy->audit.due = true;
    quiesce_assume_none(sm); /* the audit looks for sources that were left quiesced */
}

uint64_t standby_copy_patience_ns(const struct sm *sm)
{
    return sm->standby_copy->patience_ns;
}

struct sm_job *standby_copy_take_routes(struct sm *sm)
{
    assert(sm_state(sm) == SM_MASTER);
    struct sm_job *routes = sm->standby_copy->watched.routes;
    bool fit = routes && routes->generation == sm->subnet.generation;
    sm->standby_copy->patience_ns = TIME_NEVER;
    if (fit)
        sm->standby_copy->watched.routes = NULL;
    end_copy(sm);
    return fit ? routes : NULL;
}

/* ---- audit ---- */

static request_outcome audit_block_read;
static const struct request_kind audit_block = {
    .attribute = ATTRIBUTE_LINEAR_FORWARDING_TABLE,
    .group = GROUP_AUDIT,
    .answered = audit_block_read,
};

bool audit_begin(struct sm *sm)
{
    if (!sm->standby_copy->audit.due)
        return false;
    assert(sm_state(sm) == SM_MASTER && !transactions_under_way(sm, GROUP_AUDIT));
    sm->standby_copy->audit = (struct audit){.running = true, .next_at = sm->now};
    if (plan_current(sm))
        quiesce_audit(sm);
    return true;
}

static uint64_t audit_deadline(const struct sm *sm)
{
    const struct audit *audit = &sm->standby_copy->audit;
    bool waits = audit->running && !transactions_under_way(sm, GROUP_AUDIT) && sm_is_settled(sm);
    return waits ? audit->next_at : TIME_NEVER;
}

void audit_advance(struct sm *sm)
{
    struct audit *audit = &sm->standby_copy->audit;
    if (sm->now < audit_deadline(sm))
        return;
    for (; audit->cursor < sm->subnet.nodes.count; audit->cursor++) {
        const struct subnet_node *node = node_at(sm, audit->cursor);
        if (!node->present || !node->tables || random_table_is_used(node))
            continue;
        assert(node->tables->wanted_top < LFT_ENTRIES);
        unsigned blocks = node->tables->wanted_top / LFT_BLOCK + 1u;
        for (unsigned block = 0; block < blocks; block++)
            sm_send(sm, &audit_block, (union request_subject){.table = {audit->cursor, block}},
                    node->first_port, block, NULL);
        audit->cursor++;
        audit->next_at = sm->now + blocks * NS_PER_S / copy_pace(sm);
        return;
    }
    audit->running = false;
}

static void audit_block_read(struct sm *sm, const struct request *request)
{
    uint32_t index = request->about.table.node, block = request->about.table.block;
    struct subnet_node *node = node_at(sm, index);
    const uint8_t *actual = node->tables->actual + block * LFT_BLOCK;
    if (!node->present || program_is_writing_tables(sm, index) ||
        !subnet_block_known(node->tables, block) || memcmp(actual, request->answer, LFT_BLOCK) == 0)
        return;
    discovery_store_block(sm, index, block, request->answer);
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_OTHER_TABLE, node->first_port));
    reconfigure_request(sm, REASON_TAKE_OVER); /* the tables may still be correct */
}

static uint64_t standby_copy_deadline(const struct sm *sm)
{
    uint64_t first = time_first(sm->standby_copy->even_at, audit_deadline(sm));
    if (sm_state(sm) == SM_STANDBY && transactions_waiting(sm) && !burst_is_open(sm))
        first = time_first(rate_window_end(&sm->standby_copy->watched.sent, burst_ns(sm)), first);
    return first;
}

SM_PART(standby_copy, .init = init_standby_copy, .release = release_standby_copy,
        .requests_dropped = drop_standby_copy, .expire = standby_copy_expire,
        .deadline = standby_copy_deadline);
