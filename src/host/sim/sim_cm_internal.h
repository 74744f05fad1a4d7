/* Shared by sim_cm.c, which exchanges messages, and sim_cm_paths.c, which asks the subnet
 * administration for paths. */
#ifndef WEFT_HOST_SIM_SIM_CM_INTERNAL_H
#define WEFT_HOST_SIM_SIM_CM_INTERNAL_H

#include "host/sim/sim_connections_internal.h"

enum { REQUESTER = 0, RESPONDER = 1 };

/* An adapter: its ports share the communication IDs. */
struct cm_host {
    uint32_t adapter;
    struct mad_file *files[TRANSPORT_PORTS_MAX]; /* NULL: there is no such port */
    uint32_t agents[TRANSPORT_PORTS_MAX];
    struct cm *cm;
    struct map connections; /* number of the connection by communication ID */
};

/* There was no path: the next query is due then. */
struct cm_pause {
    uint64_t until;
    uint32_t number;
};

struct sim_cm {
    struct sim_connections *connections;
    VEC(struct cm_host) hosts;
    VEC(uint64_t) due; /* by host: when it has something to do, or earlier */
    struct map by_adapter;
    VEC(uint32_t) by_query;      /* the number of the connection + 1, or 0 */
    size_t queries_seen;         /* of the finished ones */
    VEC(struct cm_pause) pauses; /* in the order of their ends */
    size_t pauses_taken;
};

/* Records that the administration has sent. */
struct path_answer {
    const uint8_t *records;
    size_t count, bytes_each;
};
static inline const uint8_t *path_answer_at(const struct path_answer *answer, size_t number)
{
    return answer->records + number * answer->bytes_each;
}

/* sim_cm.c: what follows an answer. `answer` has at least one record. */
void sim_cm_request(struct sim_cm *cm, uint32_t number, const struct path_answer *answer);
void sim_cm_request_load(struct sim_cm *cm, uint32_t number, const struct path_answer *answer);
void sim_cm_refuse(struct sim_cm *cm, uint32_t number, unsigned reason);
void sim_cm_not_loaded(struct sim_cm *cm, uint32_t number);

/* sim_cm_paths.c: asks for paths of a connection. */
void sim_cm_ask(struct sim_cm *cm, uint32_t number);
/* Goes through the answers of the administration. Returns when to ask again. */
uint64_t sim_cm_resolve(struct sim_cm *cm, uint64_t now);

#endif
