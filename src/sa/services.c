/* ServiceRecord: hosts register and look up services (15.2.5.14), with leases.
 *
 * ServiceID, ServiceGID and ServiceP_Key identify a service. Set creates it or renews its lease; at
 * the end of the lease the service is removed. A service that was registered with a key is changed
 * only with that key. Only clients with the sa_key see service keys, and register services of other
 * ports.
 *
 * Services are sorted by number, and indexed by the components that clients query: the identity,
 * the ID, the GID or the name. A query for none of them reads all services and is charged so. */
#include "sa/internal.h"
#include "subnet/partitions.h"

#include <assert.h>
#include <nettle/memops.h>

enum service_component {
    SERVICE_ID = 0,
    SERVICE_GID = 1,
    SERVICE_P_KEY = 2,
    SERVICE_LEASE = 4,
    SERVICE_KEY = 5,
    SERVICE_NAME = 6,
    SERVICE_DATA8 = 7,
    SERVICE_DATA16 = 23,
    SERVICE_DATA32 = 31,
    SERVICE_DATA64 = 35,
};
#define LEASE_FOREVER UINT32_MAX
enum { RECORDS_MOVED = 64 }; /* in the time in which one is matched, when one is removed */

static const struct component service_components[] = {
    {SERVICE_ID, SERVICE_P_KEY, SERVICE_RECORD_ID, 0},
    {5, 6, SERVICE_RECORD_KEY, 0},
    NO_COMPONENT,
};

/* Each element of the service data is a component. */
static bool data_matches(const struct query *query, const uint8_t *record)
{
    static const struct {
        unsigned first_bit;
        enum wire_field field;
    } arrays[] = {
        {SERVICE_DATA8, SERVICE_RECORD_DATA8},
        {SERVICE_DATA16, SERVICE_RECORD_DATA16},
        {SERVICE_DATA32, SERVICE_RECORD_DATA32},
        {SERVICE_DATA64, SERVICE_RECORD_DATA64},
    };
    if (!(query_mask(query) >> SERVICE_DATA8))
        return true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        for (unsigned j = 0; j < wire_fields[arrays[i].field].count; j++)
            if (query_has(query, arrays[i].first_bit + j) &&
                wire_get_at(query_data(query), arrays[i].field, j) !=
                    wire_get_at(record, arrays[i].field, j))
                return false;
    return true;
}

static void add_service(const struct query *query, const struct service *service,
                        struct answer *answer)
{
    uint8_t *record = answer_add(answer);
    memcpy(record, service->record, WIRE_BYTES_SERVICE_RECORD);
    if (!query_is_trusted(query))
        memset(wire_bytes(record, SERVICE_RECORD_KEY), 0, wire_fields[SERVICE_RECORD_KEY].count);
}

/* ---- the index ---- */

static uint64_t service_key(const struct service *service, enum service_index index)
{
    const uint8_t *record = service->record;
    const uint8_t *gid = wire_bytes_const(record, SERVICE_RECORD_GID);
    uint64_t id = wire_get(record, SERVICE_RECORD_ID);
    switch (index) {
    case SERVICE_BY_IDENTITY:
        return hash_bytes(id ^ wire_get(record, SERVICE_RECORD_P_KEY) << 48, gid, 16);
    case SERVICE_BY_ID: return id;
    case SERVICE_BY_GID: return hash_bytes(0, gid, 16);
    case SERVICE_BY_NAME:
        return hash_bytes(0, wire_bytes_const(record, SERVICE_RECORD_NAME),
                          wire_fields[SERVICE_RECORD_NAME].count);
    default: return service->owner;
    }
}

static void remove_from_index(struct registry *registry, const struct service *service)
{
    for (unsigned i = 0; i < SERVICE_INDEXES; i++)
        chains_remove(&registry->service_index[i], service_key(service, i), service->links[i]);
}

static size_t place_of_service(const struct registry *registry, uint32_t number)
{
    size_t at;
    lower_bound(at, registry->services.count, registry->services.items[at].number < number);
    return at;
}

static struct service *service_at(const struct registry *registry, uint32_t number)
{
    struct service *service = &registry->services.items[place_of_service(registry, number)];
    assert(service->number == number);
    return service;
}

