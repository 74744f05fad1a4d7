/* The standby's copy of the subnet, so that taking over rewrites nothing and reads next to nothing.
 *
 * While a standby watches its master it discovers by itself, with Gets alone and at a modest pace:
 * nodes, links, port settings, addresses, tables. How long the copy holds the master tells in
 * SMInfo: its ActCount carries a token that moves on when the master begins to write (it is odd
 * from then on) and when it has come to rest (even again). The standby hears of it in the answers
 * to its polls, and before the first Set of a change the master tells every other manager (a
 * Get(SMInfo) carries its sender's SMInfo). What was read under a token is right for as long as the
 * token is the same and even; after each move everything is read again, node by node.
 *
 * A standby that takes over asks each switch for its SwitchInfo. Whoever reports a change that the
 * master did not live to see, and whoever was not read under the last token, is read again; nothing
 * else is. Whether the tables deliver and cannot deadlock was checked beforehand. If the token is
 * odd, or the master's is not one of ours, discovery starts from scratch.
 *
 * A master that dies in the middle of a change, after its notice got lost and before the next poll,
 * leaves a copy behind that is wrong and looks right. So the new master has the copy audited when
 * it is up (audit.c).
 *
 * ActCount, from the top: 12 bits that follow from the GUID and are never 0, by which a token is
 * known for one; 12 bits of token; 8 bits that count SMPs, as the specification wants it. */
#include "sm/internal.h"

#include <assert.h>
#include <string.h>

enum {
    MARKS = 4095,
    TOKEN_SHIFT = 8,
    MARK_SHIFT = 20,
    TOKEN_MASK = 0xFFF,
    LEAST_RATE = 1000, /* SMPs a second */
    BURST = 16,        /* SMPs sent at once */
    QUEUED_AHEAD = 32, /* requests that wait before the next node is begun */
};

struct mirrored_node {
    uint32_t reads_for; /* the token under which all of it is being read; 0: none */
    uint32_t mirrored;  /* the token under which all of it was read; 0: none */
};

struct mirror {
    uint32_t own_token;              /* of this manager, as master */
    VEC(struct mirrored_node) nodes; /* beside the subnet's */
    struct watched {                 /* tokens are 0 where there is none */
        uint64_t master;             /* port GUID */
        uint32_t seen;               /* its token when last heard of */
        uint32_t round;              /* the token under which nodes are read */
        uint32_t cursor;             /* the next node to be read */
        bool complete;
        bool heard;            /* the master has answered */
        struct sm_job *routes; /* checked; NULL: not, or not right */
        uint64_t job;          /* number of the job that checks them; 0: none */
        uint32_t burst;        /* SMPs that may be sent before `next_burst` */
        uint64_t next_burst;
    } watched;
};

struct mirror *mirror_new(void)
{
    return mem_zalloc(1, sizeof(struct mirror));
}

void mirror_free(struct mirror *mirror)
{
    if (!mirror)
        return;
    sm_job_free(mirror->watched.routes);
    vec_release(&mirror->nodes);
    mem_free(mirror);
}

static struct mirrored_node *mirrored_at(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->mirror->nodes, node);
}

static uint32_t mark(uint64_t guid)
{
    return 1 + (uint32_t)(hash_mix(guid) % MARKS);
}

/* ---- the master's side ---- */

void mirror_start(struct sm *sm, uint64_t now)
{
    sm->mirror->own_token = (uint32_t)hash_mix(now ^ sm->guid)
                            << 1; /* not that of an earlier run */
}

uint32_t mirror_act_count_bits(const struct sm *sm)
{
    if (sm_state(sm) != SM_MASTER)
        return 0;
    return mark(sm->guid) << MARK_SHIFT | (sm->mirror->own_token & TOKEN_MASK) << TOKEN_SHIFT;
}

void mirror_begin_change(struct sm *sm)
{
    if (sm_state(sm) != SM_MASTER || sm->config.policy->alone || (sm->mirror->own_token & 1))
        return;
    sm->mirror->own_token++;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (port_at(sm, port)->manager && node_at(sm, port_at(sm, port)->node)->present)
            mastership_notify(sm, port);
}

void mirror_end_change(struct sm *sm)
{
    if (sm->mirror->own_token & 1)
        sm->mirror->own_token++;
}

