/* What faults do to a fabric: one function for each FAULT row of actions.def. */
#include "console/internal.h"

#include "base/time.h"

int effect_fail_link(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_link(fabric, action->port, false, err);
}

int effect_restore_link(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_link(fabric, action->port, true, err);
}

int effect_flap(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_flap_port(fabric, action->port, err);
}

int effect_bit_errors(struct fabric *fabric, const struct action *action, struct err *err)
{
    return (action->per_second ? fabric_set_bit_error_rate : fabric_add_bit_errors)(
        fabric, action->port, (unsigned)action->value, err);
}

int effect_drop(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_loss(fabric, action->port, action->attribute, action->value, err);
}

int effect_fail_node(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_node(fabric, action->node, false, err);
}

int effect_restore_node(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_node(fabric, action->node, true, err);
}

int effect_mute(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_agent_delay(fabric, action->node, TIME_NEVER, err);
}

int effect_slow(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_agent_delay(fabric, action->node, action->value, err);
}

int effect_heal(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_agent_delay(fabric, action->node, 0, err);
}

int effect_duplicate_guid(struct fabric *fabric, const struct action *action, struct err *err)
{
    return fabric_set_guid(fabric, action->node, action->value, err);
}
