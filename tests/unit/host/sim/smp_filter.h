/* A manager on a simulated fabric, with hooks that change or drop its SMPs, to simulate faulty
 * agents. */
#ifndef WEFT_TESTS_HOST_SMP_FILTER_H
#define WEFT_TESTS_HOST_SMP_FILTER_H

#include "sim_world.h"

#include "base/map.h"

struct smp_filter {
    struct fabric *fabric;
    uint32_t port; /* the manager's port */
    struct sm *sm;
    struct map refused; /* transaction IDs */
    /* Each gets the context. `send` returns false to drop the request. */
    void *context;
    bool (*send)(void *context, uint8_t *request);
    void (*receive)(void *context, uint8_t *answer);
    void (*note_event)(void *context, const struct sm_event *event);
};

/* The caller has set the fabric, the port and the hooks. */
void smp_filter_start(struct smp_filter *smp_filter, const struct sm_config *config);
void smp_filter_stop(struct smp_filter *smp_filter);
void smp_filter_run(struct smp_filter *smp_filter, uint64_t duration);
/* For `send`: answers the request with a status instead of executing it. */
void smp_filter_refuse(struct smp_filter *smp_filter, uint8_t *request);

#endif
