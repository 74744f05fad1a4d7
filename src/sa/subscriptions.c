/* InformInfo: subscriptions to notices (13.4.8.3, 13.4.11), and InformInfoRecord (15.2.5.10).
 *
 * Set subscribes and unsubscribes an address (LID and queue pair). Subscribing twice has no effect.
 * The subscriptions of an unreachable port are kept for a while, like group memberships.
 * Subscriptions are sorted by number, and indexed by port and by trap number. */
#include "sa/internal.h"

#include <assert.h>

enum { LIDS_ALL = 0xFFFF };

static uint64_t subscription_key(const struct subscription *subscription,
                                 enum subscription_index index)
{
    return index == SUBSCRIPTION_BY_PORT ? subscription->guid
                                         : wire_get(subscription->inform, INFORM_INFO_TRAP_NUMBER);
}

static void remove_from_index(struct registry *registry, const struct subscription *subscription)
{
    for (unsigned i = 0; i < SUBSCRIPTION_INDEXES; i++)
        chains_remove(&registry->subscription_index[i], subscription_key(subscription, i),
                      subscription->links[i]);
}

/* True if both select the same notices. With a GID, the LID range has no meaning. */
static bool selects_same_notices(const uint8_t *a, const uint8_t *b)
{
    static const enum wire_field fields[] = {INFORM_INFO_IS_GENERIC, INFORM_INFO_TYPE,
                                             INFORM_INFO_TRAP_NUMBER, INFORM_INFO_PRODUCER_TYPE};
    const uint8_t *gid = wire_bytes_const(a, INFORM_INFO_GID);
    bool by_gid = gid_prefix(gid) || gid_guid(gid);
    if (memcmp(gid, wire_bytes_const(b, INFORM_INFO_GID), 16) != 0)
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (wire_get(a, fields[i]) != wire_get(b, fields[i]))
            return false;
    return by_gid ||
           (wire_get(a, INFORM_INFO_LID_RANGE_BEGIN) == wire_get(b, INFORM_INFO_LID_RANGE_BEGIN) &&
            wire_get(a, INFORM_INFO_LID_RANGE_END) == wire_get(b, INFORM_INFO_LID_RANGE_END));
}

struct subscription *subscription_find(struct sa *sa, uint32_t number)
{
    const struct registry *registry = &sa->registry;
    size_t at; /* subscriptions are sorted by number */
    lower_bound(at, registry->subscriptions.count,
                registry->subscriptions.items[at].number < number);
    if (at == registry->subscriptions.count || registry->subscriptions.items[at].number != number)
        return NULL;
    return &registry->subscriptions.items[at];
}

/* The port of the GID must exist and be visible to the subscriber; LIDs must be unicast LIDs. */
static bool is_valid_selection(const struct sa *sa, const struct query *query)
{
    const uint8_t *inform = query_data(query), *gid = wire_bytes_const(inform, INFORM_INFO_GID);
    unsigned first = (unsigned)wire_get(inform, INFORM_INFO_LID_RANGE_BEGIN);
    unsigned last = (unsigned)wire_get(inform, INFORM_INFO_LID_RANGE_END);
    uint64_t requester = sa_requester_guid(sa, query);
    if (gid_prefix(gid) || gid_guid(gid))
        return sa_is_local_prefix(sa, gid_prefix(gid)) &&
               sa_find_end_point(sa, gid_guid(gid)) != NETWORK_NONE &&
               access_may_see(sa, requester, gid_guid(gid));
    if (first == LIDS_ALL)
        return true;
    last = last ? last : first;
    return first <= last && last <= LID_UNICAST_LAST;
}

void subscription_drop(struct sa *sa, struct subscription *subscription)
{
    assert(subscription >= sa->registry.subscriptions.items &&
           subscription < sa->registry.subscriptions.items + sa->registry.subscriptions.count);
    remove_from_index(&sa->registry, subscription);
    vec_remove(&sa->registry.subscriptions,
               (size_t)(subscription - sa->registry.subscriptions.items));
    sa->registry.removed = ++sa->registry.generation;
}

void subscriptions_remove_if(struct sa *sa, bool (*unwanted)(void *context, struct subscription *),
                             void *context)
{
    struct registry *registry = &sa->registry;
    size_t kept = 0;
    for (size_t i = 0; i < registry->subscriptions.count; i++) {
        struct subscription *subscription = &registry->subscriptions.items[i];
        if (!unwanted(context, subscription)) {
            registry->subscriptions.items[kept++] = *subscription;
            continue;
        }
        remove_from_index(registry, subscription);
        registry->removed = ++registry->generation;
    }
    registry->subscriptions.count = kept;
}

