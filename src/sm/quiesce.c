/* Holding: sources wait while tables without a safe order are written.
 *
 * Where old and new tables cannot be mixed in any order (routing/update/make_plan.h), nothing may
 * be under way while the rest of them is written. Adapters can be told to wait without losing
 * anything: a lane that is in neither of a port's arbitration tables sends nothing (7.6.9), and
 * what is posted to it waits in its queue. So the lanes concerned are taken out of the tables of
 * every adapter, what is in the fabric drains, the tables go out, sources learn of the new routes,
 * and the lanes come back. Lanes that are not concerned go on all the while.
 *
 * What it leaves to chance: packets that an adapter had made and not sent are of the old service
 * level, and go by the new tables. They are few (a queue's worth for each source), and what a
 * switch does not get rid of in a packet's lifetime it drops.
 *
 * A manager that dies in between leaves sources that wait. A standby was told that a change had
 * begun, and anyone who starts on a fabric that somebody managed before cannot know: they read the
 * tables of all adapters (quiesce_find_inherited), in which a mark tells, or write them all anyway
 * where levels of service or lanes are theirs. Ports without arbitration tables cannot be held; if
 * there is one, the entries concerned are dropped first, as they are if `hold` is off. */
#include "sm/internal.h"

struct quiesce {
    uint16_t lanes;      /* of routes on which sources wait */
    uint32_t count;      /* of beginnings and ends */
    bool none_inherited; /* the last master was not in the middle of a change */
};

SM_PART(quiesce, NULL, NULL, NULL);

uint16_t quiesce_lanes(const struct sm *sm)
{
    return sm->quiesce->lanes;
}

uint32_t quiesce_count(const struct sm *sm)
{
    return sm->quiesce->count;
}

void quiesce_assume_none(struct sm *sm)
{
    sm->quiesce->none_inherited = true;
}

void quiesce_forget(struct sm *sm)
{
    sm->quiesce->lanes = 0;
    sm->quiesce->none_inherited = false;
}

static request_outcome source_arbitration_read;
static const struct request_kind get_source_arbitration = {
    .attribute = ATTRIBUTE_VL_ARBITRATION_TABLE,
    .answered = source_arbitration_read,
};

bool quiesce_is_possible(struct sm *sm, const char **why_not)
{
    *why_not = "hold is off";
    if (!sm->config.hold)
        return false;
    *why_not = "not every adapter has arbitration tables";
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (qos_is_source(sm, port) &&
            port_at(sm, port)->known && /* else it is a function without LID */
            !wire_get(port_at(sm, port)->info, PORT_INFO_VL_ARBITRATION_LOW_CAP))
            return false;
    return true;
}

bool quiesce_is_on(const struct sm *sm)
{
    return sm->quiesce->lanes != 0;
}

void quiesce_begin(struct sm *sm, uint16_t lanes)
{
    assert(lanes && sm_state(sm) == SM_MASTER);
    sm->quiesce->count += !quiesce_is_on(sm);
    sm->quiesce->lanes |= lanes;
    qos_want_sources(sm);
    blocks_program(sm);
}

void quiesce_end(struct sm *sm)
{
    if (!quiesce_is_on(sm))
        return;
    sm->quiesce->lanes = 0;
    sm->quiesce->count++;
    qos_want_sources(sm);
    blocks_program(sm);
}

bool quiesce_was_refused(struct sm *sm)
{
    const struct blocks *blocks = &sm->subnet.blocks;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        for (uint32_t row = BLOCKS_NONE;
             qos_is_source(sm, port) &&
             (row = blocks_next_of_port(blocks, port, row)) != BLOCKS_NONE;)
            if (blocks->rows.items[row].kind == BLOCK_ARBITRATION &&
                blocks->rows.items[row].refused)
                return true;
    return false;
}

void quiesce_find_inherited(struct sm *sm)
{
    bool written = qos_is_asked_for(sm) || plan_current(sm)->routes.vls > 1;
    if (!sm->config.hold || !sm->config.policy->services || sm->quiesce->none_inherited || written)
        return;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const uint8_t *info = port_at(sm, port)->info;
        if (!qos_is_source(sm, port) || !wire_get(info, PORT_INFO_VL_ARBITRATION_LOW_CAP))
            continue;
        sm_send(sm, &get_source_arbitration, (union request_subject){.port = port},
                subnet_end_port(&sm->subnet, port), 1u << 16 | port_at(sm, port)->number, NULL);
    }
}

static void source_arbitration_read(struct sm *sm, const struct request *request)
{
    if (qos_writes_sources(sm) ||
        wire_get_at(request->answer, VL_ARBITRATION_TABLE_VL, 0) != QUIESCE_MARK_VL ||
        wire_get_at(request->answer, VL_ARBITRATION_TABLE_WEIGHT, 0) != 0)
        return;
    sm_log(sm, SM_EVENT_WARNING, "sources were left waiting by the last manager: they go on");
    qos_want_sources(sm);
    blocks_program(sm);
}
