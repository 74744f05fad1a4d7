/* Derives from a ClassPortInfo (16.1.3.1) which counters an agent has and which attribute to read
 * each from, and chooses the requests of a reading one after the other. Sending them is left to
 * perf/perf.c. */
#include "perf/agent.h"

#include <string.h>

/* The attribute from which a counter is read; COUNTER_SETS: the agent does not have it. */
static unsigned set_of(unsigned counter, uint64_t mask, uint64_t mask2)
{
    const struct port_counter_info *info = &port_counter_infos[counter];
    bool extended = mask & (COUNTERS_EXTENDED | COUNTERS_EXTENDED_NO_IETF);
    if (info->in[SET_EXTENDED].select_bit >= 16) /* in CounterSelect2: not of the traffic */
        extended &= (mask2 & COUNTERS2_EXTENDED_ERRORS) != 0;
    else if (info->in[SET_BASIC].field == NO_COUNTER_FIELD) /* of unicast and multicast packets */
        extended &= !(mask & COUNTERS_EXTENDED_NO_IETF);
    if ((counter == COUNTER_TRANSMIT_WAIT && !(mask & COUNTERS_XMIT_WAIT)) ||
        (counter == COUNTER_QP1_DROPPED && !(mask & COUNTERS_QP1_DROPPED)))
        return COUNTER_SETS;
    if (info->in[SET_ERROR_DETAILS].field != NO_COUNTER_FIELD)
        return SET_ERROR_DETAILS;
    if (extended && info->in[SET_EXTENDED].field != NO_COUNTER_FIELD)
        return SET_EXTENDED;
    return info->in[SET_BASIC].field != NO_COUNTER_FIELD ? SET_BASIC : COUNTER_SETS;
}

void agent_learn(struct agent *agent, const uint8_t *class_port_info)
{
    uint64_t mask = 0, mask2 = 0;
    if (class_port_info) {
        mask = wire_get(class_port_info, CLASS_PORT_INFO_CAPABILITY_MASK);
        mask2 = wire_get(class_port_info, CLASS_PORT_INFO_CAPABILITY_MASK2);
    }
    memset(agent->valid, 0, sizeof agent->valid);
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        unsigned set = set_of(i, mask, mask2);
        if (set < COUNTER_SETS)
            agent->valid[set] |= UINT64_C(1) << i;
    }
    agent->known = true;
}

unsigned agent_first_step(const struct agent *agent)
{
    return !agent->known ? STEP_CLASS_INFO : agent->valid[SET_EXTENDED] ? SET_EXTENDED : SET_BASIC;
}

static bool details_are_due(const struct agent *agent, const struct port_counters *counters)
{
    static const enum port_counter sums[] = {COUNTER_RECEIVE_ERRORS,
                                             COUNTER_RECEIVE_SWITCH_RELAY_ERRORS};
    bool first = !(counters->known & agent->valid[SET_ERROR_DETAILS]);
    if (agent->details != SUPPORT_YES)
        return agent->details == SUPPORT_UNKNOWN;
    for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++)
        if (counters->value[sums[i]] != (first ? 0 : counters->before[sums[i]]))
            return true;
    return false;
}

unsigned agent_next_step(const struct agent *agent, unsigned step,
                         const struct port_counters *counters)
{
    if (step == STEP_CLASS_INFO)
        return agent_first_step(agent);
    if (step == SET_EXTENDED && agent->valid[SET_BASIC])
        return SET_BASIC;
    return step != SET_ERROR_DETAILS && details_are_due(agent, counters) ? SET_ERROR_DETAILS
                                                                         : STEP_NONE;
}

void agent_end_reading(const struct agent *agent, struct port_counters *counters)
{
    static const uint8_t zeros[WIRE_BYTES_PORT_RCV_ERROR_DETAILS];
    uint64_t details = agent->valid[SET_ERROR_DETAILS];
    if (agent->details == SUPPORT_YES && !(counters->known & details))
        port_counters_take(counters, SET_ERROR_DETAILS, zeros, details);
}