/* A new subscription gets the highest number, so that the list stays sorted. */
void subscription_put(struct sa *sa, const struct subscription *subscription)
{
    struct registry *registry = &sa->registry;
    struct subscription *known = subscription_find(sa, subscription->number);
    if (!known || known->guid != subscription->guid) {
        struct subscription fresh = *subscription;
        if (fresh.number <= registry->next_subscription)
            fresh.number = registry->next_subscription + 1;
        registry->next_subscription = fresh.number;
        vec_push(&registry->subscriptions, fresh);
        known = &registry->subscriptions.items[registry->subscriptions.count - 1];
    } else {
        remove_from_index(registry, known);
    }
    uint32_t number = known->number;
    *known = *subscription;
    known->number = number;
    assert(number <= registry->next_subscription);
    known->changed = ++registry->generation;
    for (unsigned i = 0; i < SUBSCRIPTION_INDEXES; i++)
        known->links[i] =
            chains_add(&registry->subscription_index[i], subscription_key(known, i), known->number);
}

void subscriptions_update_lids(struct sa *sa)
{
    const struct network *network = sa->view.network;
    for (size_t i = 0; i < sa->registry.subscriptions.count; i++) {
        struct subscription *subscription = &sa->registry.subscriptions.items[i];
        uint32_t point = map_get(&sa->index.by_guid, subscription->guid);
        unsigned lid = subscription->address.lid;
        if (point == MAP_NONE || (lid <= network->top_lid && network->owner[lid] == point))
            continue;
        lid = 0;
        while (lid < network->top_lid && network->owner[lid] != point)
            lid++;
        subscription->address.lid = (uint16_t)lid;
        subscription->changed = ++sa->registry.generation;
    }
}

static struct subscription *find_same(struct sa *sa, const struct query *query,
                                      struct answer *answer)
{
    const struct chains *chains = &sa->registry.subscription_index[SUBSCRIPTION_BY_PORT];
    for (uint32_t link = chains_first(chains, sa_requester_guid(sa, query)); link != CHAIN_END;
         link = chains_next(chains, link)) {
        struct subscription *other = subscription_find(sa, chains_item(chains, link));
        answer->considered++;
        if (other->address.lid == query->address.lid && other->address.qp == query->address.qp &&
            selects_same_notices(query_data(query), other->inform))
            return other;
    }
    return NULL;
}

uint16_t inform_info(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *inform = query_data(query);
    struct subscription *known = find_same(sa, query, answer);
    struct subscription fresh = {.guid = sa_requester_guid(sa, query),
                                 .address = query->address,
                                 .absent_since = TIME_NEVER};
    switch (wire_get(inform, INFORM_INFO_SUBSCRIBE)) {
    case 0:
        if (!known)
            return STATUS_SA_BAD_REQUEST;
        subscription_drop(sa, known);
        break;
    case 1:
        if (!is_valid_selection(sa, query))
            return STATUS_SA_BAD_REQUEST;
        if (known)
            break;
        if (sa->registry.subscriptions.count >= sa->config.subscription_limit ||
            sa_port_limit_reached(query, &sa->registry.subscription_index[SUBSCRIPTION_BY_PORT],
                                  fresh.guid, sa->config.port_subscriptions))
            return STATUS_SA_NO_RESOURCES;
        memcpy(fresh.inform, inform, sizeof fresh.inform);
        wire_set(fresh.inform, INFORM_INFO_QPN, query->address.qp);
        subscription_put(sa, &fresh);
        break;
    default: return STATUS_SA_BAD_REQUEST;
    }
    memcpy(answer_add(answer), inform, WIRE_BYTES_INFORM_INFO);
    return STATUS_OK;
}

static const struct component inform_components[] = {
    {0, 1, INFORM_INFO_RECORD_SUBSCRIBER_GID, 0},
    {3, 5, INFORM_INFO_GID, INFORM_INFO_RECORD_AT_INFORM_INFO},
    {7, 11, INFORM_INFO_IS_GENERIC, INFORM_INFO_RECORD_AT_INFORM_INFO},
    {13, 13, INFORM_INFO_RESP_TIME_VALUE, INFORM_INFO_RECORD_AT_INFORM_INFO},
    {15, 15, INFORM_INFO_PRODUCER_TYPE, INFORM_INFO_RECORD_AT_INFORM_INFO},
    NO_COMPONENT,
};

uint16_t inform_info_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    uint64_t requester = access_requester(sa, query);
    struct matcher matcher;
    matcher_init(&matcher, inform_components, query_mask(query), query_data(query));
    for (size_t i = 0; i < sa->registry.subscriptions.count; i++) {
        const struct subscription *subscription = &sa->registry.subscriptions.items[i];
        answer->considered++;
        if (!access_may_see(sa, requester, subscription->guid))
            continue;
        uint8_t *record = answer_add(answer);
        gid_set(wire_bytes(record, INFORM_INFO_RECORD_SUBSCRIBER_GID), sa->config.prefix,
                subscription->guid);
        wire_set(record, INFORM_INFO_RECORD_ENUM, subscription->number);
        memcpy(record + INFORM_INFO_RECORD_AT_INFORM_INFO, subscription->inform,
               WIRE_BYTES_INFORM_INFO);
        answer_match(answer, &matcher);
    }
    return STATUS_OK;
}

static bool is_absent(void *context, struct subscription *subscription)
{
    return sa_is_lost(context, subscription->guid, &subscription->absent_since);
}

void subscriptions_remove_absent(struct sa *sa)
{
    subscriptions_remove_if(sa, is_absent, sa);
}
