/* A fabric with managers, and random faults for it: the driver of campaign and soak. */
#ifndef WEFT_TESTS_CAMPAIGN_FAULTS_H
#define WEFT_TESTS_CAMPAIGN_FAULTS_H

#include "base/rng.h"
#include "base/time.h"
#include "experiment/check/checks.h"

enum { MANAGERS_MOST = 3 };

struct driver {
    struct rng rng; /* all random numbers come from here, in the order of the program */
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    struct manager_instance seats[MANAGERS_MOST];
    unsigned managers, alive;
    struct sm_config config; /* of managers that start again */
    bool between_switches; /* faults spare adapters, their links, and the last connected manager */
};

/* Makes an irregular network of these words, and its fabric; exits if that is impossible. */
void driver_open(struct driver *driver, const char *const *words, size_t count, uint64_t seed,
                 const struct sim_listener *listener);
void driver_close(struct driver *driver);
void driver_add_manager(struct driver *driver, uint32_t port, uint8_t priority);
void driver_run(struct driver *driver, uint64_t duration_ps);

enum fault {
    FAULT_LINK_DOWN,
    FAULT_LINK_UP,
    FAULT_FLAP,
    FAULT_SWITCH_DOWN, /* never that of a manager */
    FAULT_NODE_UP,
    FAULT_ALL_UP,
    FAULT_SILENT_AGENT,
    FAULT_AGENT_BACK,
    FAULT_GUID_TWICE,   /* the GUID of another node */
    FAULT_MANAGER_DIES, /* one time in four, and never the last one */
    FAULT_MANAGER_RESTARTS,
};
extern const char *const fault_names[];

/* Where a fault strikes. */
struct target {
    uint32_t port, node, other;
};
struct target driver_any_target(struct driver *driver); /* port and node */
void driver_strike(struct driver *driver, enum fault fault, struct target target);
/* Agents answer again, and GUIDs are those of the topology. */
void driver_heal_nodes(struct driver *driver);
/* The chance that a link loses an SMP; 0: none. */
void driver_lose_smps(struct driver *driver, uint64_t chance);

#endif
