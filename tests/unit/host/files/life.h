/* An administration with its files, for the tests of what survives its end. Each start creates a
 * new one. Clients are hosts that join and leave one group. */
#ifndef WEFT_TESTS_HOST_DAEMON_LIFE_H
#define WEFT_TESTS_HOST_DAEMON_LIFE_H

#include "host/files/registrations.h"
#include "sa_world.h"

extern const uint8_t life_mgid[16];
extern const char *const life_hosts[];
enum { HOSTS = 6 };

struct life {
    struct sa_world world;
    struct event_log log;
    struct registrations registrations;
};

void life_start(struct life *life, const char *directory, uint64_t instance);
/* Ends without writing, as a killed process. */
void life_kill(struct life *life);
void life_send(struct life *life, const char *host, unsigned method, uint64_t mask);
unsigned life_answers(struct life *life);
void life_join(struct life *life, const char *host);
void life_leave(struct life *life, const char *host);
/* The members, one bit each. */
unsigned life_members(struct life *life);
void life_write_dump(struct life *life, const char *directory);

#endif
