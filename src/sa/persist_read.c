/* Reads registrations from a file or from the master, in the format of persist.c.
 *
 * All lines are read before the registry changes, so that a bad line changes nothing. Lines of an
 * unknown kind, which files of OpenSM have, are ignored. */
#include "base/line_reader.h"
#include "sa/internal.h"

#include <assert.h>
#include <errno.h>

enum { VALUES = 24, NAME_BYTES = 64 };

enum item_kind {
    ITEM_ALIASES,
    ITEM_ALL_OF_GROUP,
    ITEM_GROUP,
    ITEM_MEMBER,
    ITEM_SERVICE,
    ITEM_SUBSCRIPTION,
};
struct item {
    enum item_kind kind;
    uint32_t mlid; /* ITEM_ALL_OF_GROUP */
    union {
        struct alias_block aliases;
        struct group group;
        struct group_member member;
        struct service service;
        struct subscription subscription;
    };
};
struct range {
    uint32_t first, last;
};
struct remaining { /* numbers of a "left" line */
    bool given;
    VEC(struct range) ranges;
};

struct reader {
    struct sa *sa;
    uint64_t wall_s;
    struct line_reader *lines;
    struct registry_header header;
    VEC(struct item) items;
    struct remaining groups, services, subscriptions;
    bool in_group;
    uint32_t service_count, subscription_count, alias_count;
};

/* ---- lines ---- */

/* Matches the line with a pattern, in which % is a hexadecimal number of up to 64 bits. Returns the
 * rest of the line, or NULL if it does not match. */
static const char *scan(const char *line, const char *pattern, uint64_t *values)
{
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            if (*line++ != *pattern)
                return NULL;
            continue;
        }
        unsigned digits = 0;
        for (*values = 0; digits < 16; digits++, line++) {
            int digit = *line >= '0' && *line <= '9'   ? *line - '0'
                        : *line >= 'a' && *line <= 'f' ? *line - 'a' + 10
                                                       : -1;
            if (digit < 0)
                break;
            *values = *values << 4 | (unsigned)digit;
        }
        if (!digits)
            return NULL;
        values++;
    }
    return line;
}

static bool fits(const uint64_t *values, const uint8_t *bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (bits[i] < 64 && values[i] >> bits[i])
            return false;
    return true;
}

/* ---- alias GUIDs ---- */

static int read_aliases(struct reader *reader, const char *line)
{
    static const uint8_t bits[] = {64, 16, 5};
    uint64_t v[VALUES];
    if (!scan(line,
              "GUIDInfo Record: base_guid=0x% lid=0x% block_num=0x% guid0=0x% guid1=0x% "
              "guid2=0x% guid3=0x% guid4=0x% guid5=0x% guid6=0x% guid7=0x%",
              v) ||
        !fits(v, bits, sizeof bits) || !v[0])
        return line_reader_error(reader->lines,
                                 "alias GUIDs are 'GUIDInfo Record: base_guid=0x… lid=0x… "
                                 "block_num=0x… guid0=0x… … guid7=0x…'");
    if (reader->alias_count++ >= reader->sa->config.alias_block_limit)
        return line_reader_error(reader->lines, "more blocks of alias GUIDs than the limit");
    struct item item = {.kind = ITEM_ALIASES,
                        .aliases = {.port_guid = v[0], .number = (uint8_t)v[2]}};
    memcpy(item.aliases.guids, v + 3, sizeof item.aliases.guids);
    vec_push(&reader->items, item);
    return 0;
}

/* ---- groups ---- */

