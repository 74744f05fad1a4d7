/* Set and Delete of GUIDInfoRecord: clients add and remove alias GUIDs of a port (15.2.5.18).
 *
 * A request selects places of a block with its component mask. Set takes the GUID of each selected
 * place if no port and no other place in the subnet has it; for GUID 0 the SA assigns one. In the
 * response a selected place with GUID 0 was not accepted; its GUID stays as it was. Only the port
 * itself and trusted clients may change its GUIDs.
 *
 * An assigned GUID has the OpenFabrics OUI 00:14:05, the byte `sm_assigned_guid`, a zero and 24
 * bits, as one of OpenSM. These bits are a hash of the port GUID and the place, so that a place
 * gets the same GUID again from any manager, unless the GUID is in use. */
#include "sa/internal.h"

enum { GUIDS_LID = 0, GUIDS_BLOCK = 1, GUIDS_FIRST = 4 }; /* components */
#define OPENFABRICS_OUI UINT64_C(0x001405)
enum { ASSIGNED_BITS = 24, ASSIGN_TRIES = 1000 };
enum { ROWS_PER_RECORD = 64 }; /* ports, groups or services that are read in its time */

/* ---- unique GUIDs ---- */

/* All ports that the manager has seen: a GUID of an absent port is not given away. */
static void index_port_guids(struct sa *sa, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    if (sa->port_guids.count && sa->port_guids_generation == subnet->generation)
        return;
    map_release(&sa->port_guids);
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        if (subnet->ports.items[port].guid)
            map_set(&sa->port_guids, subnet->ports.items[port].guid, port);
    sa->port_guids_generation = subnet->generation;
    answer->considered += (uint32_t)(subnet->ports.count / ROWS_PER_RECORD);
}

static bool is_free(const struct sa *sa, uint64_t guid)
{
    return guid != UINT64_MAX && map_get(&sa->port_guids, guid) == MAP_NONE &&
           map_get(&sa->index.by_guid, guid) == MAP_NONE &&
           !alias_guids_port(&sa->registry.aliases, guid);
}

/* 0: no free GUID was found. */
static uint64_t assign_guid(const struct sa *sa, uint64_t port_guid, unsigned place)
{
    uint64_t base = OPENFABRICS_OUI << 40 | (uint64_t)sa->config.assigned_guid << 32;
    uint64_t hash = hash_mix(port_guid ^ (uint64_t)place << 56);
    for (unsigned tries = 0; tries < ASSIGN_TRIES; tries++, hash = hash_mix(hash + 1)) {
        uint64_t guid = base | (hash & ((1 << ASSIGNED_BITS) - 1));
        if (is_free(sa, guid))
            return guid;
    }
    return 0;
}

static bool is_assigned(const struct sa *sa, uint64_t guid)
{
    return guid >> 32 == (OPENFABRICS_OUI << 8 | sa->config.assigned_guid);
}

/* ---- changes ---- */

/* Members of groups and services must not pass to the next owner of the GUID. */
static bool has_guid(void *context, const struct service *service)
{
    const uint64_t *guid = context;
    return gid_guid(wire_bytes_const(service->record, SERVICE_RECORD_GID)) == *guid;
}

static void drop_registrations_of(struct sa *sa, uint64_t guid)
{
    struct groups *groups = &sa->registry.groups;
    for (size_t i = groups->all.count; i-- > 0;) {
        struct group *group = groups->all.items[i];
        if (!group_find_member(group, guid))
            continue;
        groups_leave(groups, group, guid, 0xF);
        groups_remove_if_unused(sa, group);
    }
    services_remove_if(sa, has_guid, &guid);
}

/* Reports the change as that of a port: the alias GID is in service or out of service. */
static void change_place(struct sa *sa, struct alias_block *block, unsigned place, uint64_t guid)
{
    uint8_t gid[16];
    uint64_t before = block->guids[place];
    if (before == guid)
        return;
    if (before) {
        gid_set(gid, sa->config.prefix, before);
        report_change(sa, ATTRIBUTE_TRAP_GID_OUT_OF_SERVICE, gid, 0);
        drop_registrations_of(sa, before);
    }
    alias_guids_set(&sa->registry.aliases, block, place, guid);
    block->changed = ++sa->registry.generation;
    if (guid) {
        gid_set(gid, sa->config.prefix, guid);
        report_change(sa, ATTRIBUTE_TRAP_GID_IN_SERVICE, gid, 0);
    }
}

