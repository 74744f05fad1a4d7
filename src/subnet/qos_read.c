/* Reads QoS configuration: OpenSM's qos_* options, and policies in the syntax of weft:
 *
 *   level NAME sl N [priority high|low] [weight N] [limit N%]
 *   group NAME [guid RANGE …] [name PATTERN …] [type switch|adapter|router|all|self …]
 *   match [pkey RANGES] [service RANGES] [class RANGES] [from GROUP] [to GROUP] [with GROUP]
 *         level NAME
 *
 * Each line is one statement. RANGES are numbers or FROM-TO, separated by commas. The first match
 * applies. Without a match the level with SL 0 applies; it is added if the policy does not define
 * it. weft-sm.conf(5) describes the syntax.
 *
 * qos_policy.c reads policies that begin with a section of OpenSM. A policy with an error changes
 * nothing. */
#include "subnet/qos.h"

#include <assert.h>
#include <errno.h>

enum {
    DEFAULT_WEIGHT = 64,
    LOWEST_LIMIT = 50 /* percent: high priority sends at least every other packet of equal length */
};

/* ---- values ---- */

static int add_range(struct qos *qos, enum qos_subject subject, char *word, struct err *err)
{
    enum { CLASS_HIGHEST = 4095, P_KEY_HIGHEST = 0xFFFF, P_KEY_BASE = 0x7FFF };
    struct qos_range range = {.subject = subject};
    uint64_t highest = subject == QOS_PARTITION       ? P_KEY_HIGHEST
                       : subject == QOS_REQUEST_CLASS ? CLASS_HIGHEST
                                                      : UINT64_MAX;
    char *dash = strchr(word, '-');
    if (dash)
        *dash = 0;
    if (!parse_bounded(word, 0, highest, &range.first) ||
        !parse_bounded(dash ? dash + 1 : word, 0, highest, &range.last))
        return err_set(err, EINVAL, "'%s%s%s': expected a number or FROM-TO, up to 0x%llx", word,
                       dash ? "-" : "", dash ? dash + 1 : "", (unsigned long long)highest);
    if (subject == QOS_PARTITION) {
        range.first &= P_KEY_BASE;
        range.last &= P_KEY_BASE;
    }
    if (range.first > range.last)
        return err_set(err, EINVAL, "the range ends before it begins");
    if (qos->ranges.count == QOS_RANGES)
        return err_set(err, ENOSPC, "more than %d ranges", QOS_RANGES);
    vec_push(&qos->ranges, range);
    return 0;
}

int qos_parse_ranges(struct qos *qos, enum qos_subject subject, const char *text, struct err *err)
{
    char *copy = mem_strdup(text), *rest = NULL;
    int status = 0;
    for (char *word = strtok_r(copy, ", \t", &rest); word && !status;
         word = strtok_r(NULL, ", \t", &rest))
        status = add_range(qos, subject, word, err);
    mem_free(copy);
    return status;
}

int qos_add_guids(struct qos *qos, unsigned group, const char *text, struct err *err)
{
    size_t before = qos->ranges.count;
    int status = qos_parse_ranges(qos, QOS_TARGET, text, err);
    for (size_t i = before; i < qos->ranges.count; i++)
        vec_push(&qos->members, ((struct qos_member){.kind = QOS_BY_GUID,
                                                     .group = (uint8_t)group,
                                                     .first = qos->ranges.items[i].first,
                                                     .last = qos->ranges.items[i].last}));
    qos->ranges.count = before;
    return status;
}

bool qos_add_name(struct qos *qos, unsigned group, const char *pattern)
{
    struct qos_member member = {.kind = QOS_BY_NAME, .group = (uint8_t)group};
    if (strlen(pattern) >= sizeof member.pattern)
        return false;
    strcpy(member.pattern, pattern);
    vec_push(&qos->members, member);
    return true;
}

