/* A manager on a simulated fabric, and somebody between it and the agents: what these would never
 * do is done to the SMPs on their way. */
#ifndef WEFT_TESTS_HOST_MEDDLE_H
#define WEFT_TESTS_HOST_MEDDLE_H

#include "sim_world.h"

#include "base/map.h"

struct meddle {
    struct fabric *fabric;
    uint32_t seat; /* the manager's port */
    struct sm *sm;
    struct map refused; /* transaction ids */
    /* Each gets the context. False: the request is lost. */
    void *context;
    bool (*send)(void *context, uint8_t *request);
    void (*receive)(void *context, uint8_t *answer);
    void (*hear)(void *context, const struct sm_event *event);
};

/* The fabric, the seat and the functions are set. */
void meddle_start(struct meddle *meddle, const struct sm_config *config);
void meddle_stop(struct meddle *meddle);
void meddle_run(struct meddle *meddle, uint64_t duration);
/* For `send`: nothing is done, and the answer has a status. */
void meddle_refuse(struct meddle *meddle, uint8_t *request);

#endif
