/* Reads port counters: the requests of the performance manager, with the SL that packets use. */
#include "host/daemon/daemon_internal.h"

/* The first round waits until the subnet is up: before, ports are not active and would be missing
 * for an interval. */
static bool reads_counters(const struct daemon *daemon)
{
    const struct sm *sm = daemon->sm;
    return sm_state(sm) == SM_MASTER && sm_paths(sm).network && !sm_own_link_is_down(sm) &&
           (perf_has_begun(daemon->perf) || sm_is_settled(sm));
}

void daemon_read_counters(struct daemon *daemon, uint64_t now)
{
    struct perf *perf = daemon->perf;
    struct sm *sm = daemon->sm;
    struct perf_request request;
    struct perf_finding finding;
    if (sm_state(sm) != SM_MASTER)
        perf_reset(perf);
    if (!reads_counters(daemon))
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
    const struct subnet *subnet = sm_subnet(sm);
    while (perf_next_request(perf, now, subnet, &request)) {
        uint32_t to = subnet->by_lid[request.to.lid];
        if (!request.redirected && to != SUBNET_NONE)
            request.to.sl = sm_path_between(sm, subnet->own_port, to).sl;
        sm_explain(sm, PART_PERF, "request: attribute 0x%x, TID 0x%llx, to LID %u, SL %u",
                   (unsigned)wire_get(request.mad, MAD_ATTRIBUTE_ID),
                   (unsigned long long)wire_get(request.mad, MAD_TID), request.to.lid,
                   request.to.sl);
        device_port_ask(daemon->port, &request);
    }
}

uint64_t daemon_counters_deadline(const struct daemon *daemon)
{
    return reads_counters(daemon) ? perf_deadline(daemon->perf) : TIME_NEVER;
}
