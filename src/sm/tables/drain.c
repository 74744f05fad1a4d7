/* Drains: how long packets that are in the fabric can stay there.
 *
 * A manager sees neither packets nor buffers. What it knows for certain is that a switch drops a
 * packet that it has kept for LifeTimeValue (18.2.5.4 and 14.2.5.4). So a packet that has `hops`
 * switches before it is gone after (hops + 1) such times. That holds with traffic, congestion and
 * deadlocks, and with any size of buffers; a switch that keeps a value of its own counts with that.
 *
 * While traffic runs, the lifetime has to be far longer than any wait for a port, and the drain is
 * as long: milliseconds. While all sources are stopped, only what is in the buffers is left, and a
 * switch needs no more than the time to send it all through its slowest port. Flow control limits
 * the buffer of a VL to 2048 credits of 64 bytes (7.9.4.3). So the manager shortens the lifetime of
 * packets in all switches to
 *
 *     4 * ports * VLs * 128 KiB / rate,
 *
 * rounded up to a value of LifeTimeValue. `ports` and `rate` (of the slowest port) are those of the
 * switch for which this is longest. The factor is for buffers at the inputs and at the outputs, and
 * for waiting until the next switch has sent as much. If even that is too short, because all
 * adapters send to one, packets are dropped: the drain never ends too early. When sources start,
 * the switches get the longer lifetime again. */
#include "sm/tables/drain.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/policy.h"
#include "sm/tables/quiesce.h"
#include "wire/link_rate.h"

enum { LIFE_LONGEST = 18 }; /* a second; values from 20 on mean unlimited */
#define LIFE_UNIT_NS UINT64_C(4096)

uint64_t drain_time(const struct sm *sm, unsigned hops)
{
    if (sm->config.drain_ns)
        return sm->config.drain_ns;
    uint64_t longest = quiesce_life_time(sm);
    for (size_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        uint64_t life = wire_get(node->switch_info, SWITCH_INFO_LIFE_TIME_VALUE);
        if (node->present && node->kind == SUBNET_SWITCH && life > longest)
            longest = life;
    }
    return (LIFE_UNIT_NS << (longest < LIFE_LONGEST ? longest : LIFE_LONGEST)) * (hops + 1u);
}

/* The time in which a switch sends all that the inputs of one VL can hold through its slowest port.
 */
static uint64_t time_to_empty(const struct sm *sm, const struct subnet_node *node)
{
    enum { BUFFER_BITS = 2048 * 64 * 8 };
    uint64_t ports = 0, slowest = UINT64_MAX;
    for (unsigned number = 1; number <= node->port_count; number++) {
        const struct subnet_port *port = port_at(sm, node->first_port + number);
        uint64_t rate = port->peer == SUBNET_NONE ? 0 : link_rate(port->info);
        ports += rate != 0;
        if (rate && rate < slowest)
            slowest = rate;
    }
    return ports * BUFFER_BITS * 1000 / slowest; /* rates are in Mb/s */
}

uint8_t drain_life_time(const struct sm *sm)
{
    const struct sm_job *job = plan_current(sm);
    uint64_t longest = 0;
    uint8_t life = 0;
    if (sm->config.drain_ns || !sm->config.policy->short_drains || !job)
        return sm->config.life_time;
    if (sm->config.drain_life_time != SM_DRAIN_LIFE_TIME_AUTO)
        return sm->config.drain_life_time < sm->config.life_time ? sm->config.drain_life_time
                                                                 : sm->config.life_time;
    for (size_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        uint64_t time = node->present && node->kind == SUBNET_SWITCH ? time_to_empty(sm, node) : 0;
        longest = time > longest ? time : longest;
    }
    while (life < sm->config.life_time && LIFE_UNIT_NS << life < 4 * longest * job->routes.vls)
        life++;
    return life;
}
