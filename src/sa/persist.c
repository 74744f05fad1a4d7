/* Writes registrations as text, for the file of a manager and for its standbys.
 *
 * The format is that of OpenSM's opensm-sa.dump, so that either manager reads the other's file:
 *
 *     GUIDInfo Record: base_guid=0x… lid=0x… block_num=0x… guid0=0x… … guid7=0x…
 *     MC Group 0xc000 : mgid=0x…:0x… port_gid=0x…:0x… qkey=0x… mlid=0x… mtu=0x… tclass=0x… …
 *     mcm_port: port_gid=0x…:0x… scope_state=0x21 proxy_join=0x0
 *     Service Record: id=0x… gid=0x…:0x… pkey=0x… lease=0x… key=0x…:0x… name='…' data8=… …
 *     InformInfo Record: subscriber_gid=0x…:0x… subscriber_enum=0x… InformInfo: …
 *
 * Members follow their group. lease_period of a service is the rest of its lease in seconds, at
 * modified_time of the wall clock (0: now). Comments that begin with "# weft:" hold what OpenSM
 * does not store: the master of the registrations, what is wanted of virtual machines
 * (subnet/machines.h) and, in a text with changes only, the numbers of those that still exist.
 * Service names that are not printable are written in hexadecimal.
 *
 * Groups, members, services, subscriptions and blocks of alias GUIDs have the generation of their
 * last change. A text of
 * changes since some generations has those that changed later. It has all members of a group that
 * lost one. After a removal it lists the remaining MLIDs or numbers, in ranges, and
 * blocks of alias GUIDs that are empty now. */
#include "sa/persist.h"

/* The numbers of the patterns in persist.h. */
static const struct number {
    char letter;
    uint8_t digits, bits; /* written with leading zeros; read up to so many bits */
} numbers[] = {{'b', 2, 8}, {'h', 4, 16}, {'n', 6, 24}, {'w', 8, 32}, {'q', 16, 64},
               {'B', 1, 8}, {'H', 1, 16}, {'W', 1, 32}, {'Q', 1, 64}};

static const struct number *number_of(char letter)
{
    const struct number *number = numbers;
    while (number->letter != letter)
        number++;
    return number;
}

static void print_values(struct text *out, const char *pattern, const uint64_t *values)
{
    for (; *pattern; pattern++)
        if (*pattern == '%')
            text_printf(out, "%0*llx", number_of(*++pattern)->digits,
                        (unsigned long long)*values++);
        else
            text_putc(out, *pattern);
}

const char *registry_scan(const char *line, const char *pattern, uint64_t *values)
{
    for (; *pattern; pattern++) {
        if (*pattern == '\n')
            return line; /* other managers may add words */
        if (*pattern != '%') {
            if (*line++ != *pattern)
                return NULL;
            continue;
        }
        unsigned bits = number_of(*++pattern)->bits, digits = 0;
        for (*values = 0; digits < 16; digits++, line++) {
            int digit = *line >= '0' && *line <= '9'   ? *line - '0'
                        : *line >= 'a' && *line <= 'f' ? *line - 'a' + 10
                                                       : -1;
            if (digit < 0)
                break;
            *values = *values << 4 | (unsigned)digit;
        }
        if (!digits || (bits < 64 && *values >> bits))
            return NULL;
        values++;
    }
    return line;
}

static uint64_t word(const uint8_t *bytes, unsigned at)
{
    return wire_get_bits(bytes, at * 64, 64);
}

/* ---- alias GUIDs ---- */

/* Readers find the port by its GUID; the LID is not known to a standby. */
static void print_aliases(struct text *out, const struct alias_guids *aliases, uint64_t since)
{
    for (size_t i = 0; i < aliases->blocks.count; i++) {
        const struct alias_block *block = &aliases->blocks.items[i];
        uint64_t all = 0;
        for (unsigned place = 0; place < ALIAS_PLACES; place++)
            all |= block->guids[place];
        if (block->changed <= since || (!since && !all))
            continue;
        uint64_t values[REGISTRY_VALUES] = {block->port_guid, 0, block->number};
        memcpy(values + 3, block->guids, sizeof block->guids);
        if (!block->number)
            values[3] = block->port_guid;
        print_values(out, REGISTRY_ALIASES, values);
    }
}

/* ---- virtual machines ---- */

static void print_machine(struct text *out, const struct wanted_machines *machines,
                          const struct wanted_machine *row)
{
    const struct machine_history history = wanted_machines_history(machines, row->guid, UINT64_MAX);
    if (history.decision)
        print_values(out, REGISTRY_DECISION, &history.decision);
    print_values(out, REGISTRY_MACHINE,
                 (const uint64_t[]){row->guid, row->place, row->wish, row->lid, strlen(row->name),
                                    strlen(row->adapter)});
    text_printf(out, "%s%s\n", row->name, row->adapter);
}

