/* Reads registrations from a file or from the master, in the format of persist.c.
 *
 * The lines are read twice: the registry changes the second time, so that a bad line changes
 * nothing. Lines of an
 * unknown kind, which files of OpenSM have, are ignored. */
#include "base/line_reader.h"
#include "sa/persist.h"

#include <errno.h>

struct index_range {
    uint32_t first, last;
};
struct remaining { /* numbers of a "left" line */
    bool given;
    VEC(struct index_range) ranges;
};

struct persist_reader {
    struct sa *sa;
    uint64_t wall_s;
    struct line_reader *lines;
    struct registry_header header;
    struct remaining groups, services, subscriptions;
    bool applies; /* the second time */
    bool merges;  /* what this registry has changed since `base` stays */
    struct sa_generations base;
    uint64_t begun;    /* generation of this registry before it changes */
    uint64_t decision; /* of the next machine */
    bool in_group;
    struct group *group; /* that of the next members, if it applies */
    uint32_t service_count, subscription_count, alias_count, machine_count;
};

/* Names what a line should have: the pattern without its letters. */
static int refuse_line(struct persist_reader *reader, const char *pattern)
{
    return line_reader_error(reader->lines,
                             "expected '%.*s…', where %% and a letter are hexadecimal",
                             (int)strcspn(pattern, "\n"), pattern);
}

/* ---- updates of the registry ---- */

/* Adds or updates the group. Removes another group with the same MGID or MLID. */
static struct group *place_group(struct groups *groups, const struct group *group)
{
    struct group *known = groups_find(groups, group->mgid), *other = groups_at(groups, group->mlid);
    if (known && known == other) {
        struct group fresh = *group;
        memcpy(&fresh.members, &known->members, sizeof fresh.members);
        fresh.member_removed = known->member_removed;
        fresh.changed = ++groups->generation;
        *known = fresh;
        return known;
    }
    if (known)
        groups_remove(groups, known);
    if (other)
        groups_remove(groups, other);
    return groups_add(groups, group);
}

/* NULL: another group has the MGID or MLID. */
static struct group *merge_group(const struct persist_reader *reader, const struct group *group)
{
    struct groups *groups = &reader->sa->registry.groups;
    struct group *known = groups_find(groups, group->mgid), *other = groups_at(groups, group->mlid);
    if (known != other)
        return NULL;
    return known && known->changed > reader->base.groups ? known : place_group(groups, group);
}

/* All members, or those that have not changed since a generation. */
static void empty_group(struct groups *groups, struct group *group, uint64_t since)
{
    for (size_t i = group ? group->members.count : 0; i-- > 0;)
        if (group->members.items[i].changed <= since)
            groups_leave(groups, group, group->members.items[i].guid, 0xF);
}

static void put_member(const struct persist_reader *reader, const struct group_member *member)
{
    struct sa *sa = reader->sa;
    struct groups *groups = &sa->registry.groups;
    struct group *group = reader->group;
    struct group_member *known = group ? group_find_member(group, member->guid) : NULL;
    struct group_member fresh = *member;
    if (!group || (reader->merges && known && known->changed > reader->base.groups))
        return;
    if (known)
        groups_leave(groups, group, member->guid, known->join_state & ~member->join_state & 0xF);
    if (!fresh.proxy) /* an alias counts for its port */
        fresh.joined_by = alias_guids_port(&sa->registry.aliases, fresh.guid);
    groups_join(groups, group, &fresh);
}

/* Of a text that is merged: whether to take a record that this registry last changed in this
 * generation (0: it has no such record, and so many others). */
static bool may_take(const struct persist_reader *reader, uint64_t changed, size_t count,
                     uint32_t limit)
{
    return !reader->merges || (changed ? changed <= reader->base.others : count < limit);
}

/* ---- lines ---- */

