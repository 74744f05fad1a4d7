/* Registrations of clients, for tests of what keeps them: files and standbys. */
#ifndef WEFT_TESTS_SA_REGISTERING_H
#define WEFT_TESTS_SA_REGISTERING_H

#include "test.h"

#include <stdbool.h>

/* A standby is in sync: the answer to a client waits until the standby has the registration. */
extern bool registering_waits;

int open_registering(void **state);

void join(struct sa_world *world, unsigned group, const char *host);
void leave(struct sa_world *world, unsigned group, const char *host);
void service(struct sa_world *world, unsigned method, uint64_t id, uint32_t lease_s,
             const char *name);
void inform(struct sa_world *world, const char *host, unsigned trap, bool subscribe);
/* Sets or deletes an alias GUID in block 0. */
void alias(struct sa_world *world, unsigned method, const char *host, unsigned place,
           uint64_t guid);
/* Two groups of clients, one of partitions; two services, two subscriptions, two alias GUIDs, two
 * virtual machines, one of which is still to be removed at a place. */
void register_things(struct sa_world *world);
/* What is wanted of a virtual machine at a place. */
void machine(struct sa *sa, uint64_t guid, uint64_t place, enum machine_wish wish,
             const char *name);

/* An SA without registrations at the port with this GUID. */
struct sa *at_port(uint64_t instance, uint64_t guid, uint64_t sm_key);
struct sa *another(uint64_t instance);
struct sa_counts counts_of(const struct sa *sa);
/* The text of all registrations, without the line with the generations. */
struct text printed(const struct sa *sa);
bool same_registrations(const struct sa *a, const struct sa *b);

/* ---- standbys ---- */

enum { MASTER = 1, STANDBY = 3 };    /* LIDs */
extern uint8_t last_poll[MAD_BYTES]; /* of the standby */

/* Delivers messages until none is left. Returns the length of the longest to the standby. */
size_t talk(struct sa_world *world, struct sa *standby);
struct subnet_port *standby_port(struct sa_world *world);
struct sa *standby_with_key(struct sa_world *world, uint64_t sm_key);
struct sa *a_standby(struct sa_world *world);

#endif
