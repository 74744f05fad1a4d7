/* DLID and SL are those that packets use. */
#include "experiment/live/path.h"

void path_write(const struct watch *watch, uint32_t from, uint32_t to, struct text *out)
{
    const struct setup *setup = live_session_setup(watch->session);
    uint32_t source = path_view_port(&setup->topology, from);
    uint32_t target = path_view_port(&setup->topology, to);
    struct data_path path = {0};
    if (source != TOPOLOGY_NONE && target != TOPOLOGY_NONE)
        path = sim_paths_show(setup->paths, source, target);
    path_view_write(&watch->view, &watch->publisher->tick, from, to, path, out);
}