static int read_group(struct reader *reader, const char *line)
{
    static const uint8_t bits[] = {16, 64, 64, 64, 64, 32, 16, 8, 8, 16, 8, 8, 32, 8, 1};
    uint64_t v[VALUES];
    const char *rest = scan(line, "MC Group 0x% ", v);
    bool permanent = rest && strncmp(rest, " (well known)", 13) == 0;
    rest = rest ? rest + (permanent ? 13 : 0) : NULL;
    if (!rest ||
        !scan(rest,
              ": mgid=0x%:0x% port_gid=0x%:0x% qkey=0x% mlid=0x% mtu=0x% tclass=0x% pkey=0x% "
              "rate=0x% pkt_life=0x% sl_flow_hop=0x% scope_state=0x% proxy_join=0x%",
              v + 1) ||
        !fits(v, bits, sizeof bits))
        return line_reader_error(
            reader->lines, "a group is 'MC Group 0xMLID : mgid=0x…:0x… port_gid=… qkey=… mlid=… "
                           "mtu=… tclass=… pkey=… rate=… pkt_life=… sl_flow_hop=… scope_state=… "
                           "proxy_join=…'");
    struct item item = {.kind = ITEM_GROUP,
                        .group = {.mlid = (uint16_t)v[6],
                                  .q_key = (uint32_t)v[5],
                                  .mtu = v[7] & 0x3F,
                                  .traffic_class = (uint8_t)v[8],
                                  .p_key = (uint16_t)v[9],
                                  .rate = v[10] & 0x3F,
                                  .life_time = v[11] & 0x3F,
                                  .sl = (uint8_t)(v[12] >> 28),
                                  .flow_label = v[12] >> 8 & 0xFFFFF,
                                  .hop_limit = v[12] & 0xFF,
                                  .permanent = permanent}};
    gid_set(item.group.mgid, v[1], v[2]);
    item.group.scope = item.group.mgid[1] & 0xF;
    if (item.group.mgid[0] != 0xFF || !lid_is_multicast(v[6]))
        return line_reader_error(reader->lines,
                                 "a group needs an MGID (0xff…) and an MLID (0xc000 to 0xfffe)");
    if (item.group.mtu < 1 || item.group.mtu > 5 || !rate_order(item.group.rate))
        return line_reader_error(reader->lines,
                                 "the MTU of a group is 1 to 5, and its rate a defined one");
    vec_push(&reader->items, item);
    reader->in_group = true;
    return 0;
}

static int read_member(struct reader *reader, const char *line)
{
    static const uint8_t bits[] = {64, 64, 8, 1};
    uint64_t v[VALUES];
    if (!scan(line, "mcm_port: port_gid=0x%:0x% scope_state=0x% proxy_join=0x%", v) ||
        !fits(v, bits, sizeof bits))
        return line_reader_error(reader->lines,
                                 "a member is 'mcm_port: port_gid=0x…:0x… scope_state=0x… "
                                 "proxy_join=0x…'");
    struct item item = {.kind = ITEM_MEMBER,
                        .member = {.prefix = v[0],
                                   .guid = v[1],
                                   .join_state = v[2] & 0xF,
                                   .proxy = v[3],
                                   .absent_since = TIME_NEVER}};
    if (!reader->in_group || !item.member.join_state || !item.member.guid)
        return line_reader_error(reader->lines,
                                 "a member follows its group and has a port GUID and a JoinState");
    vec_push(&reader->items, item);
    return 0;
}

/* ---- services ---- */

