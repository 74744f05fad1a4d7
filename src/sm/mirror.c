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

static uint32_t mark(uint64_t guid)
{
    return 1 + (uint32_t)(hash_mix(guid) % MARKS);
}

/* ---- the master's side ---- */

uint32_t mirror_act_count(const struct sm *sm)
{
    uint32_t heartbeat = sm->act_count & 0xFF;
    if (sm->state != SM_MASTER)
        return heartbeat;
    return mark(sm->guid) << MARK_SHIFT | (sm->token & TOKEN_MASK) << TOKEN_SHIFT | heartbeat;
}

void mirror_begin_change(struct sm *sm)
{
    if (sm->state != SM_MASTER || sm->config.paper || (sm->token & 1))
        return;
    sm->token++;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (port_at(sm, port)->manager && node_at(sm, port_at(sm, port)->node)->present)
            mastership_notify(sm, port);
}

void mirror_end_change(struct sm *sm)
{
    if (sm->token & 1)
        sm->token++;
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
    sm_job_free(sm->mirror.routes);
    sm->mirror.routes = NULL;
    if (sm->state == SM_STANDBY) {
        sm->awaited_job = 0; /* nor are those wanted that are being checked */
        sm->computing = false;
    }
}

void mirror_spoil(struct sm *sm)
{
    if (sm->mirror.routes || sm->state == SM_STANDBY)
        drop_routes(sm);
}

void mirror_end(struct sm *sm)
{
    drop_routes(sm);
    sm->mirror = (struct mirror){0};
    for (size_t i = 0; i < sm->node_work.count; i++)
        sm->node_work.items[i].mirrored = 0;
}

bool mirror_has_heard(const struct sm *sm, bool *weft)
{
    *weft = sm->mirror.seen != 0;
    return sm->mirror.heard;
}

void mirror_watch(struct sm *sm, uint64_t master)
{
    if (sm->mirror.master != master)
        mirror_end(sm);
    sm->mirror.master = master;
}

void mirror_hear(struct sm *sm, uint64_t now, const uint8_t *info)
{
    uint32_t token = token_of(info);
    if (sm->state != SM_STANDBY || wire_get(info, SM_INFO_STATE) != SM_MASTER)
        return;
    sm->mirror.heard = true;
    if (token != sm->mirror.seen) {
        drop_routes(sm);
        if (sm->mirror.seen)
            transactions_flush(sm); /* what is asked for is out of date, and the master is busy */
        sm->mirror.seen = token;
        sm->mirror.complete = false;
    }
    mirror_advance(sm, now);
}

static void read_whole(struct sm *sm, uint32_t node)
{
    struct node_work *work = sm_node_work(sm, node);
    work->reads_for = sm->mirror.round;
    discovery_forget_tables(sm, node);
    discovery_read_all(sm, node);
    if (work->reading == 0)
        work->mirrored = work->reads_for; /* nothing to be read */
}

void mirror_meets(struct sm *sm, uint32_t node)
{
    sm_node_work(sm, node)->reads_for = sm->mirror.round;
}

void mirror_node_read(struct sm *sm, uint32_t node)
{
    struct node_work *work = sm_node_work(sm, node);
    if (work->reads_for && node_at(sm, node)->present)
        work->mirrored = work->reads_for;
}

static bool is_behind(struct sm *sm, uint32_t node)
{
    return node_at(sm, node)->present && sm_node_work(sm, node)->mirrored != sm->mirror.round;
}

/* All there is has been read: addresses are taken as they are, and the tables are checked. */
static void complete(struct sm *sm)
{
    unsigned switches = 0, adapters = 0;
    sm->mirror.complete = true;
    subnet_find_ways(&sm->subnet);
    lids_assign(sm);
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present)
            (*(node_at(sm, i)->kind == SUBNET_SWITCH ? &switches : &adapters))++;
    sm_say(sm, SM_EVENT_STATE, "standby, with a copy of %u switches and %u adapters", switches,
           adapters);
    if (!sm->config.engine->renames)
        plan_routes(sm, sm->config.engine, false);
}

void mirror_advance(struct sm *sm, uint64_t now)
{
    struct mirror *mirror = &sm->mirror;
    (void)now;
    if (!sm->config.mirror_rate || !is_quiet(mirror->seen) || mirror->complete ||
        sm->subnet.own_port == SUBNET_NONE)
        return;
    if (mirror->round != mirror->seen) {
        mirror->round = mirror->seen;
        mirror->cursor = 0;
    }
    while (mirror->cursor < sm->subnet.nodes.count &&
           transactions_waiting(sm, HASTE_NONE) < QUEUED_AHEAD) {
        if (is_behind(sm, mirror->cursor))
            read_whole(sm, mirror->cursor);
        mirror->cursor++;
    }
    if (mirror->cursor < sm->subnet.nodes.count || sm->discovering)
        return;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (is_behind(sm, node)) { /* it came back meanwhile */
            mirror->cursor = node;
            read_whole(sm, node);
            return;
        }
    complete(sm);
}

void mirror_checked(struct sm *sm, struct sm_job *job, bool right)
{
    sm->computing = false;
    if (right && job->generation == sm->subnet.generation)
        sm->mirror.routes = job;
    else
        sm_job_free(job);
}

/* ---- pace ---- */

/* A standby without a copy still has a question now and then. */
uint32_t mirror_pace(const struct sm *sm)
{
    return sm->config.mirror_rate ? sm->config.mirror_rate : LEAST_RATE;
}

bool mirror_may_send(struct sm *sm)
{
    if (sm->state != SM_STANDBY)
        return true;
    if (sm->mirror.burst == 0)
        return false;
    sm->mirror.burst--;
    return true;
}

uint64_t mirror_deadline(const struct sm *sm)
{
    bool waits = transactions_waiting(sm, HASTE_NONE) && sm->mirror.burst == 0;
    return sm->state == SM_STANDBY && waits ? sm->mirror.next_burst : TIME_NEVER;
}

void mirror_expire(struct sm *sm, uint64_t now)
{
    if (now < mirror_deadline(sm))
        return;
    sm->mirror.burst = BURST;
    sm->mirror.next_burst = now + BURST * NS_PER_S / mirror_pace(sm);
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
    struct mirror *mirror = &sm->mirror;
    if (!is_quiet(mirror->seen) || mirror->round != mirror->seen)
        return false;
    transactions_flush(sm);
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++) {
        if (is_behind(sm, node) || misses_somebody(sm, node))
            read_whole(sm, node);
        else if (node_at(sm, node)->present && node_at(sm, node)->kind == SUBNET_SWITCH)
            discovery_read_switch(sm, node);
    }
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        struct subnet_port *p = port_at(sm, port);
        p->rival = false;
        if (!node_at(sm, p->node)->present)
            continue;
        /* Machines may have moved right before the master's end, faster than it could say so. */
        if (sm_port_work(sm, port)->failures || subnet_is_socket(&sm->subnet, port))
            discovery_read_port(sm, port);
        if (p->manager)
            mastership_ask(sm, port);
    }
    discovery_read_port(sm, sm->subnet.own_port);
    sm->audit.due = true;
    sm->service.unheld = true;
    return true;
}

bool mirror_take_routes(struct sm *sm)
{
    struct sm_job *routes = sm->mirror.routes;
    bool fit = routes && routes->generation == sm->subnet.generation;
    if (fit) {
        sm->mirror.routes = NULL;
        sm->was_standby = false;
        plan_take_routes(sm, routes);
    }
    mirror_end(sm);
    return fit;
}
