/* DLID and SL are those of the master's paths in force. */
#include "experiment/live/path.h"

static uint32_t find_end_point(const struct network *network, uint64_t guid)
{
    for (uint32_t i = 0; i < network->terminals.count; i++)
        if (network->terminals.items[i].guid == guid)
            return i;
    for (uint32_t i = 0; i < network->switches.count; i++)
        if (network->switches.items[i].guid == guid)
            return i | NETWORK_SWITCH;
    return NETWORK_NONE;
}

struct data_path path_look_up(const struct setup *setup, uint32_t source, uint32_t target)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        struct sm_paths paths = sm ? sm_paths(sm) : (struct sm_paths){0};
        if (!paths.network)
            continue;
        uint32_t here = find_end_point(paths.network, fabric_port_guid(setup->fabric, source, 0));
        uint32_t there = find_end_point(paths.network, fabric_port_guid(setup->fabric, target, 0));
        if (here == NETWORK_NONE || there == NETWORK_NONE)
            continue;
        struct path path = path_lookup(paths.routes, paths.network, here, there);
        struct data_path found = {.dlid = path.dlid, .sl = path.sl};
        struct qos_request question = {.has_p_key = true, .p_key = 0xFFFF};
        qos_resolve(paths.qos, &paths.layout, &question, path.sl, &found.sl);
        return found;
    }
    return (struct data_path){0};
}

void path_write(const struct watch *watch, uint32_t from, uint32_t to, struct text *out)
{
    const struct setup *setup = live_session_setup(watch->session);
    uint32_t source = path_view_port(&setup->topology, from);
    uint32_t target = path_view_port(&setup->topology, to);
    struct data_path path = {0};
    if (source != TOPOLOGY_NONE && target != TOPOLOGY_NONE)
        path = path_look_up(setup, source, target);
    path_view_write(&watch->view, &watch->publisher->tick, from, to, path, out);
}