/* ---- the standby's side ---- */

/* With the mark in it, so that it is never 0. */
static uint32_t token_of(const uint8_t *info)
{
    uint32_t count = (uint32_t)wire_get(info, SM_INFO_ACT_COUNT);
    return count >> MARK_SHIFT == mark(wire_get(info, SM_INFO_GUID)) ? count >> TOKEN_SHIFT : 0;
}

static bool is_quiet(uint32_t token)
{
    return token && !(token & 1);
}

static void drop_routes(struct sm *sm)
{
    sm_job_free(sm->mirror->watched.routes);
    sm->mirror->watched.routes = NULL;
    sm->mirror->watched.job = 0; /* nor are those wanted that are being checked */
}

void mirror_spoil(struct sm *sm)
{
    drop_routes(sm);
}

void mirror_end(struct sm *sm)
{
    drop_routes(sm);
    sm->mirror->watched = (struct watched){0};
    for (size_t i = 0; i < sm->mirror->nodes.count; i++)
        sm->mirror->nodes.items[i].mirrored = 0;
}

bool mirror_has_heard(const struct sm *sm, bool *weft)
{
    *weft = sm->mirror->watched.seen != 0;
    return sm->mirror->watched.heard;
}

void mirror_watch(struct sm *sm, uint64_t master)
{
    if (sm->mirror->watched.master != master)
        mirror_end(sm);
    sm->mirror->watched.master = master;
}

void mirror_hear(struct sm *sm, uint64_t now, const uint8_t *info)
{
    uint32_t token = token_of(info);
    if (sm_state(sm) != SM_STANDBY || wire_get(info, SM_INFO_STATE) != SM_MASTER)
        return;
    sm->mirror->watched.heard = true;
    if (token != sm->mirror->watched.seen) {
        drop_routes(sm);
        if (sm->mirror->watched.seen)
            sm_drop_requests(sm); /* what is asked for is out of date, and the master is busy */
        sm->mirror->watched.seen = token;
        sm->mirror->watched.complete = false;
    }
    mirror_advance(sm, now);
}

static void read_whole(struct sm *sm, uint32_t node)
{
    struct mirrored_node *work = mirrored_at(sm, node);
    work->reads_for = sm->mirror->watched.round;
    discovery_forget_tables(sm, node);
    discovery_read_all(sm, node);
    if (!discovery_is_reading(sm, node))
        work->mirrored = work->reads_for; /* nothing to be read */
}

void mirror_meets(struct sm *sm, uint32_t node)
{
    mirrored_at(sm, node)->reads_for = sm->mirror->watched.round;
}

void mirror_node_unread(struct sm *sm, uint32_t node)
{
    mirrored_at(sm, node)->reads_for = 0;
}

void mirror_requests_dropped(struct sm *sm)
{
    for (size_t i = 0; i < sm->mirror->nodes.count; i++)
        sm->mirror->nodes.items[i].reads_for = 0;
}

bool mirror_is_complete(const struct sm *sm)
{
    return sm->mirror->watched.complete;
}

void mirror_node_read(struct sm *sm, uint32_t node)
{
    struct mirrored_node *work = mirrored_at(sm, node);
    if (work->reads_for && node_at(sm, node)->present)
        work->mirrored = work->reads_for;
}

static bool is_behind(struct sm *sm, uint32_t node)
{
    return node_at(sm, node)->present &&
           mirrored_at(sm, node)->mirrored != sm->mirror->watched.round;
}

/* All there is has been read: addresses are taken as they are, and the tables are checked. */
static void complete(struct sm *sm)
{
    unsigned switches = 0, adapters = 0;
    assert(sm_state(sm) == SM_STANDBY && discovery_is_complete(sm));
    sm->mirror->watched.complete = true;
    subnet_find_ways(&sm->subnet);
    lids_assign(sm, true);
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present)
            (*(node_at(sm, i)->kind == SUBNET_SWITCH ? &switches : &adapters))++;
    sm_say(sm, SM_EVENT_STATE, "standby, with a copy of %u switches and %u adapters", switches,
           adapters);
    if (!sm->config.engine->renames)
        sm->mirror->watched.job = plan_routes(sm, sm->config.engine, false, REASON_TAKE_OVER);
}

