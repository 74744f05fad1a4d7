/* Interface between toy.c and toy_run.c. */
#ifndef WEFT_TESTS_SM_TOY_INTERNAL_H
#define WEFT_TESTS_SM_TOY_INTERNAL_H

#include "toy.h"

struct toy_end {           /* a port where an SMP starts or arrives */
    struct toy_node *node; /* NULL: the SMP is lost */
    unsigned port;
};

/* A message in flight. */
struct toy_flight {
    enum {
        FLIGHT_REQUEST, /* an SMP from a manager */
        FLIGHT_LOST,    /* an SMP without answer: the manager waits until `at` */
        FLIGHT_ANSWER,  /* an answer or a trap to a manager */
    } kind;
    uint64_t at;       /* when it arrives */
    uint64_t deadline; /* time-out of the manager; 0: it waits for no answer */
    unsigned manager;  /* that sent or receives it */
    struct sm_message message;
};

void toy_set_manager_bit(struct toy_node *node, unsigned port);
void toy_clear_manager_bit(struct toy_node *node, unsigned port);
void toy_agent_answer(struct toy_node *node, unsigned arrival, uint8_t *mad);
void toy_make_answer(uint8_t *mad, unsigned status);

/* Follows a directed route from path[1] on and stores the input ports in `back`. */
struct toy_end toy_walk(struct toy_end from, const uint8_t *path, unsigned hops, uint8_t *back);
struct toy_end toy_hop(struct toy_end from, unsigned port);
struct toy_end toy_forward(struct toy_end from, unsigned lid);

#endif
