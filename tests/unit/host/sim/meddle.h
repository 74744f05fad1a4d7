/* A manager on a simulated fabric, with hooks that change or drop its SMPs, to simulate faulty
 * agents. */
#ifndef WEFT_TESTS_HOST_MEDDLE_H
#define WEFT_TESTS_HOST_MEDDLE_H

#include "sim_world.h"

#include "base/map.h"

struct meddle {
    struct fabric *fabric;
    uint32_t seat; /* the manager's port */
    struct sm *sm;
    struct map refused; /* transaction IDs */
    /* Each gets the context. `send` returns false to drop the request. */
    void *context;
    bool (*send)(void *context, uint8_t *request);
    void (*receive)(void *context, uint8_t *answer);
    void (*note_event)(void *context, const struct sm_event *event);
};

/* The caller has set the fabric, the port and the hooks. */
void meddle_start(struct meddle *meddle, const struct sm_config *config);
void meddle_stop(struct meddle *meddle);
void meddle_run(struct meddle *meddle, uint64_t duration);
/* For `send`: answers the request with a status instead of executing it. */
void meddle_refuse(struct meddle *meddle, uint8_t *request);

#endif
