/* A configured subnet and an SA, made from a generated topology without a manager: for tests, the
 * benchmark and the fuzz target. */
#ifndef WEFT_TESTS_SA_WORLD_H
#define WEFT_TESTS_SA_WORLD_H

#include "base/time.h"
#include "routing/engine/engine.h"
#include "sa/sa.h"
#include "topology/topology.h"
#include "wire/mad.h"

struct sa_world {
    struct topology topology;
    struct network network;
    struct routes routes;
    size_t hosts; /* of the topology */
    struct subnet *subnet;
    struct sa *sa;
    struct sa_view view;
    uint64_t now;
    /* The current query, and the last answer. */
    uint8_t query[MAD_BYTES];
    size_t query_bytes; /* MAD_BYTES by default */
    uint16_t from;      /* LID of the requester */
    struct sa_message answer;
};

struct sa_world_shape {
    const char *kind;
    const char *words[3];
    const struct engine *engine;
    uint8_t lmc;
    const struct sa_config *config; /* NULL: the defaults */
};

void world_open(struct sa_world *world, const struct sa_world_shape *shape);
void world_close(struct sa_world *world);
/* Restores all hosts and replaces the SA by a new one: the world is as world_open() made it. */
void world_reset(struct sa_world *world, const struct sa_config *config);

uint16_t world_lid(const struct sa_world *world, const char *name);  /* of a host's port 1 */
uint64_t world_guid(const struct sa_world *world, const char *name); /* of a host's port 1 */
/* The host that world_miss_hosts() removes first. */
const char *world_last_host(const struct sa_world *world);
struct subnet_port *world_port(struct sa_world *world, const char *name, unsigned number);
/* Updates the view of the SA, with a new generation of routes. */
void world_update_view(struct sa_world *world);
/* Removes the last so many hosts from the network, or restores them, and updates the view. */
void world_miss_hosts(struct sa_world *world, unsigned missing);

/* Begins a query of the requester (the first host by default) and returns its data. */
uint8_t *world_query(struct sa_world *world, unsigned method, unsigned attribute, uint64_t mask);
/* Sends the query. Returns the status of the answer; 0xFFFF: no answer. */
enum { NO_ANSWER = 0xFFFF };
unsigned world_send(struct sa_world *world);
/* The last answer. */
unsigned world_record_count(const struct sa_world *world);
const uint8_t *world_record(const struct sa_world *world, unsigned index);

#endif