bool qos_add_type(struct qos *qos, unsigned group, const char *adapter, const char *type)
{
    const char *const types[] = {"all", adapter, "switch", "router", "self"};
    enum { TYPES = sizeof types / sizeof *types, SELF = TYPES - 1 };
    struct qos_member member = {.kind = QOS_BY_TYPE, .group = (uint8_t)group};
    while (member.type < TYPES && strcasecmp(types[member.type], type) != 0)
        member.type++;
    if (member.type == TYPES)
        return false;
    if (member.type == SELF)
        member.kind = QOS_BY_SELF;
    vec_push(&qos->members, member);
    return true;
}

uint8_t qos_find_level(const struct qos *qos, const char *name)
{
    for (size_t i = 0; i < qos->levels.count; i++)
        if (strcmp(qos->levels.items[i].name, name) == 0)
            return (uint8_t)i;
    return QOS_NO_LEVEL;
}

int qos_find_group(const struct qos *qos, const char *name)
{
    for (size_t i = 0; i < qos->groups.count; i++)
        if (strcmp(qos->groups.items[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- OpenSM's options ---- */

static int set_map(struct qos_tables *tables, char *value, struct err *err)
{
    uint8_t map[QOS_SLS];
    unsigned count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(value, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        uint64_t vl;
        if (!parse_bounded(word, 0, QOS_DISCARD, &vl))
            return err_set(err, EINVAL, "'%s': expected a VL from 0 to 15", word);
        if (count == QOS_SLS)
            return err_set(err, EINVAL, "more than 16 VLs");
        map[count++] = (uint8_t)vl;
    }
    if (count != QOS_SLS)
        return err_set(err, EINVAL, "expected 16 VLs, one for each SL, not %u", count);
    memcpy(tables->map, map, sizeof map);
    tables->has_map = true;
    return 0;
}

static int set_list(struct qos_list *list, char *value, struct err *err)
{
    struct qos_list fresh = {0};
    char *rest = NULL;
    for (char *word = strtok_r(value, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        uint64_t vl, weight;
        char *colon = strchr(word, ':');
        if (!colon)
            return err_set(err, EINVAL, "'%s': expected VL:WEIGHT", word);
        *colon = 0;
        if (!parse_bounded(word, 0, QOS_DISCARD - 1, &vl) ||
            !parse_bounded(colon + 1, 0, 255, &weight))
            return err_set(err, EINVAL, "'%s:%s': a VL is 0 to 14, a weight 0 to 255", word,
                           colon + 1);
        if (fresh.count == QOS_ENTRIES)
            return err_set(err, EINVAL, "more than %d entries", QOS_ENTRIES);
        fresh.entries[fresh.count++] = (struct qos_entry){(uint8_t)vl, (uint8_t)weight};
    }
    *list = fresh;
    return 0;
}

static const char *const class_words[QOS_CLASSES] = {
    [QOS_ALL] = "",          [QOS_ADAPTER] = "ca_",          [QOS_ROUTER] = "rtr_",
    [QOS_SWITCH_0] = "sw0_", [QOS_SWITCH_EXTERNAL] = "swe_",
};

static int set_table_option(struct qos_tables *tables, const char *option, char *value,
                            struct err *err)
{
    uint64_t number = 0;
    if (strcmp(option, "sl2vl") == 0)
        return set_map(tables, value, err);
    if (strcmp(option, "vlarb_high") == 0)
        return set_list(&tables->high, value, err);
    if (strcmp(option, "vlarb_low") == 0)
        return set_list(&tables->low, value, err);
    if (strcmp(option, "max_vls") == 0) {
        if (!parse_bounded(value, 0, QOS_DISCARD, &number))
            return err_set(err, EINVAL, "'%s': expected a number of VLs, 1 to 15", value);
        tables->max_vls = (uint8_t)number;
        return 0;
    }
    if (strcmp(option, "high_limit") != 0)
        return err_set(err, EINVAL, "unknown option");
    if (!parse_bounded(value, 0, QOS_UNLIMITED, &number))
        return err_set(err, EINVAL, "'%s': expected 0 to 255, in units of 4096 bytes", value);
    tables->high_limit = (int)number;
    return 0;
}

int qos_set_option(struct qos *qos, const char *option, const char *value, struct err *err)
{
    enum qos_class class = QOS_ALL;
    for (unsigned i = QOS_ALL + 1; i < QOS_CLASSES; i++)
        if (strncmp(option, class_words[i], strlen(class_words[i])) == 0)
            class = (enum qos_class)i;
    option += strlen(class_words[class]);
    /* Values of options that are not set, in configuration files that OpenSM writes. */
    if (strcmp(value, "(null)") == 0 || strcmp(value, "none") == 0 || strcmp(value, "-1") == 0 ||
        (strcmp(option, "max_vls") == 0 && strcmp(value, "0") == 0))
        return 0;
    char *copy = mem_strdup(value);
    int status = set_table_option(&qos->tables[class], option, copy, err);
    mem_free(copy);
    qos->given |= !status;
    return status;
}

/* ---- statements ---- */

static int take_name(struct cursor *line, char name[QOS_NAME])
{
    struct word word;
    if (cursor_take(line, "a name", &word))
        return line->status;
    if (!*word.text || strlen(word.text) >= QOS_NAME)
        return word_error(line, &word, "a name has 1 to %d characters", QOS_NAME - 1);
    strcpy(name, word.text);
    return 0;
}

static int take_limit(struct cursor *line, uint8_t *limit)
{
    struct word word;
    const char *unit = "";
    double percent = 0;
    cursor_take(line, "a limit", &word);
    if (!parse_decimal(word.text, &percent, &unit) || strcmp(unit, "%") != 0 ||
        percent < LOWEST_LIMIT || percent > 100 || percent != (uint8_t)percent)
        return word_error(line, &word,
                          "'%s': expected %d%% to 100%%; with any limit, high priority sends at "
                          "least every other packet",
                          word.text, LOWEST_LIMIT);
    *limit = (uint8_t)percent;
    return 0;
}

static int take_level_key(struct cursor *line, struct qos_level *level, bool *has_sl)
{
    static const char *const keys[] = {"sl", "weight", "priority", "limit"};
    static const char *const priorities[] = {"low", "high"};
    enum { SL, WEIGHT, PRIORITY, KEYS = 4 };
    unsigned key, high;
    uint64_t number;
    if (cursor_take_choice(line, "property of a level", keys, KEYS, &key))
        return line->status;
    switch (key) {
    case SL:
        *has_sl = true;
        cursor_take_number(line, "a service level", 0, QOS_SLS - 1, &number);
        level->sl = (uint8_t)number;
        return line->status;
    case WEIGHT:
        cursor_take_number(line, "a weight", 1, 255, &number);
        level->weight = (uint8_t)number;
        return line->status;
    case PRIORITY:
        cursor_take_choice(line, "priority", priorities, 2, &high);
        level->high = high;
        return line->status;
    default: return take_limit(line, &level->limit);
    }
}

static int check_level(const struct qos *qos, const struct qos_level *level, bool has_sl,
                       struct err *err)
{
    if (!has_sl)
        return err_set(err, EINVAL, "level %s has no sl", level->name);
    if (level->limit && !level->high)
        return err_set(err, EINVAL, "level %s has a limit, which only high priority can have",
                       level->name);
    if (qos->levels.count == QOS_LEVELS)
        return err_set(err, EINVAL, "more than %d levels", QOS_LEVELS);
    for (size_t i = 0; i < qos->levels.count; i++) {
        const struct qos_level *other = &qos->levels.items[i];
        if (strcmp(other->name, level->name) == 0)
            return err_set(err, EINVAL, "duplicate level %s", level->name);
        if (other->sl == level->sl)
            return err_set(err, EINVAL, "level %s already has sl %u", other->name, level->sl);
        if (other->limit && level->limit && other->limit != level->limit)
            return err_set(err, EINVAL,
                           "level %s has another limit: a port has one limit for high priority",
                           other->name);
    }
    return 0;
}

static int read_level(struct qos *qos, struct cursor *line)
{
    struct qos_level level = {.weight = DEFAULT_WEIGHT, .life = 0xFF};
    bool has_sl = false;
    int status = take_name(line, level.name);
    while (status == 0 && !cursor_is_done(line))
        status = take_level_key(line, &level, &has_sl);
    if (status == 0)
        status = check_level(qos, &level, has_sl, line->err);
    if (status == 0)
        vec_push(&qos->levels, level);
    return status;
}

static int read_group(struct qos *qos, struct cursor *line)
{
    enum { NOTHING, GUID, NAME, TYPE } what = NOTHING;
    struct qos_group group;
    unsigned number = (unsigned)qos->groups.count;
    int status = take_name(line, group.name);
    if (status == 0 && qos_find_group(qos, group.name) >= 0)
        return err_set(line->err, EINVAL, "duplicate group %s", group.name);
    if (status == 0 && number == QOS_GROUPS)
        return err_set(line->err, EINVAL, "more than %d groups", QOS_GROUPS);
    for (struct word word; status == 0 && !cursor_is_done(line);) {
        cursor_take(line, "", &word);
        if (strcmp(word.text, "guid") == 0)
            what = GUID;
        else if (strcmp(word.text, "name") == 0)
            what = NAME;
        else if (strcmp(word.text, "type") == 0)
            what = TYPE;
        else if (what == GUID)
            status = qos_add_guids(qos, number, word.text, line->err);
        else if (what == NAME && !qos_add_name(qos, number, word.text))
            status = word_error(line, &word, "a pattern has up to %d characters", QOS_NAME - 1);
        else if (what == TYPE && !qos_add_type(qos, number, "adapter", word.text))
            status = word_error(
                line, &word, "type '%s': expected all, adapter, switch, router or self", word.text);
        else if (what == NOTHING)
            status = word_error(line, &word, "'%s': a group has guid, name and type", word.text);
    }
    if (status == 0)
        vec_push(&qos->groups, group);
    return status;
}

static int take_condition(struct qos *qos, struct cursor *line, struct qos_rule *rule)
{
    enum { FROM = QOS_TARGET, LEVEL = FROM + 3, KEYS };
    static const char *const keys[KEYS] = {[QOS_SERVICE] = "service",
                                           [QOS_PARTITION] = "pkey",
                                           [QOS_REQUEST_CLASS] = "class",
                                           [FROM] = "from",
                                           "to",
                                           "with",
                                           "level"};
    uint64_t *const groups[] = {&rule->sources, &rule->destinations, &rule->either};
    unsigned key;
    struct word word;
    if (cursor_take_choice(line, "condition", keys, KEYS, &key) ||
        cursor_take(line, key < FROM ? "a number" : "a name", &word))
        return line->status;
    if (key < FROM)
        return qos_parse_ranges(qos, (enum qos_subject)key, word.text, line->err);
    if (key == LEVEL) {
        rule->level = qos_find_level(qos, word.text);
        return rule->level == QOS_NO_LEVEL
                   ? word_error(line, &word, "no level '%s' is defined above", word.text)
                   : 0;
    }
    int group = qos_find_group(qos, word.text);
    if (group < 0)
        return word_error(line, &word, "no group '%s' is defined above", word.text);
    *groups[key - FROM] |= UINT64_C(1) << group;
    return 0;
}

static int read_match(struct qos *qos, struct cursor *line)
{
    struct qos_rule rule = {.first_range = (uint32_t)qos->ranges.count, .level = QOS_NO_LEVEL};
    int status = 0;
    while (status == 0 && !cursor_is_done(line))
        status = take_condition(qos, line, &rule);
    if (status == 0 && rule.level == QOS_NO_LEVEL)
        return err_set(line->err, EINVAL, "a match needs a level");
    if (status == 0 && qos->rules.count == QOS_RULES)
        return err_set(line->err, ENOSPC, "more than %d matches", QOS_RULES);
    rule.range_count = (uint32_t)qos->ranges.count - rule.first_range;
    if (status == 0)
        vec_push(&qos->rules, rule);
    return status;
}

static int read_statement(struct qos *qos, struct cursor *line)
{
    static const char *const statements[] = {"level", "group", "match"};
    static int (*const readers[])(struct qos *, struct cursor *) = {read_level, read_group,
                                                                    read_match};
    unsigned which;
    int status = cursor_take_choice(line, "statement", statements, 3, &which);
    return status ? status : readers[which](qos, line);
}

/* ---- a whole policy ---- */

/* Sorts low priority first, because adjacent levels share a VL on a link with too few VLs. Updates
 * the indices in the rules. */
static void sort_levels(struct qos *qos)
{
    assert(qos->levels.count > 0 && qos->levels.count <= QOS_LEVELS);
    struct qos_level sorted[QOS_LEVELS];
    uint8_t place[QOS_LEVELS];
    unsigned count = 0;
    for (unsigned high = 0; high < 2; high++)
        for (unsigned i = 0; i < qos->levels.count; i++)
            if (qos->levels.items[i].high == high) {
                place[i] = (uint8_t)count;
                sorted[count++] = qos->levels.items[i];
            }
    for (unsigned i = 0; i < count; i++) {
        qos->levels.items[i] = sorted[i];
        if (sorted[i].sl == 0)
            qos->fallback = (uint8_t)i;
    }
    for (size_t i = 0; i < qos->rules.count; i++)
        qos->rules.items[i].level = place[qos->rules.items[i].level];
}

static int add_fallback(struct qos *qos, struct err *err)
{
    struct qos_level level = {.name = "default", .weight = DEFAULT_WEIGHT, .life = 0xFF};
    for (size_t i = 0; i < qos->levels.count; i++)
        if (qos->levels.items[i].sl == 0)
            return 0;
    int status = check_level(qos, &level, true, err);
    if (status == 0)
        vec_push(&qos->levels, level);
    return status;
}

static int read_policy(struct qos *qos, struct line_reader *lines)
{
    struct cursor line;
    bool more = line_reader_next(lines, &line);
    if (more && qos_is_section(line.words[0].text))
        return qos_read_opensm(qos, lines);
    for (; more; more = line_reader_next(lines, &line))
        line_reader_take(lines, read_statement(qos, &line));
    if (lines->status)
        return lines->status;
    lines->number = 0; /* errors from here on are about the whole file */
    int status = qos->levels.count ? add_fallback(qos, lines->err)
                                   : err_set(lines->err, EINVAL, "a policy without levels");
    if (line_reader_take(lines, status) == 0)
        sort_levels(qos);
    qos->levels_first = true;
    return status;
}

int qos_read(struct qos *qos, struct line_reader *lines)
{
    struct qos fresh;
    qos_init(&fresh);
    memcpy(fresh.tables, qos->tables, sizeof fresh.tables);
    fresh.on = qos->on;
    int status = read_policy(&fresh, lines);
    fresh.given = true;
    if (status) {
        qos_release(&fresh);
        return status;
    }
    qos_release(qos);
    *qos = fresh;
    return 0;
}

int qos_finish(struct qos *qos, struct err *err)
{
    bool tables = false;
    for (unsigned i = 0; i < QOS_CLASSES; i++)
        tables |= qos->tables[i].has_map || qos->tables[i].high.count || qos->tables[i].low.count ||
                  qos->tables[i].high_limit >= 0;
    if (tables && qos->levels_first)
        return err_set(err, EINVAL,
                       "levels of the policy and tables of qos_ options exclude each other");
    return 0;
}