struct service *service_find(struct sa *sa, const uint8_t *record)
{
    const struct registry *registry = &sa->registry;
    const struct chains *chains = &registry->service_index[SERVICE_BY_IDENTITY];
    struct service wanted;
    memcpy(wanted.record, record, sizeof wanted.record);
    for (uint32_t link = chains_first(chains, service_key(&wanted, SERVICE_BY_IDENTITY));
         link != CHAIN_END; link = chains_next(chains, link)) {
        struct service *service = service_at(registry, chains_item(chains, link));
        /* A record begins with ID, GID and P_Key. */
        if (memcmp(service->record, record, wire_fields[SERVICE_RECORD_P_KEY].offset / 8 + 2) == 0)
            return service;
    }
    return NULL;
}

/* Adds a service, or replaces the one with its identity. It keeps its number if this is free. */
static struct service *store_service(struct sa *sa, const struct service *service)
{
    struct registry *registry = &sa->registry;
    struct service *known = service_find(sa, service->record), stored = *service;
    if (known && (!stored.number || stored.number == known->number)) {
        stored.number = known->number;
        remove_from_index(registry, known);
    } else {
        if (known)
            service_drop(sa, known);
        size_t place = place_of_service(registry, stored.number);
        bool taken = place < registry->services.count &&
                     registry->services.items[place].number == stored.number;
        if (!stored.number || taken) {
            stored.number = registry->next_service + 1;
            place = registry->services.count;
        }
        vec_insert(&registry->services, place, stored);
        known = &registry->services.items[place];
    }
    if (stored.number > registry->next_service)
        registry->next_service = stored.number;
    stored.changed = ++registry->generation;
    *known = stored;
    for (unsigned i = 0; i < SERVICE_INDEXES; i++)
        known->links[i] =
            chains_add(&registry->service_index[i], service_key(known, i), known->number);
    return known;
}

void services_remove_if(struct sa *sa, bool (*unwanted)(void *context, const struct service *),
                        void *context)
{
    struct registry *registry = &sa->registry;
    size_t kept = 0;
    for (size_t i = 0; i < registry->services.count; i++) {
        struct service *service = &registry->services.items[i];
        if (!unwanted(context, service)) {
            registry->services.items[kept++] = *service;
            continue;
        }
        remove_from_index(registry, service);
        registry->removed = ++registry->generation;
    }
    registry->services.count = kept;
}

/* ---- registering ---- */

/* A port registers its own GIDs, with any prefix. Only a client with the sa_key registers for
 * others.
 */
static bool owns_gid(const struct sa *sa, const struct query *query)
{
    const uint8_t *gid = wire_bytes_const(query_data(query), SERVICE_RECORD_GID);
    uint32_t owner = sa_find_end_point(sa, gid_guid(gid));
    return query_is_trusted(query) ||
           (owner != NETWORK_NONE && owner == sa_end_point_at(sa, query->address.lid));
}

/* A service with a key can be changed only by a client that sends the key, or by a trusted client.
 * Its port may delete it without the key, as clients of OpenSM do, but not with a wrong one. */
static bool may_change(const struct query *query, const struct service *service)
{
    static const uint8_t no_key[16];
    const uint8_t *key = wire_bytes_const(service->record, SERVICE_RECORD_KEY);
    const uint8_t *shown = wire_bytes_const(query_data(query), SERVICE_RECORD_KEY);
    return query_is_trusted(query) || memeql_sec(key, no_key, sizeof no_key) ||
           (query_has(query, SERVICE_KEY) ? memeql_sec(key, shown, sizeof no_key)
                                          : query_method(query) == METHOD_DELETE);
}

static bool may_register(const struct sa *sa, const struct query *query)
{
    const uint8_t *data = query_data(query);
    unsigned key = (unsigned)wire_get(data, SERVICE_RECORD_P_KEY);
    uint64_t guid = gid_guid(wire_bytes_const(data, SERVICE_RECORD_GID));
    /* Look-ups compare the P_Key in the record, also that of a client that sets no mask bit. */
    if (!query_has(query, SERVICE_P_KEY) && !(key & PARTITION_DEFAULT))
        return true;
    if (!access_has_key(sa, sa_requester_guid(sa, query), key))
        return false;
    return !query_has(query, SERVICE_GID) ||
           (sa_find_end_point(sa, guid) != NETWORK_NONE && access_has_key(sa, guid, key));
}

uint64_t service_lease_end(const struct sa *sa, uint64_t seconds)
{
    return seconds >= UINT32_MAX ? TIME_NEVER : sa->now + seconds * NS_PER_S;
}

