/* Quiesce: stops sources while tables without a safe order are written.
 *
 * Some old and new tables cannot be mixed in any order (routing/update/make_plan.h): the fabric
 * must be empty while they are written. A VL that is in neither of a port's arbitration tables
 * sends nothing (7.6.9), and its packets wait in the adapter. So the affected VLs are removed from
 * the arbitration tables of every adapter, the fabric drains, the tables are written, sources
 * switch to the new routes, and the VLs are restored. Other VLs are not stopped. If all VLs are,
 * the switches get a shorter lifetime of packets meanwhile, so that the drain is short (drain.c).
 *
 * One risk remains: packets that an adapter had queued have the old service level and follow the
 * new tables. They are few (one queue for each source), and the packet lifetime removes those that
 * block.
 *
 * A manager that fails during a quiesce leaves stopped sources. A standby may have missed the
 * change, and a manager that starts has no history. Both read the arbitration tables of all
 * adapters and look for a mark (quiesce_find_inherited), unless they write all these tables anyway.
 * Ports without arbitration tables cannot be quiesced. If there is one, or if `hold` is off, the
 * affected entries drop packets first. */
#include "sm/tables/quiesce.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/tables/blocks.h"
#include "sm/tables/drain.h"
#include "sm/tables/program.h"
#include "sm/tables/qos.h"
#include "sm/transactions.h"

struct quiesce {
    uint16_t vls;        /* VLs of routes that are quiesced */
    uint32_t count;      /* begins and ends so far */
    uint8_t life_time;   /* of packets in switches while all VLs are quiesced */
    bool none_inherited; /* the previous master left no source quiesced */
};

SM_PART(quiesce);

uint16_t quiesce_vls(const struct sm *sm)
{
    return sm->quiesce->vls;
}

/* While traffic continues on some VLs, packets may have to wait. */
uint8_t quiesce_life_time(const struct sm *sm)
{
    return sm->quiesce->vls == UINT16_MAX ? sm->quiesce->life_time : sm->config.life_time;
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
    sm->quiesce->vls = 0;
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
    if (!sm->config.quiesce)
        return false;
    *why_not = "not every adapter has arbitration tables";
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (qos_is_source(sm, port) &&
            port_at(sm, port)->known && /* else it is a virtual function without LID */
            !wire_get(port_at(sm, port)->info, PORT_INFO_VL_ARBITRATION_LOW_CAP))
            return false;
    return true;
}

bool quiesce_is_on(const struct sm *sm)
{
    return sm->quiesce->vls != 0;
}

void quiesce_begin(struct sm *sm, uint16_t vls)
{
    assert(vls && sm_state(sm) == SM_MASTER);
    sm->quiesce->count += !quiesce_is_on(sm);
    sm->quiesce->vls |= vls;
    sm->quiesce->life_time = drain_life_time(sm);
    qos_want_sources(sm);
    blocks_program(sm);
    program_schedule(sm);
}

void quiesce_end(struct sm *sm)
{
    if (!quiesce_is_on(sm))
        return;
    sm->quiesce->vls = 0;
    sm->quiesce->count++;
    qos_want_sources(sm);
    blocks_program(sm);
    program_schedule(sm);
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
    assert(sm_state(sm) == SM_MASTER && plan_current(sm));
    bool written = qos_is_asked_for(sm) || plan_current(sm)->routes.vls > 1;
    if (!sm->config.quiesce || !sm->config.policy->services || sm->quiesce->none_inherited ||
        written)
        return;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const uint8_t *info = port_at(sm, port)->info;
        if (!qos_is_source(sm, port) || !wire_get(info, PORT_INFO_VL_ARBITRATION_LOW_CAP))
            continue;
        sm_send(sm, &get_source_arbitration, (union request_subject){.port = port},
                subnet_end_port(&sm->subnet, port), 1u << 16 | port_at(sm, port)->number, NULL);
    }
}

/* The previous master may have begun a quiesce right before it failed. */
void quiesce_audit(struct sm *sm)
{
    sm->quiesce->none_inherited = false;
    quiesce_find_inherited(sm);
}

static void source_arbitration_read(struct sm *sm, const struct request *request)
{
    if (qos_writes_sources(sm) ||
        wire_get_at(request->answer, VL_ARBITRATION_TABLE_VL, 0) != QUIESCE_MARK_VL ||
        wire_get_at(request->answer, VL_ARBITRATION_TABLE_WEIGHT, 0) != 0)
        return;
    sm_log(sm, SM_EVENT_WARNING,
           "sources were left waiting by the previous manager: they are started");
    qos_want_sources(sm);
    blocks_program(sm);
}
