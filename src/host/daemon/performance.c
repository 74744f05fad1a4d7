#include "host/daemon/performance.h"

/* The first round waits until the subnet is up: before, ports are not active and would be missing
 * for an interval. */
static bool reads_counters(const struct perf *perf, const struct sm *sm)
{
    return sm_state(sm) == SM_MASTER && sm_paths(sm).network && !sm_own_link_is_down(sm) &&
           (perf_has_begun(perf) || sm_is_settled(sm));
}

/* The SL of the path from the manager to a LID. */
static uint8_t level_to(const struct sm *sm, uint16_t lid)
{
    struct sm_paths paths = sm_paths(sm);
    const struct subnet *subnet = sm_subnet(sm);
    unsigned own = subnet->ports.items[subnet->own_port].lid;
    const struct network *network = paths.network;
    if (lid > network->top_lid || own > network->top_lid || network->owner[lid] == NETWORK_NONE ||
        network->owner[own] == NETWORK_NONE)
        return 0;
    struct path path = path_lookup(paths.routes, network, network->owner[own], network->owner[lid]);
    return qos_service_level(&paths.layout, 0, path.sl);
}

void performance_run(struct perf *perf, uint64_t now, struct sm *sm, struct device_port *port)
{
    struct perf_request request;
    struct perf_finding finding;
    if (sm_state(sm) != SM_MASTER)
        perf_reset(perf);
    if (!reads_counters(perf, sm))
        return;
    if (!sm_is_settled(sm))
        perf_yield(perf, now); /* to the threads that compute routes, too */
    while (perf_next_finding(perf, &finding))
        sm_note_error_rate(
            sm, now,
            &(struct sm_link_errors){.port = finding.port,
                                     .what = port_counter_infos[finding.counter].meaning,
                                     .count = finding.count,
                                     .period_ns = finding.period_ns,
                                     .limit = finding.limit});
    /* A request that cannot be sent times out. */
    while (perf_next_request(perf, now, sm_subnet(sm), &request)) {
        if (!request.redirected)
            request.to.sl = level_to(sm, request.to.lid);
        device_port_ask(port, &request);
    }
}

uint64_t performance_deadline(const struct perf *perf, const struct sm *sm)
{
    return reads_counters(perf, sm) ? perf_deadline(perf) : TIME_NEVER;
}