static uint16_t register_service(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *data = query_data(query);
    if (!query_has(query, SERVICE_ID) || !query_has(query, SERVICE_GID) || !may_register(sa, query))
        return STATUS_SA_BAD_REQUEST;
    if (!owns_gid(sa, query))
        return STATUS_SA_DENIED;
    const struct service *known = service_find(sa, data);
    if (known && !may_change(query, known))
        return STATUS_SA_DENIED;
    struct service service = {.owner = sa_requester_guid(sa, query), .expires = TIME_NEVER};
    if (!known && (sa->registry.services.count >= sa->config.service_limit ||
                   sa_port_limit_reached(query, &sa->registry.service_index[SERVICE_BY_OWNER],
                                         service.owner, sa->config.port_services)))
        return STATUS_SA_NO_RESOURCES;
    memcpy(service.record, data, WIRE_BYTES_SERVICE_RECORD);
    if (!query_has(query, SERVICE_KEY))
        memset(wire_bytes(service.record, SERVICE_RECORD_KEY), 0,
               wire_fields[SERVICE_RECORD_KEY].count);
    if (!query_has(query, SERVICE_LEASE))
        wire_set(service.record, SERVICE_RECORD_LEASE, LEASE_FOREVER);
    service.expires = service_lease_end(sa, wire_get(service.record, SERVICE_RECORD_LEASE));
    if (service.expires < sa->registrations_due)
        sa->registrations_due = service.expires;
    if (known)
        service.owner = known->owner;
    add_service(query, store_service(sa, &service), answer);
    return STATUS_OK;
}

void service_drop(struct sa *sa, struct service *service)
{
    assert(service >= sa->registry.services.items &&
           service < sa->registry.services.items + sa->registry.services.count);
    remove_from_index(&sa->registry, service);
    vec_remove(&sa->registry.services, (size_t)(service - sa->registry.services.items));
    sa->registry.removed = ++sa->registry.generation;
}

void service_put(struct sa *sa, const struct service *service)
{
    struct service read = *service;
    read.owner = sa_port_guid(sa, gid_guid(wire_bytes_const(service->record, SERVICE_RECORD_GID)));
    store_service(sa, &read);
}

/* ---- look-ups ---- */

static void look_up_services(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct registry *registry = &sa->registry;
    uint64_t requester = sa_requester_guid(sa, query);
    struct matcher matcher;
    struct service wanted;
    bool by_id = query_has(query, SERVICE_ID), by_gid = query_has(query, SERVICE_GID);
    enum service_index index = by_id && by_gid && query_has(query, SERVICE_P_KEY)
                                   ? SERVICE_BY_IDENTITY
                               : by_id                          ? SERVICE_BY_ID
                               : by_gid                         ? SERVICE_BY_GID
                               : query_has(query, SERVICE_NAME) ? SERVICE_BY_NAME
                                                                : SERVICE_INDEXES;
    bool all = index == SERVICE_INDEXES;
    memcpy(wanted.record, query_data(query), sizeof wanted.record);
    matcher_init(&matcher, service_components, query_mask(query), query_data(query));
    const struct chains *chains = &registry->service_index[all ? 0 : index];
    uint32_t link = all ? CHAIN_END : chains_first(chains, service_key(&wanted, index));
    for (size_t i = 0; all ? i < registry->services.count : link != CHAIN_END; i++) {
        const struct service *service =
            all ? &registry->services.items[i] : service_at(registry, chains_item(chains, link));
        link = all ? CHAIN_END : chains_next(chains, link);
        unsigned key = (unsigned)wire_get(service->record, SERVICE_RECORD_P_KEY);
        if (matcher_accepts(&matcher, service->record) && data_matches(query, service->record) &&
            (!(key & PARTITION_DEFAULT) || access_has_key(sa, requester, key)))
            add_service(query, service, answer);
        else
            answer->considered++;
    }
}

uint16_t service_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    if (query_method(query) == METHOD_SET)
        return register_service(sa, query, answer);
    if (query_method(query) == METHOD_DELETE) {
        struct service *service = service_find(sa, query_data(query));
        if (!service || !may_register(sa, query))
            return STATUS_SA_NO_RECORDS;
        if (!owns_gid(sa, query) || !may_change(query, service))
            return STATUS_SA_DENIED;
        add_service(query, service, answer);
        answer->considered += (uint32_t)(sa->registry.services.count / RECORDS_MOVED);
        service_drop(sa, service);
        return STATUS_OK;
    }
    look_up_services(sa, query, answer);
    return STATUS_OK;
}

static bool lease_has_ended(void *context, const struct service *service)
{
    struct sa *sa = context;
    if (service->expires > sa->now && service->expires < sa->registrations_due)
        sa->registrations_due = service->expires;
    return service->expires <= sa->now;
}

void services_expire(struct sa *sa)
{
    services_remove_if(sa, lease_has_ended, sa);
}
