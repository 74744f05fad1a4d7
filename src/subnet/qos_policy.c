/* Reads a QoS policy in the syntax of OpenSM (its manual, "QoS policy file"): sections of entries
 * of "key : value" lines, and the short form of rules for well-known protocols, qos-ulps.
 *
 * Supported: port-groups (port-guid, port-name, node-type), qos-levels (sl, mtu-limit, rate-limit,
 * packet-life), qos-match-rules (source, destination, service-id, qos-class, pkey) and qos-ulps.
 * Ignored with a warning: qos-setup (OpenSM ignores it as well), members of groups by partition,
 * and path-bits and pkey of a level. */
#include "subnet/qos.h"

#include <stdio.h>

struct policy_reader {
    struct qos *qos;
    struct line_reader *lines;
    const struct section *section; /* NULL outside of sections */
    bool in_entry;
    struct qos_level level;
    struct qos_group group;
    struct qos_rule rule;
    bool named, has_sl;
};

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    char *end = text + strlen(text);
    while (end > text && strchr(" \t\r", end[-1]))
        *--end = 0;
    return text;
}

static bool equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static int copy_name(struct policy_reader *reader, char name[QOS_NAME], const char *value)
{
    if (!*value || strlen(value) >= QOS_NAME)
        return line_reader_error(reader->lines, "'%s': a name has 1 to 63 characters", value);
    strcpy(name, value);
    reader->named = true;
    return 0;
}

static int copy_number(struct policy_reader *reader, uint8_t *number, const char *value,
                       unsigned most)
{
    uint64_t parsed;
    if (!parse_bounded(value, 0, most, &parsed))
        return line_reader_error(reader->lines, "'%s': expected 0 to %u", value, most);
    *number = (uint8_t)parsed;
    return 0;
}

/* ---- port groups ---- */

static int add_types(struct policy_reader *reader, char *value)
{
    char *rest = NULL;
    for (char *word = strtok_r(value, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest))
        if (!qos_add_type(reader->qos, (unsigned)reader->qos->groups.count, "CA", word))
            return line_reader_error(reader->lines,
                                     "'%s': expected CA, SWITCH, ROUTER, SELF or ALL", word);
    return 0;
}