static int read_aliases(struct persist_reader *reader, const char *line)
{
    uint64_t v[REGISTRY_VALUES];
    if (!registry_scan(line, REGISTRY_ALIASES, v) || !v[0] || v[2] >> 5)
        return refuse_line(reader, REGISTRY_ALIASES);
    if (reader->alias_count++ >= reader->sa->config.alias_block_limit)
        return line_reader_error(reader->lines, "more blocks of alias GUIDs than the limit");
    const struct alias_guids *aliases = &reader->sa->registry.aliases;
    const struct alias_block *known = alias_guids_find(aliases, v[0], (unsigned)v[2]);
    if (reader->applies && may_take(reader, known ? known->changed : 0, aliases->blocks.count,
                                    reader->sa->config.alias_block_limit))
        alias_put(reader->sa, v[0], (unsigned)v[2], v + 3);
    return 0;
}

static int read_group(struct persist_reader *reader, const char *line)
{
    const size_t known = strlen(REGISTRY_WELL_KNOWN);
    uint64_t mlid, v[REGISTRY_VALUES];
    const char *rest = registry_scan(line, REGISTRY_MLID, &mlid);
    bool permanent = rest && strncmp(rest, REGISTRY_WELL_KNOWN, known) == 0;
    if (!rest || !registry_scan(rest + (permanent ? known : 0), REGISTRY_GROUP, v) || v[13] > 1)
        return refuse_line(reader, REGISTRY_MLID REGISTRY_GROUP);
    struct group group = {.mlid = (uint16_t)v[5],
                          .q_key = (uint32_t)v[4],
                          .mtu = v[6] & 0x3F,
                          .traffic_class = (uint8_t)v[7],
                          .p_key = (uint16_t)v[8],
                          .rate = v[9] & 0x3F,
                          .life_time = v[10] & 0x3F,
                          .sl = (uint8_t)(v[11] >> 28),
                          .flow_label = v[11] >> 8 & 0xFFFFF,
                          .hop_limit = v[11] & 0xFF,
                          .permanent = permanent};
    gid_set(group.mgid, v[0], v[1]);
    group.scope = group.mgid[1] & 0xF;
    if (group.mgid[0] != 0xFF || !lid_is_multicast(v[5]))
        return line_reader_error(reader->lines,
                                 "a group needs an MGID (0xff…) and an MLID (0xc000 to 0xfffe)");
    if (group.mtu < 1 || group.mtu > 5 || !rate_order(group.rate))
        return line_reader_error(reader->lines,
                                 "the MTU of a group is 1 to 5, and its rate a defined one");
    reader->in_group = true;
    if (reader->applies)
        reader->group = reader->merges ? merge_group(reader, &group)
                                       : place_group(&reader->sa->registry.groups, &group);
    return 0;
}

static int read_member(struct persist_reader *reader, const char *line)
{
    uint64_t v[REGISTRY_VALUES];
    if (!registry_scan(line, REGISTRY_MEMBER, v) || v[3] > 1)
        return refuse_line(reader, REGISTRY_MEMBER);
    struct group_member member = {.prefix = v[0],
                                  .guid = v[1],
                                  .join_state = v[2] & 0xF,
                                  .proxy = v[3],
                                  .absent_since = TIME_NEVER};
    if (!reader->in_group || !member.join_state || !member.guid)
        return line_reader_error(reader->lines,
                                 "a member follows its group and has a port GUID and a JoinState");
    if (reader->applies)
        put_member(reader, &member);
    return 0;
}