static int read_service(struct reader *reader, const char *line)
{
    static const uint8_t bits[] = {64, 64, 64, 16, 32, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
    uint64_t v[VALUES], more[8];
    const char *name = scan(line,
                            "Service Record: id=0x% gid=0x%:0x% pkey=0x% lease=0x% key=0x%:0x% "
                            "name='",
                            v);
    const char *end = name ? strstr(name, "' data8=") : NULL;
    const char *rest = end ? scan(end,
                                  "' data8=0x%:0x% data16=0x%:0x% data32=0x%:0x% data64=0x%:0x% "
                                  "modified_time=0x% lease_period=0x%",
                                  v + 7)
                           : NULL;
    if (!rest || end - name > NAME_BYTES || !fits(v, bits, sizeof bits) || v[16] > UINT32_MAX)
        return line_reader_error(
            reader->lines, "a service is 'Service Record: id=0x… gid=0x…:0x… pkey=… lease=… "
                           "key=… name='…' data8=… data16=… data32=… data64=… modified_time=… "
                           "lease_period=…'");
    if (reader->service_count++ >= reader->sa->config.service_limit)
        return line_reader_error(reader->lines, "more services than the limit");
    struct item item = {.kind = ITEM_SERVICE};
    uint8_t *record = item.service.record;
    wire_set(record, SERVICE_RECORD_ID, v[0]);
    gid_set(wire_bytes(record, SERVICE_RECORD_GID), v[1], v[2]);
    wire_set(record, SERVICE_RECORD_P_KEY, v[3]);
    wire_set(record, SERVICE_RECORD_LEASE, v[4]);
    gid_set(wire_bytes(record, SERVICE_RECORD_KEY), v[5], v[6]);
    memcpy(wire_bytes(record, SERVICE_RECORD_NAME), name, (size_t)(end - name));
    for (unsigned i = 0; i < 8; i++)
        wire_set_bits(wire_bytes(record, SERVICE_RECORD_DATA8), i * 64, 64, v[7 + i]);
    uint64_t gone_s = v[15] && reader->wall_s > v[15] ? reader->wall_s - v[15] : 0;
    uint64_t left_s = v[16] == UINT32_MAX ? v[16] : v[16] > gone_s ? v[16] - gone_s : 0;
    item.service.expires = service_lease_end(reader->sa, left_s);
    /* OpenSM does not write the number, nor names that are not printable. */
    rest = scan(rest, " number=0x%", more);
    item.service.number = rest ? (uint32_t)more[0] : 0;
    if (rest && scan(rest, " bytes=0x%:0x%:0x%:0x%:0x%:0x%:0x%:0x%", more))
        for (unsigned i = 0; i < NAME_BYTES / 8; i++)
            wire_set_bits(wire_bytes(record, SERVICE_RECORD_NAME), i * 64, 64, more[i]);
    vec_push(&reader->items, item);
    return 0;
}

/* ---- subscriptions ---- */

static int read_subscription(struct reader *reader, const char *line)
{
    static const uint8_t bits[] = {64, 64, 32, 64, 64, 16, 16, 8,  8,  16,
                                   16, 32, 24, 16, 8,  8,  32, 32, 16, 4};
    uint64_t v[VALUES];
    if (!scan(line,
              "InformInfo Record: subscriber_gid=0x%:0x% subscriber_enum=0x% InformInfo: "
              "gid=0x%:0x% lid_range_begin=0x% lid_range_end=0x% is_generic=0x% subscribe=0x% "
              "trap_type=0x% trap_num=0x% qpn_resp_time_val=0x% node_type=0x% rep_addr: lid=0x% "
              "path_bits=0x% static_rate=0x% remote_qp=0x% remote_qkey=0x% pkey_ix=0x% sl=0x%",
              v) ||
        !fits(v, bits, sizeof bits) || !v[1])
        return line_reader_error(reader->lines,
                                 "a subscription is 'InformInfo Record: subscriber_gid=0x…:0x… "
                                 "subscriber_enum=… InformInfo: gid=… … rep_addr: lid=… …'");
    if (reader->subscription_count++ >= reader->sa->config.subscription_limit)
        return line_reader_error(reader->lines, "more subscriptions than the limit");
    struct item item = {.kind = ITEM_SUBSCRIPTION,
                        .subscription = {.guid = v[1],
                                         .number = (uint32_t)v[2],
                                         .absent_since = TIME_NEVER,
                                         .address = {.lid = (uint16_t)v[13],
                                                     .path_bits = (uint8_t)v[14],
                                                     .qp = (uint32_t)v[16],
                                                     .q_key = (uint32_t)v[17],
                                                     .p_key_index = (uint16_t)v[18],
                                                     .sl = (uint8_t)v[19]}}};
    uint8_t *inform = item.subscription.inform;
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
    vec_push(&reader->items, item);
    return 0;
}

/* ---- comments of weft ---- */

static int read_remaining(struct reader *reader, struct remaining *remaining, const char *rest)
{
    uint64_t v[2];
    remaining->given = true;
    while (*rest) {
        rest = scan(rest, " 0x%-0x%", v);
        if (!rest || v[0] > v[1] || v[1] > UINT32_MAX)
            return line_reader_error(reader->lines,
                                     "remaining numbers are ranges: ' 0x1-0x5 0x7-0x7'");
        vec_push(&remaining->ranges, ((struct range){(uint32_t)v[0], (uint32_t)v[1]}));
    }
    return 0;
}

static int read_header(struct reader *reader, const uint64_t *v)
{
    struct registry_header *header = &reader->header;
    if (header->given || v[0] > UINT16_MAX || v[6] > UINT32_MAX || v[7] > UINT32_MAX ||
        v[8] > UINT32_MAX)
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

static int read_comment(struct reader *reader, const char *line)
{
    struct {
        const char *prefix;
        struct remaining *remaining;
    } lists[] = {{"# weft: groups left", &reader->groups},
                 {"# weft: services left", &reader->services},
                 {"# weft: subscriptions left", &reader->subscriptions}};
    uint64_t v[VALUES];
    if (scan(line,
             "# weft: registrations of 0x% instance 0x% generations 0x% 0x% since 0x% 0x% next "
             "0x% 0x% 0x%",
             v))
        return read_header(reader, v);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(line, lists[i].prefix, strlen(lists[i].prefix)) == 0)
            return read_remaining(reader, lists[i].remaining, line + strlen(lists[i].prefix));
    if (scan(line, "# weft: all of group 0x%", v) && v[0] <= UINT16_MAX)
        vec_push(&reader->items,
                 ((struct item){.kind = ITEM_ALL_OF_GROUP, .mlid = (uint32_t)v[0]}));
    return 0;
}

static int read_line(struct reader *reader, const char *line)
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

/* ---- updates of the registry ---- */

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
    const struct reader *reader = context;
    return !is_remaining(&reader->services, service->number);
}

static bool subscription_is_gone(void *context, struct subscription *subscription)
{
    const struct reader *reader = context;
    return !is_remaining(&reader->subscriptions, subscription->number);
}

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

static void empty_group(struct groups *groups, struct group *group)
{
    while (group && group->members.count)
        groups_leave(groups, group, group->members.items[group->members.count - 1].guid, 0xF);
}

