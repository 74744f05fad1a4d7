/* Reads partitions.conf in the syntax of opensm(8):
 *
 *     NAME [= KEY] [, FLAG [= VALUE]] ... : MEMBER [= full | limited | both], ... ;
 *
 * The part before the colon is on one line. Members are separated by commas or newlines. A line
 * `mgid = MGID [, FLAG = VALUE] ...` defines a multicast group instead. '#' starts a comment. Words
 * may be abbreviated ("limi"). Flags may also precede a second colon, as in an example of the
 * manual.
 *
 * There are two differences to OpenSM. OpenSM ignores text that it does not understand and treats a
 * misspelt membership as limited; this reader returns an error. A partition without a key gets one
 * that does not occur in the whole file, not only in the part before it. */
#include "subnet/partitions.h"

#include "base/field.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_LIMIT = 64,
    MTU_DEFAULT = 4,  /* 2048 bytes */
    RATE_DEFAULT = 3, /* 10 Gb/s */
    SCOPE_DEFAULT = 2,
    IPOIB_Q_KEY = 0x0B1B,
    MGID_BYTES = 16,
};

static const uint8_t broadcast_mgid[MGID_BYTES] = {0xFF, 0x12,        0x40, 0x1B, 0xFF,
                                                   0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF};

/* A group and its scopes, one bit each. */
struct group_values {
    struct partition_group group;
    uint16_t scopes;
};

/* The statement that is being read. */
struct definition {
    uint32_t partition;
    struct group_values values;
    uint8_t membership;
    bool ipoib, index0;
};

struct partitions_reader {
    struct line_reader *lines;
    const char *at; /* position in the current line */
    struct partitions *partitions;
    struct name_map by_name;
    VEC(unsigned) group_lines; /* line numbers, by index in partitions->groups */
    struct arena words;
};

/* ---- words ---- */

static void skip_blanks(struct partitions_reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r')
        reader->at++;
}

/* Skips blanks, newlines and comments. False at the end of the file. */
static bool skip_lines(struct partitions_reader *reader)
{
    for (skip_blanks(reader); !*reader->at || *reader->at == '#'; skip_blanks(reader)) {
        bool more = line_reader_next_line(reader->lines);
        reader->at = more ? reader->lines->copy : "";
        if (!more)
            return false;
    }
    return true;
}

/* The text up to one of these characters, a comment or the end of the line, without outer blanks.
 */
static const char *take_words(struct partitions_reader *reader, const char *ends)
{
    skip_blanks(reader);
    const char *start = reader->at;
    while (*reader->at && *reader->at != '#' && !strchr(ends, *reader->at))
        reader->at++;
    size_t length = (size_t)(reader->at - start);
    while (length && strchr(" \t\r", start[length - 1]))
        length--;
    return arena_strndup(&reader->words, start, length);
}

static bool take_char(struct partitions_reader *reader, char sign)
{
    skip_blanks(reader);
    if (*reader->at != sign)
        return false;
    reader->at++;
    return true;
}

static bool is_abbreviation(const char *text, const char *word)
{
    return *text && strncmp(text, word, strlen(text)) == 0;
}

/* Parses a decimal, hexadecimal (0x) or octal (0) number. */
static bool number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return isdigit((unsigned char)*text) && !errno && !*end && *value >= low && *value <= high;
}

/* ---- flags ---- */

/* Returns 1 if the flag is unknown. */
static int set_group_flag(struct partitions_reader *reader, const char *flag, const char *value,
                          struct group_values *values)
{
    enum { SCOPE, SL, FLAGS = 7 };
    static const struct {
        const char *name;
        uint64_t low, high;
        struct field field;
    } flags[FLAGS] = {
        [SCOPE] = {"scope", 1, 15, FIELD_OF(struct partition_group, scope)},
        [SL] = {"sl", 0, 15, FIELD_OF(struct partition_group, sl)},
        {"mtu", 1, 5, FIELD_OF(struct partition_group, mtu)},
        {"rate", 2, 24, FIELD_OF(struct partition_group, rate)},
        {"Q_Key", 0, UINT32_MAX, FIELD_OF(struct partition_group, q_key)},
        {"TClass", 0, 255, FIELD_OF(struct partition_group, traffic_class)},
        {"FlowLabel", 0, 0xFFFFF, FIELD_OF(struct partition_group, flow_label)},
    };
    unsigned which = 0;
    uint64_t result = 0;
    while (which < FLAGS && !is_abbreviation(flag, flags[which].name))
        which++;
    if (which == FLAGS)
        return 1;
    if (!number(value, flags[which].low, flags[which].high, &result))
        return line_reader_error(reader->lines, "%s=%.80s: expected a number from %llu to %llu",
                                 flags[which].name, value, (unsigned long long)flags[which].low,
                                 (unsigned long long)flags[which].high);
    field_set(&values->group, flags[which].field, result);
    values->scopes |= (uint16_t)(which == SCOPE ? 1u << result : 0);
    values->group.sl_given |= which == SL;
    return 0;
}