static int read_service(struct persist_reader *reader, const char *line)
{
    uint64_t v[REGISTRY_VALUES], data[REGISTRY_VALUES], number = 0;
    const char *name = registry_scan(line, REGISTRY_SERVICE, v);
    const char *end = name ? strstr(name, "' data8=") : NULL;
    const char *rest = end ? registry_scan(end, REGISTRY_SERVICE_DATA, data) : NULL;
    if (!rest || end - name > SERVICE_NAME_BYTES)
        return refuse_line(reader, REGISTRY_SERVICE "…" REGISTRY_SERVICE_DATA);
    if (reader->service_count++ >= reader->sa->config.service_limit)
        return line_reader_error(reader->lines, "more services than the limit");
    struct service service = {0};
    uint8_t *record = service.record;
    wire_set(record, SERVICE_RECORD_ID, v[0]);
    gid_set(wire_bytes(record, SERVICE_RECORD_GID), v[1], v[2]);
    wire_set(record, SERVICE_RECORD_P_KEY, v[3]);
    wire_set(record, SERVICE_RECORD_LEASE, v[4]);
    gid_set(wire_bytes(record, SERVICE_RECORD_KEY), v[5], v[6]);
    memcpy(wire_bytes(record, SERVICE_RECORD_NAME), name, (size_t)(end - name));
    for (unsigned i = 0; i < 8; i++)
        wire_set_bits(wire_bytes(record, SERVICE_RECORD_DATA8), i * 64, 64, data[i]);
    uint64_t modified_s = data[8], lease_s = data[9];
    uint64_t gone_s = modified_s && reader->wall_s > modified_s ? reader->wall_s - modified_s : 0;
    uint64_t left_s = lease_s == UINT32_MAX ? lease_s : lease_s > gone_s ? lease_s - gone_s : 0;
    service.expires = service_lease_end(reader->sa, left_s);
    /* OpenSM does not write the number, nor names that are not printable. */
    rest = registry_scan(rest, REGISTRY_NUMBER, &number);
    service.number = rest ? (uint32_t)number : 0;
    if (rest && registry_scan(rest, REGISTRY_NAME, v))
        for (unsigned i = 0; i < SERVICE_NAME_BYTES / 8; i++)
            wire_set_bits(wire_bytes(record, SERVICE_RECORD_NAME), i * 64, 64, v[i]);
    if (reader->merges)
        service.number = 0; /* that of the known service, or a new one */
    const struct service *known = service_find(reader->sa, record);
    if (reader->applies &&
        may_take(reader, known ? known->changed : 0, reader->sa->registry.services.count,
                 reader->sa->config.service_limit))
        service_put(reader->sa, &service);
    return 0;
}

/* True if the registry has it. Else gives it a new number, unless it replaces one of that number.
 */
static bool merge_subscription(const struct persist_reader *reader,
                               struct subscription *subscription)
{
    const struct registry *registry = &reader->sa->registry;
    for (size_t i = 0; i < registry->subscriptions.count; i++) {
        const struct subscription *known = &registry->subscriptions.items[i];
        if (known->guid == subscription->guid && known->address.qp == subscription->address.qp &&
            memcmp(known->inform, subscription->inform, sizeof known->inform) == 0)
            return true;
    }
    const struct subscription *known = subscription_find(reader->sa, subscription->number);
    if (!known || known->changed > reader->base.others)
        subscription->number = 0;
    return false;
}

static int read_subscription(struct persist_reader *reader, const char *line)
{
    uint64_t v[REGISTRY_VALUES];
    if (!registry_scan(line, REGISTRY_SUBSCRIPTION, v) || !v[1] || v[19] >> 4)
        return refuse_line(reader, REGISTRY_SUBSCRIPTION);
    if (reader->subscription_count++ >= reader->sa->config.subscription_limit)
        return line_reader_error(reader->lines, "more subscriptions than the limit");
    struct subscription subscription = {.guid = v[1],
                                        .number = (uint32_t)v[2],
                                        .absent_since = TIME_NEVER,
                                        .address = {.lid = (uint16_t)v[13],
                                                    .path_bits = (uint8_t)v[14],
                                                    .qp = (uint32_t)v[16],
                                                    .q_key = (uint32_t)v[17],
                                                    .p_key_index = (uint16_t)v[18],
                                                    .sl = (uint8_t)v[19]}};
    uint8_t *inform = subscription.inform;
    gid_set(wire_bytes(inform, INFORM_INFO_GID), v[3], v[4]);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, v[5]);
    wire_set(inform, INFORM_INFO_LID_RANGE_END, v[6]);
    wire_set(inform, INFORM_INFO_IS_GENERIC, v[7]);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, 1);
    wire_set(inform, INFORM_INFO_TYPE, v[9]);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, v[10]);
    wire_set(inform, INFORM_INFO_QPN, v[11] >> 8);
    wire_set(inform, INFORM_INFO_RESP_TIME_VALUE, v[11] & 0x1F);
    wire_set(inform, INFORM_INFO_PRODUCER_TYPE, v[12]);
    if (reader->applies && !(reader->merges && merge_subscription(reader, &subscription)) &&
        may_take(reader, 0, reader->sa->registry.subscriptions.count,
                 reader->sa->config.subscription_limit))
        subscription_put(reader->sa, &subscription);
    return 0;
}