/* "vs1 HCA-1/P1" is a node description and a port; the port is ignored. */
static int add_names(struct policy_reader *reader, char *value)
{
    char *rest = NULL;
    for (char *word = strtok_r(value, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        word = trimmed(word);
        char *port = strrchr(word, '/');
        if (port && (port[1] == 'P' || port[1] == 'p'))
            *port = 0;
        if (!*word || !qos_add_name(reader->qos, (unsigned)reader->qos->groups.count, word))
            return line_reader_error(reader->lines, "'%s': a name has 1 to 63 characters", word);
    }
    return 0;
}

static int take_group_line(struct policy_reader *reader, char *key, char *value)
{
    if (reader->qos->groups.count == QOS_GROUPS)
        return line_reader_error(reader->lines, "more than %d port-groups", QOS_GROUPS);
    if (equal(key, "name"))
        return copy_name(reader, reader->group.name, value);
    if (equal(key, "port-guid"))
        return qos_add_guids(reader->qos, (unsigned)reader->qos->groups.count, value,
                             reader->lines->err);
    if (equal(key, "port-name"))
        return add_names(reader, value);
    if (equal(key, "node-type"))
        return add_types(reader, value);
    if (!equal(key, "pkey") && !equal(key, "partition"))
        return line_reader_error(reader->lines, "a port-group has no '%s'", key);
    qos_warning(reader->qos, "members of port groups by %s are ignored: match by pkey instead",
                key);
    return 0;
}

static int end_group(struct policy_reader *reader)
{
    struct qos *qos = reader->qos;
    if (!reader->named)
        return line_reader_error(reader->lines, "a port-group without a name");
    if (qos_find_group(qos, reader->group.name) >= 0)
        return line_reader_error(reader->lines, "duplicate port-group '%s'", reader->group.name);
    vec_push(&qos->groups, reader->group);
    return 0;
}

/* ---- levels ---- */

static int take_level_line(struct policy_reader *reader, char *key, char *value)
{
    struct qos_level *level = &reader->level;
    reader->has_sl |= equal(key, "sl");
    if (equal(key, "name"))
        return copy_name(reader, level->name, value);
    if (equal(key, "sl"))
        return copy_number(reader, &level->sl, value, QOS_SLS - 1);
    if (equal(key, "mtu-limit"))
        return copy_number(reader, &level->mtu, value, 5);
    if (equal(key, "rate-limit"))
        return copy_number(reader, &level->rate, value, 63);
    if (equal(key, "packet-life"))
        return copy_number(reader, &level->life, value, 31);
    if (!equal(key, "path-bits") && !equal(key, "pkey"))
        return line_reader_error(reader->lines, "a qos-level has no '%s'", key);
    qos_warning(reader->qos, "%s of a qos-level is ignored", key);
    return 0;
}

static int end_level(struct policy_reader *reader)
{
    struct qos *qos = reader->qos;
    if (!reader->named || !reader->has_sl)
        return line_reader_error(reader->lines, "a qos-level without %s",
                                 reader->named ? "sl" : "name");
    if (qos_find_level(qos, reader->level.name) != QOS_NO_LEVEL)
        return line_reader_error(reader->lines, "duplicate qos-level '%s'", reader->level.name);
    if (qos->levels.count == QOS_NO_LEVEL)
        return line_reader_error(reader->lines, "too many qos-levels");
    if (strcasecmp(reader->level.name, "DEFAULT") == 0)
        qos->fallback = (uint8_t)qos->levels.count;
    vec_push(&qos->levels, reader->level);
    return 0;
}

/* ---- rules ---- */

static int find_groups(struct policy_reader *reader, uint64_t *groups, char *value)
{
    char *rest = NULL;
    for (char *word = strtok_r(value, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int group = qos_find_group(reader->qos, trimmed(word));
        if (group < 0)
            return line_reader_error(reader->lines, "there is no port-group '%s'", trimmed(word));
        *groups |= UINT64_C(1) << group;
    }
    return 0;
}

static int take_rule_line(struct policy_reader *reader, char *key, char *value)
{
    struct qos *qos = reader->qos;
    if (equal(key, "source"))
        return find_groups(reader, &reader->rule.sources, value);
    if (equal(key, "destination"))
        return find_groups(reader, &reader->rule.destinations, value);
    if (equal(key, "service-id"))
        return qos_parse_ranges(qos, QOS_SERVICE, value, reader->lines->err);
    if (equal(key, "pkey"))
        return qos_parse_ranges(qos, QOS_PARTITION, value, reader->lines->err);
    if (equal(key, "qos-class"))
        return qos_parse_ranges(qos, QOS_REQUEST_CLASS, value, reader->lines->err);
    if (!equal(key, "qos-level-name"))
        return line_reader_error(reader->lines, "a qos-match-rule has no '%s'", key);
    reader->rule.level = qos_find_level(qos, value);
    return reader->rule.level == QOS_NO_LEVEL
               ? line_reader_error(reader->lines, "there is no qos-level '%s'", value)
               : 0;
}

static int end_rule(struct policy_reader *reader)
{
    struct qos *qos = reader->qos;
    if (reader->rule.level == QOS_NO_LEVEL)
        return line_reader_error(reader->lines, "a rule without a level");
    if (qos->rules.count == QOS_RULES)
        return line_reader_error(reader->lines, "too many rules");
    reader->rule.range_count = (uint32_t)qos->ranges.count - reader->rule.first_range;
    vec_push(&qos->rules, reader->rule);
    return 0;
}

static void begin_rule(struct policy_reader *reader)
{
    reader->rule = (struct qos_rule){.first_range = (uint32_t)reader->qos->ranges.count,
                                     .level = QOS_NO_LEVEL};
}

/* ---- rules for protocols ---- */

/* Adds the service IDs of ports of a protocol: a prefix and the port in the low sixteen bits. */
static int add_ports(struct policy_reader *reader, uint64_t prefix, char *ports)
{
    struct qos *qos = reader->qos;
    size_t before = qos->ranges.count;
    int status = qos_parse_ranges(qos, QOS_SERVICE, ports, reader->lines->err);
    for (size_t i = before; !status && i < qos->ranges.count; i++) {
        if (qos->ranges.items[i].last > UINT16_MAX)
            return line_reader_error(reader->lines, "a port number is at most 65535");
        qos->ranges.items[i].first += prefix;
        qos->ranges.items[i].last += prefix;
    }
    return status;
}

static const struct protocol {
    const char *name;
    uint64_t prefix;
    uint16_t first, last; /* default ports */
} protocols[] = {
    {"sdp", 0x10000, 0, UINT16_MAX},
    {"rds", 0x1060000, 0x48CA, 0x48CA},
    {"iser", 0x1060000, 0x035C, 0x035C},
};

static int take_condition(struct policy_reader *reader, const char *ulp, char *condition)
{
    struct qos *qos = reader->qos;
    char *value = condition + strcspn(condition, " \t");
    if (*value)
        *value++ = 0;
    value = trimmed(value);
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (equal(ulp, protocols[i].name))
            return equal(condition, "port-num")
                       ? add_ports(reader, protocols[i].prefix, value)
                       : line_reader_error(reader->lines, "'%s': expected port-num", condition);
    if (equal(condition, "pkey") && (equal(ulp, "ipoib") || equal(ulp, "any")))
        return qos_parse_ranges(qos, QOS_PARTITION, value, reader->lines->err);
    if (equal(condition, "service-id") && equal(ulp, "any"))
        return qos_parse_ranges(qos, QOS_SERVICE, value, reader->lines->err);
    if (equal(condition, "target-port-guid") && (equal(ulp, "srp") || equal(ulp, "any")))
        return qos_parse_ranges(qos, QOS_TARGET, value, reader->lines->err);
    return line_reader_error(reader->lines, "'%s' is not valid for this protocol", condition);
}

static int add_protocol(struct policy_reader *reader, const char *ulp)
{
    enum { DEFAULT_P_KEY = 0x7FFF };
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (equal(ulp, protocols[i].name)) {
            vec_push(&reader->qos->ranges,
                     ((struct qos_range){QOS_SERVICE, protocols[i].prefix + protocols[i].first,
                                         protocols[i].prefix + protocols[i].last}));
            return 0;
        }
    if (!equal(ulp, "ipoib"))
        return line_reader_error(reader->lines,
                                 "'%s': expected default, sdp, rds, iser, srp, ipoib or any", ulp);
    vec_push(&reader->qos->ranges,
             ((struct qos_range){QOS_PARTITION, DEFAULT_P_KEY, DEFAULT_P_KEY}));
    return 0;
}

/* The level that consists of this SL only. */
static int find_sl_level(struct policy_reader *reader, const char *value, uint8_t *index)
{
    struct qos_level level = {.life = 0xFF};
    int status = copy_number(reader, &level.sl, value, QOS_SLS - 1);
    if (status)
        return status;
    snprintf(level.name, sizeof level.name, "sl %u", level.sl);
    *index = qos_find_level(reader->qos, level.name);
    if (*index == QOS_NO_LEVEL) {
        *index = (uint8_t)reader->qos->levels.count;
        if (reader->qos->levels.count == QOS_NO_LEVEL)
            return line_reader_error(reader->lines, "too many levels");
        vec_push(&reader->qos->levels, level);
    }
    return 0;
}

/* "ipoib, pkey 0x0001 : 5" */
static int take_ulp(struct policy_reader *reader, char *ulp, char *value)
{
    char *condition = strchr(ulp, ',');
    uint8_t level = 0;
    int status = find_sl_level(reader, value, &level);
    if (status)
        return status;
    if (condition)
        *condition++ = 0;
    ulp = trimmed(ulp);
    if (equal(ulp, "default") && !condition) {
        reader->qos->fallback = level;
        return 0;
    }
    begin_rule(reader);
    status =
        condition ? take_condition(reader, ulp, trimmed(condition)) : add_protocol(reader, ulp);
    if (status)
        return status;
    reader->rule.level = level;
    return end_rule(reader);
}

/* ---- lines ---- */

static const struct section {
    const char *name, *entry; /* NULL: a section without entries */
    int (*take)(struct policy_reader *reader, char *key,
                char *value);                 /* NULL: its lines are ignored */
    int (*end)(struct policy_reader *reader); /* of an entry */
} sections[] = {
    {"port-groups", "port-group", take_group_line, end_group},
    {"qos-levels", "qos-level", take_level_line, end_level},
    {"qos-match-rules", "qos-match-rule", take_rule_line, end_rule},
    {"qos-ulps", NULL, take_ulp, NULL},
    {"qos-setup", NULL, NULL, NULL},
};

static const struct section *find_section(const char *word)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (equal(word, sections[i].name))
            return &sections[i];
    return NULL;
}

static int begin(struct policy_reader *reader, const char *word)
{
    if (!reader->section) {
        reader->section = find_section(word);
        if (reader->section && !reader->section->take)
            qos_warning(reader->qos, "qos-setup is ignored: use the qos_ options");
        if (reader->section)
            return 0;
    } else if (reader->section->entry && !reader->in_entry && equal(word, reader->section->entry)) {
        reader->in_entry = true;
        reader->named = reader->has_sl = false;
        reader->level = (struct qos_level){.life = 0xFF};
        reader->group = (struct qos_group){{0}};
        begin_rule(reader);
        return 0;
    }
    return line_reader_error(reader->lines, "'%s' is not valid here", word);
}

static int end(struct policy_reader *reader, const char *word)
{
    const struct section *section = reader->section;
    if (section && reader->in_entry && equal(word, section->entry)) {
        reader->in_entry = false;
        return section->end(reader);
    }
    if (!section || reader->in_entry || !equal(word, section->name))
        return line_reader_error(reader->lines, "'end-%s' without '%s'", word, word);
    reader->section = NULL;
    return 0;
}

static int take_line(struct policy_reader *reader, char *line)
{
    static const char prefix[] = "end-";
    const struct section *section = reader->section;
    line[strcspn(line, "#")] = 0;
    line = trimmed(line);
    char *colon = strchr(line, ':'), *ended = line + sizeof prefix - 1;
    bool ends = strncmp(line, prefix, sizeof prefix - 1) == 0;
    if (!*line || (section && !section->take && !(ends && equal(ended, section->name))))
        return 0;
    if (ends)
        return end(reader, ended);
    if (!colon)
        return begin(reader, line);
    *colon = 0;
    char *key = trimmed(line), *value = trimmed(colon + 1);
    if (!section || (section->entry && !reader->in_entry))
        return line_reader_error(reader->lines, "'%s' is outside of an entry", key);
    if (section->entry && equal(key, "use"))
        return 0; /* a description */
    return section->take(reader, key, value);
}

bool qos_is_section(const char *word)
{
    return find_section(word) != NULL;
}

int qos_read_opensm(struct qos *qos, struct line_reader *lines)
{
    struct policy_reader reader = {.qos = qos, .lines = lines};
    do
        line_reader_take(lines, take_line(&reader, lines->copy));
    while (line_reader_next_line(lines));
    if (!lines->status && reader.section) {
        lines->number++;
        line_reader_error(lines, "'%s' has no end", reader.section->name);
    }
    return lines->status;
}
