/* `run until settled`: managers have no work left and their databases match the fabric. */
#include "experiment/run/setup.h"

bool settled_changes_closed(const struct setup *setup, struct check_failure *failure)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct setup_instance *instance = setup->instances.items[i];
        const struct sm *sm = setup_manager(setup, i);
        if (instance->open)
            return check_fail(failure, "the manager at '%.80s' is still at work", instance->name);
        if (sm && sm_refusal(sm))
            return check_fail(failure, "the manager at '%.80s' has no routes: %.200s",
                              instance->name, sm_refusal(sm)->message);
    }
    return true;
}

/* Whether managers have no work left. It is a cheap test before the checks of the whole fabric. */
static bool are_managers_idle(const struct setup *setup, struct check_failure *failure)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (!sm || sm_own_link_is_down(sm) ||
            (sm_state(sm) != SM_DISCOVERING && (sm_state(sm) != SM_MASTER || sm_is_settled(sm))))
            continue;
        return check_fail(failure, "the manager at '%.80s' is still %s",
                          setup->instances.items[i]->name,
                          sm_state(sm) == SM_MASTER ? "at work" : "discovering");
    }
    return true;
}

bool settled_now(const struct setup *setup, struct check_failure *failure)
{
    static const enum check_kind kinds[] = {CHECK_SETTLED, CHECK_ONE_MASTER, CHECK_DISCOVERED,
                                            CHECK_ACTIVE};
    struct check_view view = setup_view(setup);
    if (!are_managers_idle(setup, failure) || !machines_are_settled(setup, failure))
        return false;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!check_holds(&view, kinds[i], failure))
            return false;
    return true;
}