/* ---- comments of weft ---- */

/* Of a text that is merged. Decisions of this run stay. Without a common base only decisions tell
 * which registry knows more of the machine: a manager that was restarted may have an old file, and
 * adopt what hypervisors still have. */
static bool may_take_machine(const struct persist_reader *reader, uint64_t guid, uint64_t decision)
{
    const struct wanted_machines *machines = &reader->sa->registry.machines;
    const uint64_t base = reader->base.others, ended = machines->decision_dropped;
    const struct machine_history own = wanted_machines_history(machines, guid, reader->begun);
    if (own.decided > base)
        return false;
    if (base && own.changed <= base && (own.known || machines->dropped <= base))
        return true;
    return own.known ? decision > own.decision : decision > ended || !ended;
}

static int read_machine(struct persist_reader *reader, const char *line)
{
    uint64_t v[REGISTRY_VALUES];
    const char *names = registry_scan(line, REGISTRY_MACHINE, v);
    if (!names || !v[0] || !v[1] || v[2] > MACHINE_REMOVED || v[3] > LID_UNICAST_LAST ||
        v[4] > MACHINE_NAME_LIMIT || v[5] > MACHINE_NAME_LIMIT || strlen(names) != v[4] + v[5])
        return refuse_line(reader, REGISTRY_MACHINE);
    if (reader->machine_count++ >= WANTED_MACHINES_LIMIT)
        return line_reader_error(reader->lines, "more virtual machines than the limit");
    struct wanted_machine row = {.guid = v[0],
                                 .place = v[1],
                                 .wish = (enum machine_wish)v[2],
                                 .lid = (uint16_t)v[3],
                                 .decision = reader->decision};
    reader->decision = 0;
    memcpy(row.name, names, v[4]);
    memcpy(row.adapter, names + v[4], v[5]);
    struct wanted_machines *machines = &reader->sa->registry.machines;
    if (reader->merges && row.wish == MACHINE_ENDED &&
        wanted_machines_at(machines, row.guid, row.place))
        row.wish = MACHINE_REMOVED; /* what is known of the hypervisor may be old: it is asked */
    if (reader->applies && (!reader->merges || may_take_machine(reader, row.guid, row.decision)))
        wanted_machines_set(machines, &row);
    return 0;
}

static int read_decision(struct persist_reader *reader, const char *line)
{
    struct wanted_machines *machines = &reader->sa->registry.machines;
    uint64_t decision;
    bool ended = registry_scan(line, REGISTRY_ENDED, &decision);
    if ((!ended && !registry_scan(line, REGISTRY_DECISION, &decision)) || decision >> 63)
        return refuse_line(reader, REGISTRY_DECISION);
    if (!ended)
        reader->decision = decision;
    if (!ended || !reader->applies || reader->merges)
        return 0;
    if (machines->decision_dropped < decision)
        machines->decision_dropped = decision;
    if (machines->decisions < decision)
        machines->decisions = decision;
    return 0;
}

static int read_remaining(struct persist_reader *reader, struct remaining *remaining,
                          const char *rest)
{
    uint64_t v[2];
    remaining->given = true;
    remaining->ranges.count = 0;
    while (*rest) {
        rest = registry_scan(rest, " 0x%W-0x%W", v);
        if (!rest || v[0] > v[1])
            return line_reader_error(reader->lines,
                                     "remaining numbers are ranges: ' 0x1-0x5 0x7-0x7'");
        vec_push(&remaining->ranges, ((struct index_range){(uint32_t)v[0], (uint32_t)v[1]}));
    }
    return 0;
}