static void print_machines(struct text *out, const struct wanted_machines *machines, uint64_t since)
{
    bool all = since && since < machines->dropped;
    if (all)
        text_puts(out, REGISTRY_MACHINES "\n");
    if ((all || !since) && machines->decision_dropped)
        print_values(out, REGISTRY_ENDED, &machines->decision_dropped);
    for (size_t i = 0; i < machines->rows.count; i++) {
        const struct wanted_machine *row = &machines->rows.items[i];
        if (!all && row->changed <= since)
            continue;
        print_machine(out, machines, row);
    }
}

/* ---- groups ---- */

static void print_group(struct text *out, const struct group *group)
{
    enum { EXACTLY = SELECT_EXACTLY << 6 };
    uint32_t flow = (uint32_t)group->sl << 28 | (group->flow_label & 0xFFFFF) << 8;
    print_values(out, REGISTRY_MLID, (const uint64_t[]){group->mlid});
    text_puts(out, group->permanent ? REGISTRY_WELL_KNOWN : "");
    print_values(out, REGISTRY_GROUP,
                 (const uint64_t[]){word(group->mgid, 0), word(group->mgid, 1), 0, 0, group->q_key,
                                    group->mlid, EXACTLY | group->mtu, group->traffic_class,
                                    group->p_key, EXACTLY | group->rate, EXACTLY | group->life_time,
                                    flow | group->hop_limit, group->scope << 4, 0});
}

static void print_groups(struct text *out, const struct groups *groups, uint64_t since)
{
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct group *group = groups->all.items[i];
        bool whole = group->changed > since || group->member_removed > since, named = whole;
        if (whole) {
            text_printf(out, "# weft: all of group 0x%04x\n", group->mlid);
            print_group(out, group);
        }
        for (size_t j = 0; j < group->members.count; j++) {
            const struct group_member *member = &group->members.items[j];
            if (!whole && member->changed <= since)
                continue;
            if (!named)
                print_group(out, group);
            named = true;
            print_values(out, REGISTRY_MEMBER,
                         (const uint64_t[]){member->prefix, member->guid,
                                            group->scope << 4 | member->join_state, member->proxy});
        }
    }
}

/* ---- services ---- */

static void print_service(struct text *out, const struct sa *sa, const struct service *service,
                          uint64_t wall_s)
{
    const uint8_t *record = service->record, *gid = wire_bytes_const(record, SERVICE_RECORD_GID);
    const uint8_t *key = wire_bytes_const(record, SERVICE_RECORD_KEY);
    const uint8_t *data = wire_bytes_const(record, SERVICE_RECORD_DATA8);
    const uint8_t *name = wire_bytes_const(record, SERVICE_RECORD_NAME);
    unsigned length = (unsigned)strnlen((const char *)name, SERVICE_NAME_BYTES);
    bool printable = true;
    for (unsigned i = 0; i < SERVICE_NAME_BYTES; i++)
        printable &=
            i < length ? name[i] >= ' ' && name[i] <= '~' && name[i] != '\'' : name[i] == 0;
    uint64_t left = service->expires == TIME_NEVER ? UINT32_MAX
                    : service->expires > sa->now   ? (service->expires - sa->now) / NS_PER_S
                                                   : 0;
    print_values(out, REGISTRY_SERVICE,
                 (const uint64_t[]){wire_get(record, SERVICE_RECORD_ID), word(gid, 0), word(gid, 1),
                                    wire_get(record, SERVICE_RECORD_P_KEY),
                                    wire_get(record, SERVICE_RECORD_LEASE), word(key, 0),
                                    word(key, 1)});
    text_printf(out, "%.*s", printable ? SERVICE_NAME_BYTES : 0, (const char *)name);
    uint64_t values[REGISTRY_VALUES] = {[8] = wall_s, left};
    for (unsigned i = 0; i < 8; i++)
        values[i] = word(data, i);
    print_values(out, REGISTRY_SERVICE_DATA, values);
    print_values(out, REGISTRY_NUMBER, (const uint64_t[]){service->number});
    for (unsigned i = 0; i < 8; i++)
        values[i] = word(name, i);
    if (!printable)
        print_values(out, REGISTRY_NAME, values);
    text_puts(out, "\n\n");
}

/* ---- subscriptions ---- */

