/* The plan of a generator: switches, hosts and cables, by number.
 *
 * Generators add switches and hosts in any order; plan_build() adds them in the order that
 * determines GUIDs and the place of the manager. The manager runs at the first node of a
 * description: an adapter, unless the generator chooses a switch. */
#ifndef WEFT_TOPOLOGY_PLAN_H
#define WEFT_TOPOLOGY_PLAN_H

#include "base/rng.h"
#include "topology/topology.h"

enum { PLAN_LIST_ITEMS = 16, PLAN_PARAMETERS = 8 };

/* A parameter's value: one number, or a list such as 4x4x8 or 18,36. */
struct plan_argument {
    bool given; /* by the user, or by a default */
    unsigned count;
    uint64_t values[PLAN_LIST_ITEMS];
};

struct plan_node {
    char description[32];
    uint64_t guid; /* 0: the next free one */
    uint16_t lid;  /* of the switch, or of an adapter's first port; 0: not given */
    uint16_t port_count;
    bool is_switch;
};
struct plan_link {
    uint32_t a, b; /* nodes */
    uint16_t a_port, b_port;
};

struct fabric_plan {
    struct rng rng;
    struct err *err;
    struct plan_argument arguments[PLAN_PARAMETERS]; /* in the order of the kind's table */
    VEC(struct plan_node) nodes;
    VEC(struct plan_link) links;
    bool manager_at_switch;
};

static inline uint64_t plan_number(const struct fabric_plan *plan, unsigned parameter)
{
    assert(plan->arguments[parameter].given);
    return plan->arguments[parameter].values[0];
}

/* -EFBIG or -EINVAL if a fabric cannot be that large. To be called before anything is added. */
int plan_check_size(const struct fabric_plan *plan, uint64_t switches, uint64_t hosts,
                    uint64_t ports_per_switch);
/* a * b, or UINT64_MAX on overflow. */
uint64_t plan_times(uint64_t a, uint64_t b);

/* Adds a node whose description is the formatted text, and returns its number. */
#define plan_add_switch(plan, ports, ...) plan_add_node(plan, true, ports, __VA_ARGS__)
#define plan_add_host(plan, ports, ...)   plan_add_node(plan, false, ports, __VA_ARGS__)
uint32_t plan_add_node(struct fabric_plan *plan, bool is_switch, unsigned port_count,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
void plan_link(struct fabric_plan *plan, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port);
/* Adds a host with one port, named by its number, on the given port of a switch. */
void plan_attach_host(struct fabric_plan *plan, uint32_t node, unsigned port, uint64_t number);

int plan_build(const struct fabric_plan *plan, struct topology *topology);
void plan_release(struct fabric_plan *plan);

/* The generators; their files document them. */
int generate_irregular(struct fabric_plan *plan);
int generate_jellyfish(struct fabric_plan *plan);
int generate_figure1(struct fabric_plan *plan);
int generate_clos(struct fabric_plan *plan);
int generate_thesis(struct fabric_plan *plan);
int generate_fattree(struct fabric_plan *plan);
int generate_kary(struct fabric_plan *plan);
int generate_torus(struct fabric_plan *plan);
int generate_mesh(struct fabric_plan *plan);
int generate_hypercube(struct fabric_plan *plan);
int generate_hyperx(struct fabric_plan *plan);
int generate_dragonfly(struct fabric_plan *plan);

#endif
