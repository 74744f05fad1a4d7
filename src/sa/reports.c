/* Reports of notices to subscribers (13.4.11), sent until ReportResp or the last retry.
 *
 * Each subscribing port has its own queue and its own window: at most REPORT_WINDOW of its reports
 * are in flight, and the others wait in order of creation. So a port that never answers delays no
 * other port. Ports are served round robin. Beyond `report_limit` waiting reports of a port, new
 * ones are dropped. A report to an unreachable subscriber is dropped. Sending reports takes at most
 * half of a turn while queries wait. */
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

/* ---- queues of subscribers ---- */

enum { ALL = 0 }; /* the key of the only chain of these */

static struct report_target *subscriber_of(struct reports *reports, uint64_t guid, uint32_t *index)
{
    *index = map_get(&reports->by_guid, guid);
    if (*index == MAP_NONE) {
        *index = (uint32_t)reports->subscribers.count;
        map_set(&reports->by_guid, guid, *index);
        vec_push(&reports->subscribers, (struct report_target){0});
    }
    return &reports->subscribers.items[*index];
}

/* Lists a subscriber once among those that a report can be sent to. */
static void make_ready(struct reports *reports, uint32_t index)
{
    struct report_target *subscriber = &reports->subscribers.items[index];
    if (subscriber->ready || !subscriber->waiting || subscriber->in_flight >= REPORT_WINDOW)
        return;
    subscriber->ready = true;
    chains_add(&reports->ready, ALL, index);
}

static void queue_report(struct sa *sa, const struct subscription *subscription,
                         const uint8_t *notice)
{
    struct reports *reports = &sa->reports;
    uint32_t index, number;
    struct report_target *subscriber = subscriber_of(reports, subscription->guid, &index);
    if (subscriber->waiting >= sa->config.report_limit) {
        sa->counts.reports_lost++;
        return;
    }
    subscriber->waiting++;
    number = pool_take(&reports->pool);
    reports->pool.items[number] =
        (struct sa_report){.subscription = subscription->number, .subscriber = index};
    memcpy(reports->pool.items[number].notice, notice, WIRE_BYTES_NOTICE);
    chains_add(&reports->waiting, index, number);
    make_ready(reports, index);
}

static void end_report(struct reports *reports, uint32_t number)
{
    struct sa_report *report = &reports->pool.items[number];
    assert(reports->subscribers.items[report->subscriber].in_flight > 0);
    reports->subscribers.items[report->subscriber].in_flight--;
    make_ready(reports, report->subscriber);
    pool_give(&reports->pool, number);
}

void reports_clear(struct sa *sa)
{
    struct reports *reports = &sa->reports;
    uint32_t tid = reports->next_tid;
    pool_release(&reports->pool);
    vec_release(&reports->subscribers);
    map_release(&reports->by_guid);
    chains_release(&reports->waiting);
    chains_release(&reports->ready);
    chains_release(&reports->due);
    outstanding_release(&reports->sent);
    *reports = (struct reports){.next_tid = tid};
}

/* ---- notices ---- */

static void queue_reports_for_trap(struct sa *sa, const uint8_t *notice, unsigned p_key,
                                   unsigned trap)
{
    const struct chains *chains = &sa->registry.subscription_index[SUBSCRIPTION_BY_TRAP];
    uint64_t subject = subject_of(notice);
    for (uint32_t link = chains_first(chains, trap); link != CHAIN_END;
         link = chains_next(chains, link)) {
        const struct subscription *subscription = subscription_find(sa, chains_item(chains, link));
        if (is_wanted(subscription->inform, notice) &&
            (!subject || access_may_see(sa, subscription->guid, subject)) &&
            (!p_key || access_has_key(sa, subscription->guid, p_key)))
            queue_report(sa, subscription, notice);
    }
}

/* Queues a report to each subscriber that shares a partition with the subject of the notice or, if
 * `p_key` is not 0, is a member of that partition. */
static void queue_reports(struct sa *sa, const uint8_t *notice, unsigned p_key)
{
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    queue_reports_for_trap(sa, notice, p_key, trap);
    if (trap != ANY16)
        queue_reports_for_trap(sa, notice, p_key, ANY16);
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
    if (wire_get(notice, NOTICE_TRAP_NUMBER) == ATTRIBUTE_TRAP_BAD_M_KEY) /* may help to guess it */
        wire_set(complete + NOTICE_AT_DETAILS, TRAP_BAD_M_KEY_M_KEY, 0);
    queue_reports(sa, complete, 0);
}

/* ---- sending ---- */

void reports_receive(struct sa *sa, const struct sa_message *message)
{
    struct reports *reports = &sa->reports;
    uint32_t tid = (uint32_t)wire_get(message->data, MAD_TID); /* the kernel uses the upper half */
    uint32_t number = outstanding_find(&reports->sent, tid);
    if (number == OUTSTANDING_NONE)
        return;
    const struct subscription *subscription =
        subscription_find(sa, reports->pool.items[number].subscription);
    if (subscription && subscription->address.lid != message->address.lid)
        return;
    outstanding_remove(&reports->sent, number);
    end_report(reports, number);
}

void reports_expire(struct sa *sa)
{
    struct reports *reports = &sa->reports;
    uint32_t number;
    while ((number = outstanding_expire(&reports->sent, sa->now)) != OUTSTANDING_NONE) {
        if (reports->pool.items[number].tries > sa->config.report_retries) {
            sa->counts.reports_lost++;
            end_report(reports, number);
        } else {
            chains_add(&reports->due, ALL, number);
        }
    }
}

uint64_t reports_deadline(const struct sa *sa)
{
    const struct reports *reports = &sa->reports;
    bool waits = chains_first(&reports->ready, ALL) != CHAIN_END ||
                 chains_first(&reports->due, ALL) != CHAIN_END;
    return waits ? 0 : outstanding_deadline(&reports->sent);
}

/* Takes the next report: the first one of the next port, or one that has to be repeated. */
static bool next_report(struct reports *reports, uint32_t *number)
{
    uint32_t link = chains_first(&reports->ready, ALL);
    if (link == CHAIN_END) {
        link = chains_first(&reports->due, ALL);
        if (link == CHAIN_END)
            return false;
        *number = chains_item(&reports->due, link);
        chains_remove(&reports->due, ALL, link);
        return true;
    }
    uint32_t index = chains_item(&reports->ready, link);
    struct report_target *subscriber = &reports->subscribers.items[index];
    chains_remove(&reports->ready, ALL, link);
    link = chains_first(&reports->waiting, index);
    *number = chains_item(&reports->waiting, link);
    chains_remove(&reports->waiting, index, link);
    subscriber->ready = false;
    subscriber->waiting--;
    subscriber->in_flight++;
    reports->pool.items[*number].tid = ++reports->next_tid;
    make_ready(reports, index);
    return true;
}

bool reports_next(struct sa *sa, struct sa_message *message)
{
    struct reports *reports = &sa->reports;
    uint32_t number;
    while (reports_deadline(sa) == 0 && sa_may_send_aside(sa) && next_report(reports, &number)) {
        struct sa_report *report = &reports->pool.items[number];
        const struct subscription *subscription = subscription_find(sa, report->subscription);
        report->tries++;
        if (!subscription || map_get(&sa->index.by_guid, subscription->guid) == MAP_NONE) {
            end_report(reports, number);
            continue;
        }
        outstanding_add(&reports->sent, number, report->tid,
                        sa->now + sa->config.report_timeout_ns);
        sa_request_begin(sa->report_mad, METHOD_REPORT, ATTRIBUTE_NOTICE);
        wire_set(sa->report_mad, MAD_TID, report->tid);
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
