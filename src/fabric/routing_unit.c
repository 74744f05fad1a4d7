/* The routing unit of a switch: one look-up at a time for all its inputs, VL15 first, then the
 * lanes in turn (Fig. 7 of "Modeling InfiniBand with OPNET"); or one unit for each input, which
 * then never waits for others. Mapping and crossbar arbitration follow the look-up and hold up
 * nobody else. */
#include "fabric/internal.h"

#include <assert.h>

static uint32_t first_lane(const struct fabric *fabric, const struct relay *relay)
{
    return lane_of(fabric, relay->first_port, 0);
}

/* A virtual switch is part of an adapter and does not make a hop of it. */
static uint64_t look_up_ps(const struct fabric *fabric, const struct relay *relay)
{
    return relay->is_virtual ? fabric->options.vswitch_routing_ps : fabric->data->routing_ps;
}

static void grant(struct fabric *fabric, struct relay *relay, uint32_t lane)
{
    uint64_t now = des_now(fabric->network);
    relay->busy_until = now + look_up_ps(fabric, relay);
    relay->cursor = lane - first_lane(fabric, relay);
    des_post_lane(fabric->network, DELAY_CONNECT, relay->busy_until + fabric->data->connect_ps,
                  (struct event){EVENT_CONNECT, lane, relay->life});
}

static void wake_unit(struct fabric *fabric, struct relay *relay)
{
    if (relay->waking)
        return;
    relay->waking = true;
    des_post_lane(
        fabric->network, DELAY_UNIT, relay->busy_until,
        (struct event){EVENT_UNIT_FREE, (uint32_t)(relay - fabric->data->relays), relay->life});
}

/* The head of this lane is new. */
void unit_ask(struct fabric *fabric, struct relay *relay, uint32_t lane)
{
    struct input_lane *input = &fabric->data->inputs[lane];
    uint64_t now = des_now(fabric->network);
    assert(!input->asked && input->wanted == NOBODY);
    if (relay->linear) /* the look-up comes later, and its entry from far away */
        __builtin_prefetch(&relay->linear[parcel_at(fabric->data, input->queue.head)->dlid]);
    input->asked = true;
    input->copied = 0;
    if (!fabric->options.routing_shared) {
        des_post_lane(fabric->network, DELAY_CONNECT,
                      now + look_up_ps(fabric, relay) + fabric->data->connect_ps,
                      (struct event){EVENT_CONNECT, lane, relay->life});
    } else if (relay->busy_until <= now && !relay->waiting) {
        grant(fabric, relay, lane);
    } else {
        bitset_add(fabric->data->requests, lane);
        relay->waiting++;
        wake_unit(fabric, relay);
    }
}

/* The next lane of the node with a request, after the one served last. */
static uint32_t next_request(const struct fabric *fabric, const struct relay *relay)
{
    uint32_t first = first_lane(fabric, relay);
    uint32_t count = (relay->port_count + 1u) << fabric->data->lane_shift;
    for (uint32_t step = 1; step <= count; step++) {
        uint32_t lane = first + (relay->cursor + step) % count;
        uint64_t rest = fabric->data->requests[lane / 64] >> lane % 64;
        if (rest & 1)
            return lane;
        if (!rest) { /* on to the word's end, but not beyond the node's */
            uint32_t jump = 63 - lane % 64, to_end = first + count - 1 - lane;
            step += jump < to_end ? jump : to_end;
        }
    }
    return NOBODY;
}

void unit_free(struct fabric *fabric, uint32_t index, uint32_t life)
{
    struct relay *relay = &fabric->data->relays[index];
    if (life != relay->life)
        return;
    relay->waking = false;
    if (!relay->waiting)
        return;
    if (relay->busy_until > des_now(fabric->network)) { /* VL15 came first */
        wake_unit(fabric, relay);
        return;
    }
    uint32_t lane = next_request(fabric, relay);
    bitset_drop(fabric->data->requests, lane);
    relay->waiting--;
    grant(fabric, relay, lane);
    if (relay->waiting)
        wake_unit(fabric, relay);
}

uint64_t unit_route_management(struct fabric *fabric, uint32_t node)
{
    uint64_t look_up =
        fabric->nodes[node].sma.device ? fabric->options.vswitch_routing_ps : fabric->routing_ps;
    if (!fabric->data || !fabric->options.routing_shared)
        return look_up;
    struct relay *relay = &fabric->data->relays[node];
    uint64_t now = des_now(fabric->network);
    relay->busy_until = (relay->busy_until > now ? relay->busy_until : now) + look_up;
    return relay->busy_until - now;
}
