/* A small fabric for the tests of src/host: two switches with two parallel links, two adapters.
 *
 *     A [1] --- [1] S0 [2] --- [2] S1 [1] --- [1] B
 *                  [3] ------- [3]
 */
#ifndef WEFT_TESTS_HOST_TWO_SWITCHES_H
#define WEFT_TESTS_HOST_TWO_SWITCHES_H

#include "base/time.h"
#include "fabric/fabric.h"
#include "host/mad/mad_layer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

struct two_switches {
    struct topology topology;
    struct fabric *fabric;
    uint32_t s0, s1, a, b; /* nodes */
};

static inline uint32_t two_switches_node(struct two_switches *world, enum node_kind kind,
                                         const char *name, unsigned ports)
{
    uint32_t node;
    struct err err;
    assert_int_equal(topology_add_node(&world->topology, kind, name, ports, 0, &node, &err), 0);
    return node;
}

static inline uint32_t two_switches_port(const struct two_switches *world, uint32_t node,
                                         unsigned number)
{
    return topology_port_index(&world->topology, node, number);
}

static inline void two_switches_link(struct two_switches *world, uint32_t a, unsigned a_port,
                                     uint32_t b, unsigned b_port)
{
    struct err err;
    assert_int_equal(topology_link(&world->topology, two_switches_port(world, a, a_port),
                                   two_switches_port(world, b, b_port), &err),
                     0);
}

static inline void two_switches_make(struct two_switches *world)
{
    struct fabric_options options;
    struct err err;
    topology_init(&world->topology);
    world->s0 = two_switches_node(world, NODE_SWITCH, "S0", 4);
    world->s1 = two_switches_node(world, NODE_SWITCH, "S1", 4);
    world->a = two_switches_node(world, NODE_ADAPTER, "A", 2);
    world->b = two_switches_node(world, NODE_ADAPTER, "B", 1);
    two_switches_link(world, world->a, 1, world->s0, 1);
    two_switches_link(world, world->s0, 2, world->s1, 2);
    two_switches_link(world, world->s0, 3, world->s1, 3);
    two_switches_link(world, world->b, 1, world->s1, 1);
    assert_int_equal(fabric_options_preset(&options, "today", &err), 0);
    world->fabric = fabric_new(&world->topology, &options, 1);
}

static inline void two_switches_end(struct two_switches *world)
{
    fabric_free(world->fabric);
    topology_release(&world->topology);
}

/* Runs the network until it is idle and passes deliveries to the layer. */
static inline void two_switches_run(struct two_switches *world, struct mad_layer *layer,
                                    uint64_t now)
{
    struct fabric_delivery delivery;
    bool more;
    do {
        more = fabric_run_network(world->fabric, TIME_NEVER);
        while (fabric_next_delivery(world->fabric, &delivery)) {
            mad_layer_deliver(layer, now, &delivery);
            more = true;
        }
    } while (more);
}

/* ---- MADs ---- */

struct sent_mad {
    struct mad_head head;
    uint8_t mad[MAD_BYTES];
};

static inline struct sent_mad make_mad(unsigned class, unsigned method, unsigned attribute,
                                       uint64_t tid)
{
    struct sent_mad sent = {.head = {.timeout_ms = 100}};
    wire_set(sent.mad, MAD_BASE_VERSION, 1);
    wire_set(sent.mad, MAD_CLASS, class);
    wire_set(sent.mad, MAD_CLASS_VERSION, class == CLASS_SUBN_ADM ? 2 : 1);
    wire_set(sent.mad, MAD_METHOD, method);
    wire_set(sent.mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(sent.mad, MAD_TID, tid);
    if (!mad_is_smp(sent.mad)) {
        sent.head.qpn = htonl(QP_GSI);
        sent.head.q_key = htonl(Q_KEY_GSI);
    }
    return sent;
}

/* A directed-route request along these ports; without ports, to the own node. */
static inline struct sent_mad make_smp(unsigned attribute, uint64_t tid, const uint8_t *path,
                                       unsigned hops)
{
    struct sent_mad sent = make_mad(CLASS_SUBN_DIRECTED, METHOD_GET, attribute, tid);
    sent.head.lid = htons(LID_PERMISSIVE);
    wire_set(sent.mad, SMP_HOP_COUNT, hops);
    wire_set(sent.mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(sent.mad, SMP_DR_DLID, LID_PERMISSIVE);
    for (unsigned i = 0; i < hops; i++)
        wire_set_at(sent.mad, SMP_INITIAL_PATH, i + 1, path[i]);
    return sent;
}

static inline size_t received_bytes(const struct mad_received *message)
{
    return message->head.length - sizeof message->head;
}

#endif