/* Returns the GUID that the place has now; 0: the request is not accepted. */
static uint64_t set_place(struct sa *sa, const struct query *query, struct alias_block *block,
                          unsigned place, uint64_t wanted)
{
    uint64_t before = block->guids[place];
    uint32_t limit = query_is_trusted(query) ? 0 : sa->config.port_aliases;
    if (before && (wanted ? wanted == before : is_assigned(sa, before)))
        return before; /* a repeated request */
    if (!before && limit && alias_guids_count(&sa->registry.aliases, block->port_guid) >= limit)
        return 0;
    if (!wanted)
        wanted = assign_guid(sa, block->port_guid, block->number * ALIAS_PLACES + place);
    if (!wanted || !is_free(sa, wanted))
        return 0;
    change_place(sa, block, place, wanted);
    return wanted;
}

static void fill_block(uint8_t *guids, uint64_t port_guid, const struct alias_block *block,
                       unsigned number)
{
    for (unsigned place = 0; block && place < ALIAS_PLACES; place++)
        wire_set_at(guids, GUID_INFO_GUID, place, block->guids[place]);
    if (number == 0)
        wire_set_at(guids, GUID_INFO_GUID, 0, port_guid);
}

void alias_report(struct sa *sa, unsigned trap, uint64_t port_guid)
{
    const struct alias_guids *aliases = &sa->registry.aliases;
    uint8_t gid[16];
    for (uint32_t at = map_get(&aliases->by_port, port_guid); at != ALIAS_END;
         at = aliases->blocks.items[at].next)
        for (unsigned place = 0; place < ALIAS_PLACES; place++)
            if (aliases->blocks.items[at].guids[place]) {
                gid_set(gid, sa->config.prefix, aliases->blocks.items[at].guids[place]);
                report_change(sa, trap, gid, 0);
            }
}

void alias_fill_block(const struct sa *sa, uint64_t port_guid, unsigned number, uint8_t *guids)
{
    fill_block(guids, port_guid, alias_guids_find(&sa->registry.aliases, port_guid, number),
               number);
}

bool alias_block_matches(const struct query *query, const uint8_t *guids)
{
    const uint8_t *wanted = query_data(query) + GUID_INFO_RECORD_AT_GUID_INFO;
    for (unsigned place = 0; place < ALIAS_PLACES; place++)
        if (query_has(query, GUIDS_FIRST + place) &&
            wire_get_at(wanted, GUID_INFO_GUID, place) != wire_get_at(guids, GUID_INFO_GUID, place))
            return false;
    return true;
}

/* The port whose GUIDs a request changes, if it may. */
static uint16_t find_requested_port(const struct sa *sa, const struct query *query, unsigned number,
                                    uint64_t *port_guid)
{
    const uint8_t *data = query_data(query);
    uint32_t port = sa_port_at(sa, (unsigned)wire_get(data, GUID_INFO_RECORD_LID));
    if (!query_has(query, GUIDS_LID) || !query_has(query, GUIDS_BLOCK))
        return STATUS_SA_TOO_FEW_COMPONENTS;
    if (port == SUBNET_NONE)
        return STATUS_SA_NO_RECORDS;
    const struct subnet_port *p = &sa->view.subnet->ports.items[port];
    *port_guid = p->guid;
    if (!query_is_trusted(query) && p->guid != sa_requester_guid(sa, query))
        return STATUS_SA_DENIED;
    if (number * ALIAS_PLACES >= wire_get(p->info, PORT_INFO_GUID_CAP))
        return STATUS_SA_NO_RECORDS;
    if (number == 0 && query_has(query, GUIDS_FIRST))
        return STATUS_SA_BAD_REQUEST; /* the port's own GUID */
    return STATUS_OK;
}