static int read_header(struct persist_reader *reader, const char *line)
{
    struct registry_header *header = &reader->header;
    uint64_t v[REGISTRY_VALUES];
    if (header->given || !registry_scan(line, REGISTRY_HEADER, v))
        return line_reader_error(reader->lines,
                                 "a second '# weft: registrations' line, or a number out of range");
    *header = (struct registry_header){.given = true,
                                       .master = (uint16_t)v[0],
                                       .instance = v[1],
                                       .generations = {v[2], v[3]},
                                       .since = {v[4], v[5]},
                                       .next_service = (uint32_t)v[6],
                                       .next_subscription = (uint32_t)v[7],
                                       .next_mgid = (uint32_t)v[8]};
    return 0;
}

static int read_comment(struct persist_reader *reader, const char *line)
{
    struct {
        const char *prefix;
        struct remaining *remaining;
    } lists[] = {{"# weft: groups left", &reader->groups},
                 {"# weft: services left", &reader->services},
                 {"# weft: subscriptions left", &reader->subscriptions}};
    uint64_t mlid;
    if (strncmp(line, "# weft: registrations ", 22) == 0)
        return reader->applies ? 0 : read_header(reader, line);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(line, lists[i].prefix, strlen(lists[i].prefix)) == 0)
            return read_remaining(reader, lists[i].remaining, line + strlen(lists[i].prefix));
    if (strncmp(line, "# weft: machine ", 16) == 0)
        return read_machine(reader, line);
    if (strncmp(line, "# weft: decision ", 17) == 0)
        return read_decision(reader, line);
    if (strcmp(line, REGISTRY_MACHINES) == 0 && reader->applies && !reader->merges)
        wanted_machines_clear(&reader->sa->registry.machines);
    if (registry_scan(line, "# weft: all of group 0x%H", &mlid) && reader->applies)
        empty_group(&reader->sa->registry.groups,
                    groups_at(&reader->sa->registry.groups, (unsigned)mlid),
                    reader->merges ? reader->base.groups : UINT64_MAX);
    return 0;
}

static int read_line(struct persist_reader *reader, const char *line)
{
    if (line[0] == '#')
        return read_comment(reader, line);
    if (strncmp(line, "mcm_port:", 9) == 0)
        return read_member(reader, line);
    reader->in_group &= line[0] == 0;
    if (strncmp(line, "GUIDInfo Record:", 16) == 0)
        return read_aliases(reader, line);
    if (strncmp(line, "MC Group ", 9) == 0)
        return read_group(reader, line);
    if (strncmp(line, "Service Record:", 15) == 0)
        return read_service(reader, line);
    if (strncmp(line, "InformInfo Record:", 18) == 0)
        return read_subscription(reader, line);
    return 0;
}

/* ---- the whole registry ---- */

static bool is_remaining(const struct remaining *remaining, uint32_t number)
{
    bool found = !remaining->given;
    for (size_t i = 0; i < remaining->ranges.count && !found; i++)
        found =
            number >= remaining->ranges.items[i].first && number <= remaining->ranges.items[i].last;
    return found;
}

static bool service_is_gone(void *context, const struct service *service)
{
    const struct persist_reader *reader = context;
    return !is_remaining(&reader->services, service->number) &&
           !(reader->merges && service->changed > reader->base.others);
}

static bool subscription_is_gone(void *context, struct subscription *subscription)
{
    const struct persist_reader *reader = context;
    return !is_remaining(&reader->subscriptions, subscription->number) &&
           !(reader->merges && subscription->changed > reader->base.others);
}

void registry_clear(struct sa *sa)
{
    struct groups *groups = &sa->registry.groups;
    sa->copied = (struct copied){0};
    sa->former = 0;
    sa->offers = false;
    aliases_clear(sa);
    wanted_machines_clear(&sa->registry.machines);
    while (groups->all.count)
        groups_remove(groups, groups->all.items[groups->all.count - 1]);
    while (sa->registry.services.count)
        service_drop(sa, &sa->registry.services.items[sa->registry.services.count - 1]);
    while (sa->registry.subscriptions.count)
        subscription_drop(sa,
                          &sa->registry.subscriptions.items[sa->registry.subscriptions.count - 1]);
}