static int set_membership(struct partitions_reader *reader, const char *value, uint8_t *membership)
{
    static const char *const words[] = {
        [MEMBER_LIMITED] = "limited", [MEMBER_FULL] = "full", [MEMBER_BOTH] = "both"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (is_abbreviation(value, words[i])) {
            *membership = (uint8_t)i;
            return 0;
        }
    return line_reader_error(reader->lines, "'%.80s' is not a membership: full, limited or both",
                             value);
}

static int set_flag(struct partitions_reader *reader, const char *flag, const char *value,
                    struct definition *definition)
{
    int status = set_group_flag(reader, flag, value, &definition->values);
    if (status <= 0)
        return status;
    if (is_abbreviation(flag, "ipoib"))
        definition->ipoib = true;
    else if (is_abbreviation(flag, "defmember"))
        return set_membership(reader, value, &definition->membership);
    else if (is_abbreviation(flag, "indx0"))
        definition->index0 = true;
    else
        return line_reader_error(
            reader->lines,
            "'%.80s' is not a flag of a partition: indx0, ipoib, defmember, rate, mtu, sl, "
            "scope, Q_Key, TClass or FlowLabel",
            flag);
    return 0;
}

/* FLAG [= VALUE], FLAG ... */
static int read_flags(struct partitions_reader *reader, struct definition *definition)
{
    do {
        const char *flag = take_words(reader, "=,:;");
        const char *value = take_char(reader, '=') ? take_words(reader, ",:;") : "";
        int status = set_flag(reader, flag, value, definition);
        if (status)
            return status;
    } while (take_char(reader, ','));
    return 0;
}

/* ---- partitions ---- */

static uint32_t add_partition(struct partitions_reader *reader, const char *name, uint16_t key)
{
    struct partitions *partitions = reader->partitions;
    uint32_t added = (uint32_t)partitions->all.count;
    vec_push(&partitions->all,
             ((struct partition){.key = key, .name = arena_strdup(&partitions->names, name)}));
    if (key)
        map_set(&partitions->by_key, key, added);
    return added;
}

static void add_rule(struct partitions_reader *reader, struct partition_rule rule)
{
    rule.order = (uint32_t)reader->partitions->rules.count;
    vec_push(&reader->partitions->rules, rule);
}

static int find_partition(struct partitions_reader *reader, const char *name, const char *key,
                          uint32_t *partition)
{
    uint64_t value = 0;
    if (!key && isdigit((unsigned char)*name)) {
        key = name;
        name = "";
    }
    if (strlen(name) >= NAME_LIMIT)
        return line_reader_error(reader->lines, "a partition name has at most %d characters",
                                 NAME_LIMIT - 1);
    if (key && (!number(key, 1, UINT16_MAX, &value) || !(value & PARTITION_DEFAULT)))
        return line_reader_error(
            reader->lines, "'%.80s' is not a partition key: expected a number from 1 to 0x7fff",
            key);
    uint16_t wanted = value & PARTITION_DEFAULT; /* 0: make_keys() chooses one */
    *partition = wanted  ? map_get(&reader->partitions->by_key, wanted)
                 : *name ? name_map_get(&reader->by_name, name)
                         : MAP_NONE;
    if (*partition == MAP_NONE)
        *partition = add_partition(reader, name, wanted);
    const char *kept = reader->partitions->all.items[*partition].name;
    if (*kept)
        name_map_add(&reader->by_name, kept, *partition);
    return 0;
}

/* Reads flags before a second colon: "defmember=limited :". */
static int read_second_flags(struct partitions_reader *reader, struct definition *definition)
{
    const char *back = reader->at, *word = take_words(reader, "=,:;");
    reader->at = back;
    if (strcmp(word, "defmember") != 0 && strcmp(word, "ipoib") != 0 && strcmp(word, "indx0") != 0)
        return 0;
    int status = read_flags(reader, definition);
    if (!status && !take_char(reader, ':'))
        status = line_reader_error(reader->lines, "expected ':' after the flags of a partition");
    return status;
}

/* ---- groups ---- */

static void add_group(struct partitions_reader *reader, const struct definition *definition,
                      const uint8_t *mgid, const struct group_values *values)
{
    uint16_t scopes = values->scopes ? values->scopes : 1u << SCOPE_DEFAULT;
    struct partition_group group = values->group;
    group.partition = definition->partition;
    memcpy(group.mgid, mgid, sizeof group.mgid);
    for (group.scope = 0; group.scope < 16; group.scope++) {
        if (!(scopes >> group.scope & 1))
            continue;
        group.mgid[1] = (uint8_t)((mgid[1] & 0xF0) | group.scope);
        vec_push(&reader->partitions->groups, group);
        vec_push(&reader->group_lines, reader->lines->number);
    }
}

static bool is_ipoib(const uint8_t *mgid)
{
    unsigned signature = (unsigned)mgid[2] << 8 | mgid[3];
    return signature == 0x401B || signature == 0x601B;
}

/* Reads the MGID and its flags after `mgid=`, up to the end of the line or statement. */
static int read_group(struct partitions_reader *reader, const struct definition *definition)
{
    const char *address = take_words(reader, ",;");
    struct group_values values = definition->values;
    uint8_t mgid[MGID_BYTES];
    values.group.traffic_class = 0;
    if (inet_pton(AF_INET6, address, mgid) != 1 || mgid[0] != 0xFF)
        return line_reader_error(reader->lines, "'%.80s' is not a multicast GID", address);
    while (take_char(reader, ',')) {
        const char *flag = take_words(reader, "=,;");
        const char *value = take_char(reader, '=') ? take_words(reader, ",;") : "";
        int status = set_group_flag(reader, flag, value, &values);
        if (status > 0)
            return line_reader_error(
                reader->lines,
                "'%.80s' is not a flag of a group: rate, mtu, sl, scope, Q_Key, TClass or "
                "FlowLabel",
                flag);
        if (status)
            return status;
    }
    const struct partition_group *common = &definition->values.group;
    if (is_ipoib(mgid) && (values.group.mtu != common->mtu || values.group.rate != common->rate))
        return line_reader_error(
            reader->lines, "an IPoIB group has the rate and MTU of its partition: rate=%u, mtu=%u",
            common->rate, common->mtu);
    if (is_ipoib(mgid) && !values.group.q_key)
        values.group.q_key = IPOIB_Q_KEY;
    if (memcmp(mgid, broadcast_mgid, sizeof mgid) == 0)
        mgid[4] = mgid[5] = 0; /* finish_groups() sets the key of this partition */
    add_group(reader, definition, mgid, &values);
    return 0;
}

/* ---- members ---- */

static int read_member(struct partitions_reader *reader, const char *name,
                       const struct definition *definition)
{
    static const struct {
        const char *word;
        enum partition_target target;
    } words[] = {{"ALL", MEMBERS_ALL},
                 {"ALL_CAS", MEMBERS_ADAPTERS},
                 {"ALL_SWITCHES", MEMBERS_SWITCHES},
                 {"ALL_ROUTERS", MEMBERS_ROUTERS},
                 {"SELF", MEMBERS_SELF}};
    struct partition_rule rule = {.partition = definition->partition,
                                  .membership = definition->membership,
                                  .index0 = definition->index0};
    if (take_char(reader, '=')) {
        int status = set_membership(reader, take_words(reader, ",;"), &rule.membership);
        if (status)
            return status;
    }
    if (is_abbreviation(name, "NONE"))
        return 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words && rule.target == MEMBERS_PORT; i++)
        if (is_abbreviation(name, words[i].word))
            rule.target = words[i].target;
    if (rule.target == MEMBERS_PORT && !number(name, 1, UINT64_MAX, &rule.guid))
        return line_reader_error(
            reader->lines,
            "'%.80s' is not a port: expected a GUID, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS "
            "or SELF",
            name);
    add_rule(reader, rule);
    return 0;
}

