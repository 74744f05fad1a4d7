/* A subnet that is up, with a subnet administration beside it: for tests, the benchmark and the
 * fuzz target. Everything is made from a generated topology; there is no manager. */
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
    size_t hosts; /* that the network has when none is missing */
    struct subnet *subnet;
    struct sa *sa;
    struct sa_view view;
    uint64_t now;
    /* the question that is being made, and the last answer */
    uint8_t question[MAD_BYTES];
    size_t question_bytes; /* MAD_BYTES unless a test has more to say */
    uint16_t from;         /* the LID that asks */
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

uint16_t world_lid(const struct sa_world *world, const char *name);  /* of a host's port 1 */
uint64_t world_guid(const struct sa_world *world, const char *name); /* of a host's port 1 */
struct subnet_port *world_port(struct sa_world *world, const char *name, unsigned number);
/* Shows the administration what is there now, as other routes. */
void world_look(struct sa_world *world);
/* Takes so many hosts, the last of the network, out of it, or puts them back; and looks. */
void world_miss_hosts(struct sa_world *world, unsigned missing);

/* A new question of the host that asks (the first one unless `from` says otherwise); returns its
 * data. */
uint8_t *world_question(struct sa_world *world, unsigned method, unsigned attribute, uint64_t mask);
/* Asks it and takes the answer: its status; 0xFFFF if there is none. */
enum { NO_ANSWER = 0xFFFF };
unsigned world_ask(struct sa_world *world);
/* Of the last answer. */
unsigned world_record_count(const struct sa_world *world);
const uint8_t *world_record(const struct sa_world *world, unsigned index);

#endif
