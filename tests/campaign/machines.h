/* machines.c executes random operations; machines_checks.c knows where machines are, and checks
 * what must hold after each operation. */
#ifndef WEFT_TESTS_CAMPAIGN_MACHINES_H
#define WEFT_TESTS_CAMPAIGN_MACHINES_H

#include "machines_traffic.h"
#include "vswitch_world.h"

#include "base/rng.h"

enum { MACHINES = 24, VFS = 3, LOSS_PERCENT = 2 };

struct machine {
    char name[16];
    unsigned lid;   /* 0: it should not be */
    uint32_t place; /* vSwitch of the topology */
    uint32_t told;  /* the place of the last answer; TOPOLOGY_NONE: a request got none */
};

/* A request on its way. */
struct order {
    struct machine *machine;
    uint64_t ticket; /* 0: there is none */
    uint32_t from;   /* port that the machine was at */
    bool begun, resumed, over;
};

struct run {
    struct world world;
    struct watch *watch;
    struct rng rng;
    struct sm_config config;
    struct machine machines[MACHINES];
    unsigned manager, hypervisors;
    uint32_t manager_port;
    uint64_t operation;
    const char *kind;        /* of operation */
    bool counts_only;        /* what is found does not end the test */
    struct order unfinished; /* whose end nobody waits for */
    uint16_t *lids;          /* by port of the topology: of everybody but functions */
    uint32_t renumbered;     /* vSwitch whose functions got new LIDs; or TOPOLOGY_NONE */
};

unsigned below(struct run *run, unsigned bound);
void complain(const struct run *run, const char *what);
void pass(struct run *run, uint64_t time);
uint32_t hypervisor(const struct run *run, unsigned number);
/* "H3" of "H3-vswitch". */
const char *place_name(const struct run *run, uint32_t node, char name[32]);
bool is_in_use(const struct run *run, uint32_t port, uint64_t guid);
/* The function that has this machine, but for one; or TOPOLOGY_NONE. */
uint32_t find_port(const struct run *run, uint64_t guid, uint32_t but);
unsigned number_of(const struct run *run, const struct machine *machine);
void settle_down(struct run *run);
/* Those that were on their way are somewhere now, or nowhere. */
void end_journeys(struct run *run);
void check(struct run *run);

#endif