static void put_member(struct sa *sa, struct group *group, const struct group_member *member)
{
    struct groups *groups = &sa->registry.groups;
    struct group_member *known = group_find_member(group, member->guid), fresh = *member;
    if (known)
        groups_leave(groups, group, member->guid, known->join_state & ~member->join_state & 0xF);
    if (!fresh.proxy) /* an alias counts for its port */
        fresh.joined_by = alias_guids_port(&sa->registry.aliases, fresh.guid);
    groups_join(groups, group, &fresh);
}

static void put_items(struct reader *reader)
{
    struct sa *sa = reader->sa;
    struct groups *groups = &sa->registry.groups;
    struct group *group = NULL;
    for (size_t i = 0; i < reader->items.count; i++) {
        const struct item *item = &reader->items.items[i];
        switch (item->kind) {
        case ITEM_ALIASES:
            alias_put(sa, item->aliases.port_guid, item->aliases.number, item->aliases.guids);
            break;
        case ITEM_ALL_OF_GROUP: empty_group(groups, groups_at(groups, item->mlid)); break;
        case ITEM_GROUP: group = place_group(groups, &item->group); break;
        case ITEM_MEMBER:
            assert(group); /* read_member() accepts members after a group only */
            put_member(sa, group, &item->member);
            break;
        case ITEM_SERVICE: service_put(sa, &item->service); break;
        case ITEM_SUBSCRIPTION: subscription_put(sa, &item->subscription); break;
        }
    }
    for (size_t i = groups->all.count; i-- > 0;)
        if (!groups->all.items[i]->permanent && !group_has_full_member(groups->all.items[i]))
            groups_remove(groups, groups->all.items[i]);
}

void registry_clear(struct sa *sa)
{
    struct groups *groups = &sa->registry.groups;
    aliases_clear(sa);
    while (groups->all.count)
        groups_remove(groups, groups->all.items[groups->all.count - 1]);
    while (sa->registry.services.count)
        service_drop(sa, &sa->registry.services.items[sa->registry.services.count - 1]);
    while (sa->registry.subscriptions.count)
        subscription_drop(sa,
                          &sa->registry.subscriptions.items[sa->registry.subscriptions.count - 1]);
}

static void update_registry(struct reader *reader)
{
    struct sa *sa = reader->sa;
    struct registry *registry = &sa->registry;
    struct groups *groups = &registry->groups;
    const struct registry_header *header = &reader->header;
    if (!header->since.groups && !header->since.others) {
        registry_clear(sa);
        registry->next_service = registry->next_subscription = 0;
    }
    for (size_t i = groups->all.count; i-- > 0;)
        if (!is_remaining(&reader->groups, groups->all.items[i]->mlid))
            groups_remove(groups, groups->all.items[i]);
    services_remove_if(sa, service_is_gone, reader);
    subscriptions_remove_if(sa, subscription_is_gone, reader);
    put_items(reader);
    /* No number is assigned twice. */
    if (header->next_service > registry->next_service)
        registry->next_service = header->next_service;
    if (header->next_subscription > registry->next_subscription)
        registry->next_subscription = header->next_subscription;
    if (header->next_mgid > registry->next_mgid)
        registry->next_mgid = header->next_mgid;
    sa->registrations_due = sa->now; /* check the leases */
}

int registry_read(struct sa *sa, const struct sa_registry_file *file,
                  bool (*accept)(const struct sa *sa, const struct registry_header *header),
                  struct registry_header *header, struct err *err)
{
    struct line_reader *lines = from_bytes(file->path, file->content, file->bytes, err);
    struct reader reader = {.sa = sa, .wall_s = file->wall_s, .lines = lines};
    if (file->bytes && memchr(file->content, 0, file->bytes))
        lines->status = err_at(err, EINVAL, file->path, 0, "not a text file: it has NUL bytes");
    while (line_reader_next_line(lines))
        read_line(&reader, lines->copy);
    int status = lines->status;
    if (status == 0 && accept && !accept(sa, &reader.header))
        status = err_at(err, ESTALE, file->path, 0, "not the requested generations");
    if (status == 0) {
        update_registry(&reader);
        *header = reader.header;
    }
    vec_release(&reader.items);
    vec_release(&reader.groups.ranges);
    vec_release(&reader.services.ranges);
    vec_release(&reader.subscriptions.ranges);
    return status;
}

int sa_registry_read(struct sa *sa, uint64_t now, const struct sa_registry_file *file,
                     struct err *err)
{
    struct registry_header header = {0};
    sa->now = now;
    int status = registry_read(sa, file, NULL, &header, err);
    if (status == 0)
        sa->registry_source_lid = header.master;
    return status;
}