/* Removes what the lines do not have. */
static void prepare_registry(struct persist_reader *reader)
{
    struct sa *sa = reader->sa;
    struct registry *registry = &sa->registry;
    struct groups *groups = &registry->groups;
    const struct registry_header *header = &reader->header;
    if (!header->since.groups && !header->since.others && !reader->merges) {
        registry_clear(sa);
        registry->next_service = registry->next_subscription = 0;
    }
    for (size_t i = groups->all.count; i-- > 0;)
        if (!is_remaining(&reader->groups, groups->all.items[i]->mlid) &&
            !(reader->merges && groups->all.items[i]->touched > reader->base.groups))
            groups_remove(groups, groups->all.items[i]);
    services_remove_if(sa, service_is_gone, reader);
    subscriptions_remove_if(sa, subscription_is_gone, reader);
}

static void finish_registry(struct sa *sa, const struct registry_header *header)
{
    struct registry *registry = &sa->registry;
    struct groups *groups = &registry->groups;
    for (size_t i = groups->all.count; i-- > 0;)
        if (!groups->all.items[i]->permanent && !group_has_full_member(groups->all.items[i]))
            groups_remove(groups, groups->all.items[i]);
    /* No number is assigned twice. */
    if (header->next_service > registry->next_service)
        registry->next_service = header->next_service;
    if (header->next_subscription > registry->next_subscription)
        registry->next_subscription = header->next_subscription;
    if (header->next_mgid > registry->next_mgid)
        registry->next_mgid = header->next_mgid;
    sa->registrations_due = sa->now; /* check the leases */
}

static int read_lines(struct persist_reader *reader, const struct sa_registry_file *file,
                      struct err *err)
{
    reader->lines = from_bytes(file->path, file->content, file->bytes, err);
    reader->in_group = false;
    reader->decision = 0;
    reader->service_count = reader->subscription_count = 0;
    reader->alias_count = reader->machine_count = 0;
    while (line_reader_next_line(reader->lines))
        read_line(reader, reader->lines->copy);
    int status = reader->lines->status;
    reader->lines = NULL;
    return status;
}

static int read_registry(struct persist_reader *reader, const struct sa_registry_file *file,
                         registry_accept *accept, struct err *err)
{
    int status = file->bytes && memchr(file->content, 0, file->bytes)
                     ? err_at(err, EINVAL, file->path, 0, "not a text file: it has NUL bytes")
                     : read_lines(reader, file, err);
    if (status == 0 && accept && !accept(reader->sa, &reader->header))
        status = err_at(err, ESTALE, file->path, 0, "not the requested generations");
    if (status == 0) {
        reader->applies = true;
        prepare_registry(reader);
        read_lines(reader, file, err);
        finish_registry(reader->sa, &reader->header);
    }
    vec_release(&reader->groups.ranges);
    vec_release(&reader->services.ranges);
    vec_release(&reader->subscriptions.ranges);
    return status;
}

int registry_read(struct sa *sa, const struct sa_registry_file *file, registry_accept *accept,
                  struct registry_header *header, struct err *err)
{
    struct persist_reader reader = {.sa = sa, .wall_s = file->wall_s};
    int status = read_registry(&reader, file, accept, err);
    if (status == 0)
        *header = reader.header;
    return status;
}

int registry_merge(struct sa *sa, const struct sa_registry_file *file,
                   const struct sa_generations *base, struct err *err)
{
    struct persist_reader reader = {
        .sa = sa, .merges = true, .base = *base, .begun = sa->registry.generation};
    return read_registry(&reader, file, NULL, err);
}

int sa_registry_read(struct sa *sa, uint64_t now, const struct sa_registry_file *file,
                     struct err *err)
{
    struct registry_header header = {0};
    sa->now = now;
    int status = registry_read(sa, file, NULL, &header, err);
    if (status == 0) {
        sa->registry_source_lid = header.master;
        sa->former = header.instance;
        sa->offers = header.instance && sa->registry.machines.rows.count > 0;
    }
    return status;
}