static void print_subscription(struct text *out, uint64_t prefix,
                               const struct subscription *subscription)
{
    const uint8_t *inform = subscription->inform, *gid = wire_bytes_const(inform, INFORM_INFO_GID);
    const struct sa_address *address = &subscription->address;
    print_values(out, REGISTRY_SUBSCRIPTION,
                 (const uint64_t[]){prefix,
                                    subscription->guid,
                                    subscription->number,
                                    word(gid, 0),
                                    word(gid, 1),
                                    wire_get(inform, INFORM_INFO_LID_RANGE_BEGIN),
                                    wire_get(inform, INFORM_INFO_LID_RANGE_END),
                                    wire_get(inform, INFORM_INFO_IS_GENERIC),
                                    wire_get(inform, INFORM_INFO_SUBSCRIBE),
                                    wire_get(inform, INFORM_INFO_TYPE),
                                    wire_get(inform, INFORM_INFO_TRAP_NUMBER),
                                    wire_get(inform, INFORM_INFO_QPN) << 8 |
                                        wire_get(inform, INFORM_INFO_RESP_TIME_VALUE),
                                    wire_get(inform, INFORM_INFO_PRODUCER_TYPE),
                                    address->lid,
                                    address->path_bits,
                                    0,
                                    address->qp,
                                    address->q_key,
                                    address->p_key_index,
                                    address->sl});
}

/* ---- remaining numbers ---- */

struct ranges {
    struct text *out;
    uint32_t first, last;
    bool open;
};

static void end_range(struct ranges *ranges)
{
    if (ranges->open)
        text_printf(ranges->out, " 0x%x-0x%x", ranges->first, ranges->last);
    ranges->open = false;
}

static void add_to_range(struct ranges *ranges, uint32_t number)
{
    if (!ranges->open || number != ranges->last + 1) {
        end_range(ranges);
        *ranges = (struct ranges){ranges->out, number, number, true};
    }
    ranges->last = number;
}

static void print_remaining(struct text *out, const struct registry *registry,
                            const struct sa_generations *since)
{
    struct ranges ranges = {.out = out};
    if (registry->groups.removed > since->groups) {
        text_puts(out, "# weft: groups left");
        for (unsigned mlid = MLID_FIRST; mlid <= MLID_LAST; mlid++)
            if (groups_at(&registry->groups, mlid))
                add_to_range(&ranges, mlid);
        end_range(&ranges);
        text_putc(out, '\n');
    }
    if (registry->removed <= since->others)
        return;
    text_puts(out, "# weft: services left");
    for (size_t i = 0; i < registry->services.count; i++)
        add_to_range(&ranges, registry->services.items[i].number);
    end_range(&ranges);
    text_puts(out, "\n# weft: subscriptions left");
    for (size_t i = 0; i < registry->subscriptions.count; i++)
        add_to_range(&ranges, registry->subscriptions.items[i].number);
    end_range(&ranges);
    text_putc(out, '\n');
}

/* ---- entry points ---- */

struct sa_generations sa_registry_generations(const struct sa *sa)
{
    return (struct sa_generations){sa->registry.groups.generation, sa->registry.generation};
}

void sa_registry_print_changes(const struct sa *sa, uint64_t wall_s,
                               const struct sa_generations *since, struct text *out)
{
    const struct registry *registry = &sa->registry;
    /* A copy may lack what its master has acknowledged since. */
    unsigned master = sa->serves || !sa->registry_copied ? sa_registry_master(sa) : 0;
    print_values(out, REGISTRY_HEADER,
                 (const uint64_t[]){master, sa->config.instance, registry->groups.generation,
                                    registry->generation, since->groups, since->others,
                                    registry->next_service, registry->next_subscription,
                                    registry->next_mgid});
    if (since->groups || since->others)
        print_remaining(out, registry, since);
    print_aliases(out, &registry->aliases, since->others); /* members and services may have them */
    print_machines(out, &registry->machines, since->others);
    print_groups(out, &registry->groups, since->groups);
    for (size_t i = 0; i < registry->services.count; i++)
        if (registry->services.items[i].changed > since->others)
            print_service(out, sa, &registry->services.items[i], wall_s);
    for (size_t i = 0; i < registry->subscriptions.count; i++)
        if (registry->subscriptions.items[i].changed > since->others)
            print_subscription(out, sa->config.prefix, &registry->subscriptions.items[i]);
}

void registry_print_machines(const struct sa *sa, uint64_t instance, struct text *out)
{
    const struct wanted_machines *machines = &sa->registry.machines;
    print_values(out, REGISTRY_HEADER, (const uint64_t[REGISTRY_VALUES]){[1] = instance});
    for (size_t i = 0; i < machines->rows.count; i++)
        print_machine(out, machines, &machines->rows.items[i]);
}

bool sa_registry_mark(const char *content, struct sa_registry_mark *mark)
{
    uint64_t v[REGISTRY_VALUES];
    if (!registry_scan(content, REGISTRY_HEADER, v))
        return false;
    *mark = (struct sa_registry_mark){
        .instance = v[1], .generations = {v[2], v[3]}, .since = {v[4], v[5]}};
    return true;
}

void sa_registry_print(const struct sa *sa, uint64_t wall_s, struct text *out)
{
    sa_registry_print_changes(sa, wall_s, &(struct sa_generations){0}, out);
}