void mirror_advance(struct sm *sm, uint64_t now)
{
    struct watched *watched = &sm->mirror->watched;
    (void)now;
    if (!sm->config.mirror_rate || !is_quiet(watched->seen) || watched->complete ||
        sm->subnet.own_port == SUBNET_NONE)
        return;
    if (watched->round != watched->seen) {
        watched->round = watched->seen;
        watched->cursor = 0;
    }
    while (watched->cursor < sm->subnet.nodes.count &&
           transactions_waiting(sm, HASTE_NONE) < QUEUED_AHEAD) {
        if (is_behind(sm, watched->cursor))
            read_whole(sm, watched->cursor);
        watched->cursor++;
    }
    if (watched->cursor < sm->subnet.nodes.count || !discovery_is_complete(sm))
        return;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (is_behind(sm, node)) { /* it came back meanwhile */
            watched->cursor = node;
            read_whole(sm, node);
            return;
        }
    complete(sm);
}

bool mirror_checked(struct sm *sm, struct sm_job *job, bool right)
{
    if (job->number != sm->mirror->watched.job)
        return false;
    sm->mirror->watched.job = 0;
    if (right && job->generation == sm->subnet.generation)
        sm->mirror->watched.routes = job;
    else
        sm_job_free(job);
    return true;
}

/* ---- pace ---- */

/* A standby without a copy still has a question now and then. */
uint32_t mirror_pace(const struct sm *sm)
{
    return sm->config.mirror_rate ? sm->config.mirror_rate : LEAST_RATE;
}

bool mirror_may_send(struct sm *sm)
{
    if (sm_state(sm) != SM_STANDBY)
        return true;
    if (sm->mirror->watched.burst == 0)
        return false;
    sm->mirror->watched.burst--;
    return true;
}

uint64_t mirror_deadline(const struct sm *sm)
{
    bool waits = transactions_waiting(sm, HASTE_NONE) && sm->mirror->watched.burst == 0;
    return sm_state(sm) == SM_STANDBY && waits ? sm->mirror->watched.next_burst : TIME_NEVER;
}

void mirror_expire(struct sm *sm, uint64_t now)
{
    if (now < mirror_deadline(sm))
        return;
    sm->mirror->watched.burst = BURST;
    sm->mirror->watched.next_burst = now + BURST * NS_PER_S / mirror_pace(sm);
}

/* ---- taking over ---- */

/* A link that is up and leads nowhere: whoever is there had been asked, and the question was
 * dropped with all others. */
static bool misses_somebody(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    bool misses = false;
    for (unsigned number = 1; number <= n->port_count && n->present; number++) {
        const struct subnet_port *p = port_at(sm, n->first_port + number);
        misses |= p->known && p->peer == SUBNET_NONE && n->kind == SUBNET_SWITCH &&
                  wire_get(p->info, PORT_INFO_PORT_STATE) > PORT_STATE_DOWN;
    }
    return misses;
}

bool mirror_take_over(struct sm *sm)
{
    struct watched *watched = &sm->mirror->watched;
    if (!is_quiet(watched->seen) || watched->round != watched->seen)
        return false;
    sm_drop_requests(sm);
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++) {
        if (is_behind(sm, node) || misses_somebody(sm, node))
            read_whole(sm, node);
        else if (node_at(sm, node)->present && node_at(sm, node)->kind == SUBNET_SWITCH)
            discovery_read_switch(sm, node);
    }
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        struct subnet_port *p = port_at(sm, port);
        mastership_forget_rival(sm, port);
        if (!node_at(sm, p->node)->present)
            continue;
        /* Machines may have moved right before the master's end, faster than it could say so. */
        if (discovery_avoids_port(sm, port) || subnet_is_socket(&sm->subnet, port))
            discovery_read_port(sm, port);
        if (p->manager)
            mastership_ask(sm, port);
    }
    discovery_read_port(sm, sm->subnet.own_port);
    audit_request(sm);
    hold_assume_none(sm);
    return true;
}

struct sm_job *mirror_take_routes(struct sm *sm)
{
    struct sm_job *routes = sm->mirror->watched.routes;
    bool fit = routes && routes->generation == sm->subnet.generation;
    if (fit)
        sm->mirror->watched.routes = NULL;
    mirror_end(sm);
    return fit ? routes : NULL;
}
