/* Reports of notices to subscribers (13.4.11), sent until ReportResp or the last retry.
 *
 * At most REPORT_WINDOW reports are in flight; the others wait in order of creation. Beyond
 * `report_limit` new reports are dropped, which bounds the cost of subscribers that do not answer.
 * A report to an unreachable subscriber is dropped. */
#include "sa/internal.h"

#include <assert.h>

enum { LIDS_ALL = 0xFFFF, ANY16 = 0xFFFF, ANY24 = 0xFFFFFF };
enum { NOTICE_BY_SM = 3, PRODUCER_CLASS_MANAGER = 4 }; /* of traps 64 to 67 */

static bool is_wanted(const uint8_t *inform, const uint8_t *notice)
{
    const uint8_t *gid = wire_bytes_const(inform, INFORM_INFO_GID);
    uint64_t first = wire_get(inform, INFORM_INFO_LID_RANGE_BEGIN);
    uint64_t last = wire_get(inform, INFORM_INFO_LID_RANGE_END);
    uint64_t lid = wire_get(notice, NOTICE_ISSUER_LID);
    bool in_range = first == LIDS_ALL || (lid >= first && lid <= (last ? last : first));
    if (gid_prefix(gid) || gid_guid(gid))
        in_range = gid_guid(gid) == gid_guid(wire_bytes_const(notice, NOTICE_ISSUER_GID));
    uint64_t type = wire_get(inform, INFORM_INFO_TYPE);
    uint64_t trap = wire_get(inform, INFORM_INFO_TRAP_NUMBER);
    uint64_t producer = wire_get(inform, INFORM_INFO_PRODUCER_TYPE);
    return in_range &&
           (wire_get(inform, INFORM_INFO_IS_GENERIC) != 0) ==
               (wire_get(notice, NOTICE_IS_GENERIC) != 0) &&
           (type == ANY16 || type == wire_get(notice, NOTICE_TYPE)) &&
           (trap == ANY16 || trap == wire_get(notice, NOTICE_TRAP_NUMBER)) &&
           (producer == ANY24 || producer == wire_get(notice, NOTICE_PRODUCER_TYPE));
}

/* The GUID of the port that the notice is about; 0: none. */
static uint64_t subject_of(const uint8_t *notice)
{
    uint64_t trap = wire_get(notice, NOTICE_TRAP_NUMBER);
    const uint8_t *details = notice + NOTICE_AT_DETAILS;
    if (trap == ATTRIBUTE_TRAP_GID_IN_SERVICE || trap == ATTRIBUTE_TRAP_GID_OUT_OF_SERVICE)
        return gid_guid(wire_bytes_const(details, TRAP_GID_IN_SERVICE_GID));
    if (trap == ATTRIBUTE_TRAP_GROUP_CREATED || trap == ATTRIBUTE_TRAP_GROUP_DELETED)
        return 0;
    return gid_guid(wire_bytes_const(notice, NOTICE_ISSUER_GID));
}

/* Queues a report to each subscriber that shares a partition with the subject of the notice or, if
 * `p_key` is not 0, is a member of that partition. */
static void queue_reports(struct sa *sa, const uint8_t *notice, unsigned p_key)
{
    struct reports *reports = &sa->reports;
    uint64_t subject = subject_of(notice);
    for (size_t i = 0; i < sa->registry.subscriptions.count; i++) {
        const struct subscription *subscription = &sa->registry.subscriptions.items[i];
        if (!is_wanted(subscription->inform, notice) ||
            (subject && !access_may_see(sa, subscription->guid, subject)) ||
            (p_key && !access_has_key(sa, subscription->guid, p_key)))
            continue;
        if (reports->pending.count - reports->taken >= sa->config.report_limit) {
            sa->counts.reports_lost++;
            continue;
        }
        struct report report = {.subscription = subscription->number};
        memcpy(report.notice, notice, sizeof report.notice);
        vec_push(&reports->pending, report);
    }
}

void report_change(struct sa *sa, unsigned trap, const uint8_t gid[16], unsigned p_key)
{
    uint8_t notice[WIRE_BYTES_NOTICE] = {0};
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TYPE, NOTICE_BY_SM);
    wire_set(notice, NOTICE_PRODUCER_TYPE, PRODUCER_CLASS_MANAGER);
    wire_set(notice, NOTICE_TRAP_NUMBER, trap);
    wire_set(notice, NOTICE_ISSUER_LID,
             sa->view.subnet->ports.items[sa->view.subnet->own_port].lid);
    gid_set(wire_bytes(notice, NOTICE_ISSUER_GID), sa->config.prefix, sa->guid);
    /* Traps 64 to 67 have the same details. */
    memcpy(wire_bytes(notice + NOTICE_AT_DETAILS, TRAP_GID_IN_SERVICE_GID), gid, 16);
    queue_reports(sa, notice, p_key);
}