/* Only a new statement has a colon outside a multicast GID. */
static bool begins_statement(const char *line)
{
    return strncmp(line, "mgid", 4) != 0 && line[strcspn(line, ":;#")] == ':';
}

static int read_body(struct partitions_reader *reader, const struct definition *definition)
{
    for (unsigned last = reader->lines->number;; last = reader->lines->number) {
        bool more = skip_lines(reader);
        if (take_char(reader, ';'))
            return 0;
        if (take_char(reader, ','))
            continue;
        if (!more || (reader->lines->number > last && begins_statement(reader->at))) {
            reader->lines->number = last;
            return line_reader_error(reader->lines, "missing ';' at the end of this statement");
        }
        const char *name = take_words(reader, "=,;");
        bool group = strcmp(name, "mgid") == 0;
        if (group && !take_char(reader, '='))
            return line_reader_error(reader->lines, "'mgid' without a value");
        int status = group ? read_group(reader, definition) : read_member(reader, name, definition);
        if (status)
            return status;
    }
}

static int read_statement(struct partitions_reader *reader)
{
    struct definition definition = {.values.group = {.mtu = MTU_DEFAULT, .rate = RATE_DEFAULT},
                                    .membership = MEMBER_LIMITED};
    const char *name = take_words(reader, "=,:;");
    const char *key = take_char(reader, '=') ? take_words(reader, ",:;") : NULL;
    int status = 0;
    if (take_char(reader, ','))
        status = read_flags(reader, &definition);
    if (!status && !take_char(reader, ':'))
        status = line_reader_error(reader->lines, "expected NAME=KEY, FLAG, ... : MEMBER, ... ;");
    if (!status)
        status = read_second_flags(reader, &definition);
    if (!status)
        status = find_partition(reader, name, key, &definition.partition);
    if (status)
        return status;
    if (definition.values.group.sl)
        reader->partitions->all.items[definition.partition].sl = definition.values.group.sl;
    if (definition.ipoib) {
        struct group_values values = definition.values;
        uint8_t mgid[MGID_BYTES];
        memcpy(mgid, broadcast_mgid, sizeof mgid);
        mgid[4] = mgid[5] = 0; /* finish_groups() sets the key */
        if (!values.group.q_key)
            values.group.q_key = IPOIB_Q_KEY;
        add_group(reader, &definition, mgid, &values);
    }
    return read_body(reader, &definition);
}

