/* A fabric with a manager and connections. */
#ifndef WEFT_TESTS_HOST_SIM_TALK_H
#define WEFT_TESTS_HOST_SIM_TALK_H

#include "sim_world.h"

#include "host/sim/sim_connections.h"

enum { MOST = 64 };
struct talk {
    struct world world;
    struct sm_config config;
    unsigned manager;
    struct sim_paths *paths;
    struct sim_connections *connections;
    uint64_t completed, times[MOST], latencies[MOST]; /* of messages */
    uint64_t migrated;                                /* connections */
};

static inline void talk_completed(void *context, uint64_t now, uint32_t connection,
                                  uint64_t latency)
{
    struct talk *talk = context;
    assert_true(connection < sim_connections_count(talk->connections));
    if (talk->completed < MOST) {
        talk->times[talk->completed] = now;
        talk->latencies[talk->completed] = latency;
    }
    talk->completed++;
}

static inline void talk_migrated(void *context, uint64_t now, uint32_t connection)
{
    struct talk *talk = context;
    (void)now, (void)connection;
    talk->migrated++;
}

/* `config` is set. The manager runs on a switch (S0) or a host (H0). */
static inline void talk_open(struct talk *talk, const char *fabric, const char *manager)
{
    world_open(&talk->world, "today", fabric);
    uint32_t port =
        *manager == 'S' ? management_port(&talk->world, manager) : host(&talk->world, manager);
    talk->manager = settle(&talk->world, port, &talk->config);
    talk->paths = sim_paths_new(talk->world.sim, talk->world.fabric);
    talk->connections = sim_connections_new(talk->world.sim, talk->world.fabric, talk->paths);
    sim_connections_listen(talk->connections, &(struct connection_listener){
                                                  .context = talk,
                                                  .completed = talk_completed,
                                                  .migrated = talk_migrated,
                                              });
    run_for(&talk->world, TIME_MS);
}

static inline void talk_close(struct talk *talk)
{
    struct err err = {0};
    if (fabric_check_data(talk->world.fabric, &err) < 0)
        fail_msg("%s", err.message);
    sim_connections_free(talk->connections);
    sim_paths_free(talk->paths);
    world_close(&talk->world);
}

static inline void talk_add(struct talk *talk, const struct connection_config *config)
{
    struct err err = {0};
    if (sim_connections_add(talk->connections, config, &err) < 0)
        fail_msg("%s", err.message);
}

static inline struct connection_view talk_view(const struct talk *talk, size_t number)
{
    struct connection_view view;
    sim_connections_view(talk->connections, number, &view);
    return view;
}

#endif
