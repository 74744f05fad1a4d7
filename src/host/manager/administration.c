#include "host/manager/administration.h"

void administration_update_view(struct sa *sa, uint64_t now, const struct sm *sm, uint8_t priority)
{
    struct sm_paths paths = sm_paths(sm);
    struct sa_view view = {
        .subnet = sm_subnet(sm),
        .network = paths.network,
        .routes = paths.routes,
        .qos = paths.qos,
        .layout = paths.layout,
        .generation = paths.generation,
        .priority = priority,
        .act_count = sm_act_count(sm),
    };
    sa_update_view(sa, now, &view);
}

void administration_sync(struct sa *sa, uint64_t now, struct sm *sm, bool reregister)
{
    struct sm_master master;
    uint64_t guid;
    bool follows = sm_state(sm) == SM_STANDBY && sm_master(sm, &master);
    if (follows)
        sa_follow(sa, now, &(struct sa_master){master.lid, master.sl, master.weft});
    else if (sm_state(sm) != SM_STANDBY)
        sa_follow(sa, now, NULL);
    sm_set_syncing(sm, follows && master.weft && sa_registry_master(sa) != master.lid);
    if (sm_state(sm) != SM_MASTER)
        sm_set_registry_master(sm, sa_registry_master(sa));
    else if (sm_paths(sm).network && reregister)
        sm_reregister_clients(sm, now);
    while (sa_next_reregistration(sa, &guid))
        if (reregister)
            sm_reregister_client(sm, now, guid);
}
