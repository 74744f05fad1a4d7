/* A simulated fabric with managers, and checks of both. */
#ifndef WEFT_TESTS_HOST_SIM_WORLD_H
#define WEFT_TESTS_HOST_SIM_WORLD_H

#include "base/time.h"
#include "host/sim/sim.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct world {
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
};

/* A fabric is described as in scenarios: "figure1", "irregular switches=12 hosts=10". */
void world_open_with(struct world *world, const struct fabric_options *options, const char *fabric);
void world_open(struct world *world, const char *preset, const char *fabric);
void world_close(struct world *world);
/* For tests that need one world: `*state` owns it, and WORLD_TEST closes it. */
struct world *world_for(void **state, const char *preset, const char *fabric);
int world_teardown(void **state);
#define WORLD_TEST(test) cmocka_unit_test_teardown(test, world_teardown)

struct sm_config default_config(void);

uint32_t host(const struct world *world, const char *name);            /* its port 1 */
uint32_t management_port(const struct world *world, const char *name); /* its port 0 */
/* By the tables in the switches, from a node to the node of a port. */
bool leads_to(const struct world *world, uint32_t node, uint32_t to, unsigned lid);
uint32_t end_port(const struct world *world, uint32_t node); /* that has its LID */

/* Adds a manager and runs until it is settled. Returns its number. */
unsigned settle(struct world *world, uint32_t port, const struct sm_config *config);
void run_for(struct world *world, uint64_t duration_ps);
struct sm_counts counts_of(struct world *world, unsigned manager);

bool all_active(const struct world *world);
/* Sends Get(NodeInfo) by LID from one end port. Returns whether it is answered. */
bool answers_by_lid(struct world *world, uint32_t from, uint32_t to);
/* Whether the tables of the switches form paths from each switch to every end port. */
bool all_delivered(const struct world *world);
/* Whether the manager's links and tables are those of the fabric. */
bool has_true_state(struct world *world, unsigned manager);

#endif
