/* ServiceRecord: hosts register and look up services (15.2.5.14), with leases.
 *
 * ServiceID, ServiceGID and ServiceP_Key identify a service. Set creates it or renews its lease; at
 * the end of the lease the service is removed. A service that was registered with a key is changed
 * and deleted only with that key. Only clients with the sa_key see service keys, and register
 * services of other ports. */
#include "base/sha256.h"
#include "sa/internal.h"

#include <assert.h>

enum service_component {
    SERVICE_ID = 0,
    SERVICE_GID = 1,
    SERVICE_P_KEY = 2,
    SERVICE_LEASE = 4,
    SERVICE_KEY = 5,
    SERVICE_DATA8 = 7,
    SERVICE_DATA16 = 23,
    SERVICE_DATA32 = 31,
    SERVICE_DATA64 = 35,
};
#define LEASE_FOREVER UINT32_MAX

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

static struct service *find_service(struct sa *sa, const uint8_t *record)
{
    for (size_t i = 0; i < sa->registry.services.count; i++) {
        struct service *service = &sa->registry.services.items[i];
        /* A record begins with ID, GID and P_Key. */
        if (memcmp(service->record, record, wire_fields[SERVICE_RECORD_P_KEY].offset / 8 + 2) == 0)
            return service;
    }
    return NULL;
}

/* A port registers its own GIDs, with any prefix. Only a client with the sa_key registers for
 * others.
 */
static bool owns_gid(const struct sa *sa, const struct query *query)
{
    const uint8_t *gid = wire_bytes_const(query_data(query), SERVICE_RECORD_GID);
    uint32_t owner = map_get(&sa->index.by_guid, gid_guid(gid));
    return query_is_trusted(query) ||
           (owner != MAP_NONE && owner == sa_end_point_at(sa, query->address.lid));
}

/* A service that has a key is changed only by a client that shows it, or by a trusted one. Its port
 * may delete it without the key, as clients of OpenSM do, but not with a wrong one. */
static bool may_change(const struct query *query, const struct service *service)
{
    static const uint8_t no_key[16];
    const uint8_t *key = wire_bytes_const(service->record, SERVICE_RECORD_KEY);
    const uint8_t *shown = wire_bytes_const(query_data(query), SERVICE_RECORD_KEY);
    return query_is_trusted(query) || secret_equal(key, no_key, sizeof no_key) ||
           (query_has(query, SERVICE_KEY) ? secret_equal(key, shown, sizeof no_key)
                                          : query_method(query) == METHOD_DELETE);
}

static bool may_register(const struct sa *sa, const struct query *query)
{
    const uint8_t *data = query_data(query);
    unsigned key = (unsigned)wire_get(data, SERVICE_RECORD_P_KEY);
    uint64_t guid = gid_guid(wire_bytes_const(data, SERVICE_RECORD_GID));
    if (!query_has(query, SERVICE_P_KEY))
        return true;
    if (!access_has_key(sa, sa_requester_guid(sa, query), key))
        return false;
    return !query_has(query, SERVICE_GID) ||
           (map_get(&sa->index.by_guid, guid) != MAP_NONE && access_has_key(sa, guid, key));
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
    struct service *service = find_service(sa, data);
    if (service && !may_change(query, service))
        return STATUS_SA_DENIED;
    if (!service && sa->registry.services.count >= sa->config.service_limit)
        return STATUS_SA_NO_RESOURCES;
    if (!service) {
        vec_push(&sa->registry.services,
                 ((struct service){.expires = TIME_NEVER, .number = ++sa->registry.next_service}));
        service = &sa->registry.services.items[sa->registry.services.count - 1];
    }
    service->changed = ++sa->registry.generation;
    memcpy(service->record, data, WIRE_BYTES_SERVICE_RECORD);
    if (!query_has(query, SERVICE_KEY))
        memset(wire_bytes(service->record, SERVICE_RECORD_KEY), 0,
               wire_fields[SERVICE_RECORD_KEY].count);
    if (!query_has(query, SERVICE_LEASE))
        wire_set(service->record, SERVICE_RECORD_LEASE, LEASE_FOREVER);
    service->expires = service_lease_end(sa, wire_get(service->record, SERVICE_RECORD_LEASE));
    if (service->expires < sa->registrations_due)
        sa->registrations_due = service->expires;
    add_service(query, service, answer);
    return STATUS_OK;
}

void service_drop(struct sa *sa, struct service *service)
{
    assert(service >= sa->registry.services.items &&
           service < sa->registry.services.items + sa->registry.services.count);
    vec_remove(&sa->registry.services, (size_t)(service - sa->registry.services.items));
    sa->registry.removed = ++sa->registry.generation;
}

void service_put(struct sa *sa, const struct service *service)
{
    struct registry *registry = &sa->registry;
    struct service *known = find_service(sa, service->record);
    if (!known) {
        vec_push(&registry->services, *service);
        known = &registry->services.items[registry->services.count - 1];
    }
    *known = *service;
    if (!known->number)
        known->number = registry->next_service + 1;
    if (known->number > registry->next_service)
        registry->next_service = known->number;
    known->changed = ++registry->generation;
}

uint16_t service_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    if (query_method(query) == METHOD_SET)
        return register_service(sa, query, answer);
    if (query_method(query) == METHOD_DELETE) {
        struct service *service = find_service(sa, query_data(query));
        if (!service || !may_register(sa, query))
            return STATUS_SA_NO_RECORDS;
        if (!owns_gid(sa, query) || !may_change(query, service))
            return STATUS_SA_DENIED;
        add_service(query, service, answer);
        service_drop(sa, service);
        return STATUS_OK;
    }
    uint64_t requester = sa_requester_guid(sa, query);
    struct matcher matcher;
    matcher_init(&matcher, service_components, query_mask(query), query_data(query));
    for (size_t i = 0; i < sa->registry.services.count; i++) {
        const struct service *service = &sa->registry.services.items[i];
        unsigned key = (unsigned)wire_get(service->record, SERVICE_RECORD_P_KEY);
        if (matcher_accepts(&matcher, service->record) && data_matches(query, service->record) &&
            (!(key & 0x7FFF) || access_has_key(sa, requester, key)))
            add_service(query, service, answer);
    }
    return STATUS_OK;
}

void services_expire(struct sa *sa)
{
    for (size_t i = sa->registry.services.count; i-- > 0;) {
        struct service *service = &sa->registry.services.items[i];
        if (service->expires <= sa->now)
            service_drop(sa, service);
        else if (service->expires < sa->registrations_due)
            sa->registrations_due = service->expires;
    }
}