/* ---- keys and groups ---- */

static int make_keys(struct partitions_reader *reader)
{
    struct partitions *partitions = reader->partitions;
    uint16_t next = 1;
    for (uint32_t i = 0; i < partitions->all.count; i++) {
        if (partitions->all.items[i].key)
            continue;
        while (next < PARTITION_DEFAULT && map_get(&partitions->by_key, next) != MAP_NONE)
            next++;
        if (next == PARTITION_DEFAULT)
            return line_reader_error(reader->lines, "more partitions than keys");
        partitions->all.items[i].key = next;
        map_set(&partitions->by_key, next, i);
    }
    return 0;
}

/* Sets the P_Key in IPoIB MGIDs, and removes groups with the MGID of an earlier one. */
static int finish_groups(struct partitions_reader *reader)
{
    struct partitions *partitions = reader->partitions;
    struct map seen = {0};
    size_t kept = 0;
    int status = 0;
    for (size_t i = 0; i < partitions->groups.count && !status; i++) {
        struct partition_group group = partitions->groups.items[i];
        uint16_t key = partitions->all.items[group.partition].key | PARTITION_FULL;
        unsigned named = (unsigned)group.mgid[4] << 8 | group.mgid[5];
        reader->lines->number = reader->group_lines.items[i];
        if (is_ipoib(group.mgid) && named && named != key)
            status = line_reader_error(
                reader->lines, "the MGID has the key 0x%04x, but its partition 0x%04x", named, key);
        if (is_ipoib(group.mgid)) {
            group.mgid[4] = (uint8_t)(key >> 8);
            group.mgid[5] = (uint8_t)key;
        }
        uint32_t place = map_add(&seen, hash_bytes(0, group.mgid, MGID_BYTES), (uint32_t)kept);
        if (place == kept ||
            memcmp(partitions->groups.items[place].mgid, group.mgid, sizeof group.mgid) != 0)
            partitions->groups.items[kept++] = group;
    }
    partitions->groups.count = kept;
    map_release(&seen);
    return status;
}

static int by_guid_and_order(const void *a, const void *b)
{
    const struct partition_rule *x = a, *y = b;
    if (x->guid != y->guid)
        return x->guid < y->guid ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

int partitions_read(struct partitions *partitions, struct line_reader *lines)
{
    struct partitions_reader reader = {.lines = lines, .at = "", .partitions = partitions};
    *partitions = (struct partitions){0};
    /* Default rules, which rules of the file override. */
    uint32_t all = add_partition(&reader, "Default", PARTITION_DEFAULT);
    add_rule(&reader, (struct partition_rule){.partition = all, .target = MEMBERS_ALL});
    add_rule(&reader, (struct partition_rule){
                          .partition = all, .target = MEMBERS_SELF, .membership = MEMBER_FULL});
    name_map_add(&reader.by_name, partitions->all.items[all].name, all);
    while (skip_lines(&reader))
        if (line_reader_take(lines, read_statement(&reader)))
            reader.at = ""; /* an error ends the file */
    int status = lines->status;
    if (!status)
        status = make_keys(&reader);
    if (!status)
        status = finish_groups(&reader);
    if (!status)
        qsort(partitions->rules.items, partitions->rules.count, sizeof *partitions->rules.items,
              by_guid_and_order);
    while (!status && partitions->general < partitions->rules.count &&
           !partitions->rules.items[partitions->general].guid)
        partitions->general++;
    if (status)
        partitions_release(partitions);
    name_map_release(&reader.by_name);
    vec_release(&reader.group_lines);
    arena_release(&reader.words);
    return status;
}

void partitions_make_default(struct partitions *partitions)
{
    int status = partitions_read(partitions,
                                 from_text("default", "Default=0x7fff, ipoib : ALL=full;", NULL));
    assert(status == 0);
    (void)status;
}