uint16_t alias_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    struct alias_guids *aliases = &sa->registry.aliases;
    unsigned number = (unsigned)wire_get(query_data(query), GUID_INFO_RECORD_BLOCK);
    const uint8_t *wanted = query_data(query) + GUID_INFO_RECORD_AT_GUID_INFO;
    bool adds = query_method(query) == METHOD_SET;
    uint64_t port_guid;
    uint16_t status = find_requested_port(sa, query, number, &port_guid);
    if (status)
        return status;
    struct alias_block *block = alias_guids_find(aliases, port_guid, number);
    if (!block && adds) {
        if (aliases->blocks.count >= sa->config.alias_block_limit)
            return STATUS_SA_NO_RESOURCES;
        block = alias_guids_add(aliases, port_guid, number);
    }
    uint8_t *record = answer_add(answer);
    wire_set(record, GUID_INFO_RECORD_LID, wire_get(query_data(query), GUID_INFO_RECORD_LID));
    wire_set(record, GUID_INFO_RECORD_BLOCK, number);
    if (adds)
        index_port_guids(sa, answer);
    uint64_t generation = aliases->generation;
    uint8_t accepted = 0;
    for (unsigned place = 0; block && place < ALIAS_PLACES; place++)
        if (query_has(query, GUIDS_FIRST + place)) {
            if (!adds)
                change_place(sa, block, place, 0);
            else if (set_place(sa, query, block, place, wire_get_at(wanted, GUID_INFO_GUID, place)))
                accepted |= (uint8_t)(1 << place);
        }
    if (aliases->generation != generation) /* change_place() may have read all of them */
        answer->considered +=
            (uint32_t)((sa->registry.groups.all.count + sa->registry.services.count) /
                       ROWS_PER_RECORD);
    uint8_t *guids = record + GUID_INFO_RECORD_AT_GUID_INFO;
    fill_block(guids, port_guid, block, number);
    for (unsigned place = 0; place < ALIAS_PLACES; place++)
        if (query_has(query, GUIDS_FIRST + place) && !(accepted >> place & 1))
            wire_set_at(guids, GUID_INFO_GUID, place, 0);
    return STATUS_OK;
}

/* ---- the registry ---- */

void alias_put(struct sa *sa, uint64_t port_guid, unsigned number,
               const uint64_t guids[ALIAS_PLACES])
{
    struct alias_guids *aliases = &sa->registry.aliases;
    struct alias_block *block = alias_guids_find(aliases, port_guid, number);
    bool empty = true;
    for (unsigned place = number == 0; place < ALIAS_PLACES; place++)
        empty &= !guids[place];
    if (!block && empty)
        return;
    block = alias_guids_add(aliases, port_guid, number);
    for (unsigned place = number == 0; place < ALIAS_PLACES; place++)
        if (guids[place] != UINT64_MAX)
            alias_guids_set(aliases, block, place, guids[place]);
    block->changed = ++sa->registry.generation;
}

void aliases_clear(struct sa *sa)
{
    static const uint64_t nothing[ALIAS_PLACES];
    for (size_t i = 0; i < sa->registry.aliases.blocks.count; i++) {
        const struct alias_block *block = &sa->registry.aliases.blocks.items[i];
        alias_put(sa, block->port_guid, block->number, nothing);
    }
}

void aliases_remove_invalid(struct sa *sa)
{
    for (size_t i = 0; i < sa->registry.aliases.blocks.count; i++) {
        struct alias_block *block = &sa->registry.aliases.blocks.items[i];
        bool used = false;
        for (unsigned place = 0; place < ALIAS_PLACES; place++)
            used |= block->guids[place] != 0;
        if (!used)
            continue;
        bool lost = sa_is_lost(sa, block->port_guid, &block->absent_since);
        for (unsigned place = 0; place < ALIAS_PLACES; place++)
            if (block->guids[place] &&
                (lost || map_get(&sa->index.by_guid, block->guids[place]) != MAP_NONE))
                change_place(sa, block, place, 0);
    }
}
