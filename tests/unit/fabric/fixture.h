/* A topology, its fabric, and a manager that has the topology and programs the fabric by SMPs. */
#ifndef WEFT_TESTS_FABRIC_FIXTURE_H
#define WEFT_TESTS_FABRIC_FIXTURE_H

#include "base/time.h"
#include "fabric/fabric.h"
#include "sma/sma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD_PORTS = 512 };

struct path {
    bool known;
    uint8_t hops, ports[SMP_MAX_HOPS + 1]; /* ports[1] … ports[hops] */
};

struct world {
    struct topology topology;
    struct fabric_options options;
    struct fabric *fabric;
    uint32_t manager;               /* the port where the manager sits */
    uint16_t lids[WORLD_PORTS];     /* of end ports, once brought up */
    struct path paths[WORLD_PORTS]; /* from the manager to end ports */
};

/* Building: nodes and links first, then the fabric with the options as they are then. */
void world_init(struct world *world); /* options: preset "today" */
uint32_t world_switch(struct world *world, unsigned ports);
uint32_t world_adapter(struct world *world, unsigned ports);
void world_link(struct world *world, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b);
void world_begin(struct world *world, uint64_t seed);
void world_end(struct world *world);
uint32_t world_port(const struct world *world, uint32_t node, unsigned port);

/* Paths from the manager's port, which is attached, to every end port. */
void world_find_paths(struct world *world, uint32_t manager);
/* Sets paths, LIDs from 1 (the manager) on, linear tables with shortest paths, and makes all links
 * Active; represses the resulting traps and clears PortStateChange. */
void world_bring_up(struct world *world, uint32_t manager);

/* manager H - 1 A 2 - 1 B 2 - target T; world_begin() is still to come. */
struct line {
    struct world world;
    uint32_t manager, a, b, target;
};
void line_init(struct line *line);

/* MADs. */
void mad_fill(uint8_t mad[MAD_BYTES], unsigned class, unsigned method, unsigned attribute,
              uint32_t modifier);
void mad_direct(uint8_t mad[MAD_BYTES], const struct path *path);
struct path path_of(unsigned hops, ...);
struct packet_header header_to(const struct world *world, const uint8_t *mad, uint16_t dlid);
/* Runs until something is delivered or nothing moves. */
bool world_take(struct world *world, struct fabric_delivery *delivery);
/* Sends and takes the next delivery; false if there is none. */
bool world_exchange(struct world *world, uint32_t from, uint16_t dlid, const uint8_t mad[MAD_BYTES],
                    struct fabric_delivery *answer);
/* A request of the manager along a path; returns the status of the response, or -1 for none. `data`
 * may be NULL for a Get. */
int world_ask(struct world *world, const struct path *path, unsigned method, unsigned attribute,
              uint32_t modifier, uint8_t *data);
/* The same for PortInfo: one field set, the others left alone. */
int world_set_port(struct world *world, const struct path *path, unsigned port,
                   enum wire_field field, uint64_t value);
/* To a node: its switch port 0, or an adapter's lowest port with a path. */
const struct path *world_path(const struct world *world, uint32_t node);
uint16_t world_lid(const struct world *world, uint32_t node);

/* manager - S1 - S2 - … - target, `switches` of them; each switch has port 1 towards the manager
 * and port 2 towards the target. */
struct chain {
    struct world world;
    uint32_t manager, target, switches[SMP_MAX_HOPS];
};
void chain_begin(struct chain *chain, unsigned switches);

/* What can be seen from outside. */
unsigned world_state(const struct world *world, uint32_t node, unsigned port);
unsigned world_physical(const struct world *world, uint32_t node, unsigned port);
uint64_t world_info(const struct world *world, uint32_t node, unsigned port, enum wire_field field);
uint64_t world_counter(const struct world *world, uint32_t node, unsigned port, unsigned counter);
struct fabric_totals world_totals(const struct world *world);
/* Runs until the network is idle, and drops all deliveries. */
void world_settle(struct world *world);

#endif