void report_notice(struct sa *sa, const uint8_t *notice)
{
    uint8_t complete[WIRE_BYTES_NOTICE];
    memcpy(complete, notice, wire_fields[NOTICE_ISSUER_GID].offset / 8);
    uint32_t port = sa_port_at(sa, (unsigned)wire_get(notice, NOTICE_ISSUER_LID));
    uint64_t guid = port == SUBNET_NONE ? 0 : sa->view.subnet->ports.items[port].guid;
    gid_set(wire_bytes(complete, NOTICE_ISSUER_GID), sa->config.prefix, guid);
    if (wire_get(notice, NOTICE_TRAP_NUMBER) == ATTRIBUTE_TRAP_BAD_M_KEY) /* perhaps almost right */
        wire_set(complete + NOTICE_AT_DETAILS, TRAP_BAD_M_KEY_M_KEY, 0);
    queue_reports(sa, complete, 0);
}

static void remove_in_flight(struct reports *reports, unsigned place)
{
    assert(place < reports->in_flight_count);
    reports->in_flight[place] = reports->in_flight[--reports->in_flight_count];
}

void reports_receive(struct sa *sa, const struct sa_message *message)
{
    struct reports *reports = &sa->reports;
    uint32_t tid = (uint32_t)wire_get(message->data, MAD_TID); /* the kernel uses the upper half */
    for (unsigned i = 0; i < reports->in_flight_count; i++)
        if (reports->in_flight[i].tid == tid) {
            const struct subscription *subscription =
                subscription_find(sa, reports->in_flight[i].subscription);
            if (!subscription || subscription->address.lid == message->address.lid)
                remove_in_flight(reports, i);
            return;
        }
}

void reports_expire(struct sa *sa)
{
    struct reports *reports = &sa->reports;
    for (unsigned i = reports->in_flight_count; i-- > 0;) {
        struct report *report = &reports->in_flight[i];
        if (!report->deadline || sa->now < report->deadline)
            continue;
        if (report->tries > sa->config.report_retries) {
            sa->counts.reports_lost++;
            remove_in_flight(reports, i);
        } else {
            report->deadline = 0;
        }
    }
}

uint64_t reports_deadline(const struct sa *sa)
{
    const struct reports *reports = &sa->reports;
    uint64_t deadline = TIME_NEVER;
    if (reports->in_flight_count < REPORT_WINDOW && reports->taken < reports->pending.count)
        return 0;
    for (unsigned i = 0; i < reports->in_flight_count; i++)
        if (reports->in_flight[i].deadline < deadline)
            deadline = reports->in_flight[i].deadline;
    return deadline;
}

void request_begin(uint8_t mad[MAD_BYTES], unsigned method, uint32_t tid, unsigned attribute)
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, tid);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
}

bool reports_next(struct sa *sa, struct sa_message *message)
{
    struct reports *reports = &sa->reports;
    while (reports->in_flight_count < REPORT_WINDOW && reports->taken < reports->pending.count) {
        struct report *report = &reports->in_flight[reports->in_flight_count++];
        *report = reports->pending.items[reports->taken++];
        report->tid = ++reports->next_tid;
    }
    reports->taken = vec_drop_taken(&reports->pending, reports->taken);
    assert(reports->in_flight_count <= REPORT_WINDOW && reports->taken <= reports->pending.count);
    for (unsigned i = reports->in_flight_count; i-- > 0;) {
        struct report *report = &reports->in_flight[i];
        if (report->deadline)
            continue;
        const struct subscription *subscription = subscription_find(sa, report->subscription);
        if (!subscription || map_get(&sa->index.by_guid, subscription->guid) == MAP_NONE) {
            remove_in_flight(reports, i);
            continue;
        }
        report->tries++;
        report->deadline = sa->now + sa->config.report_timeout_ns;
        request_begin(sa->report_mad, METHOD_REPORT, report->tid, ATTRIBUTE_NOTICE);
        memcpy(sa->report_mad + SA_DATA_OFFSET, report->notice, sizeof report->notice);
        *message = (struct sa_message){.address = subscription->address,
                                       .data = sa->report_mad,
                                       .bytes = MAD_BYTES,
                                       .request_timeout_ns = sa->config.report_timeout_ns * 9 / 10};
        sa->counts.reports++;
        return true;
    }
    return false;
}
