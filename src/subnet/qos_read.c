/* Reading quality of service: OpenSM's qos_* options, and policies in weft's own syntax.
 *
 *   level NAME sl N [priority high|low] [weight N] [limit N%]
 *   group NAME [guid RANGE …] [name PATTERN …] [type switch|adapter|router|all|self …]
 *   match [pkey RANGES] [service RANGES] [class RANGES] [from GROUP] [to GROUP] [with GROUP]
 *         level NAME
 *
 * one statement a line, '#' begins a remark, words with blanks stand in double quotes. RANGES are
 * numbers or FROM-TO, separated by commas. The first match that fits decides; what none fits has
 * the level with SL 0, which is there even if nobody names it. weft-sm.conf(5) explains them.
 *
 * A policy that begins with one of OpenSM's sections is read by qos_policy.c. Either way it takes
 * effect as a whole or not at all. */
#include "subnet/qos.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_LIMIT = 16 * 1024 * 1024,
    DEFAULT_WEIGHT = 64,
    HIGHEST_GUARANTEE = 50 /* percent that low priority always gets if it wants: every other packet
                              of equal length */
};

/* ---- values ---- */

static int number_of(const char *text, uint64_t highest, uint64_t *value)
{
    char *end;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (errno || *end || number > highest)
        return -EINVAL;
    *value = number;
    return 0;
}

static uint64_t highest_of(enum qos_subject subject)
{
    enum { CLASS_HIGHEST = 4095, P_KEY_HIGHEST = 0xFFFF };
    if (subject == QOS_PARTITION)
        return P_KEY_HIGHEST;
    return subject == QOS_REQUEST_CLASS ? CLASS_HIGHEST : UINT64_MAX;
}

int qos_parse_ranges(struct qos *qos, enum qos_subject subject, char *text, struct err *err)
{
    enum { P_KEY_BASE = 0x7FFF };
    char *rest = NULL;
    uint64_t highest = highest_of(subject);
    for (char *word = strtok_r(text, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        struct qos_range range = {.subject = subject};
        char *dash = strchr(word, '-');
        if (dash)
            *dash = 0;
        if (number_of(word, highest, &range.first) ||
            number_of(dash ? dash + 1 : word, highest, &range.last))
            return err_set(err, EINVAL, "'%s%s%s': expected a number or FROM-TO, up to 0x%llx",
                           word, dash ? "-" : "", dash ? dash + 1 : "",
                           (unsigned long long)highest);
        if (subject == QOS_PARTITION) {
            range.first &= P_KEY_BASE;
            range.last &= P_KEY_BASE;
        }
        if (range.first > range.last)
            return err_set(err, EINVAL, "a range that ends before it begins");
        if (qos->ranges.count == QOS_RANGES)
            return err_set(err, ENOSPC, "more than %d ranges", QOS_RANGES);
        vec_push(&qos->ranges, range);
    }
    return 0;
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

static bool is_absent(const char *value)
{
    return strcmp(value, "(null)") == 0 || strcmp(value, "none") == 0;
}

static int set_map(struct qos_tables *tables, char *value, struct err *err)
{
    uint8_t map[QOS_SLS];
    unsigned count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(value, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        uint64_t vl;
        if (number_of(word, QOS_DISCARD, &vl))
            return err_set(err, EINVAL, "'%s': expected a lane from 0 to 15", word);
        if (count == QOS_SLS)
            return err_set(err, EINVAL, "more than 16 lanes");
        map[count++] = (uint8_t)vl;
    }
    if (count != QOS_SLS)
        return err_set(err, EINVAL, "expected 16 lanes, one for each service level, not %u", count);
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
            return err_set(err, EINVAL, "'%s': expected LANE:WEIGHT", word);
        *colon = 0;
        if (number_of(word, QOS_DISCARD - 1, &vl) || number_of(colon + 1, 255, &weight))
            return err_set(err, EINVAL, "'%s:%s': a lane is 0 to 14, a weight 0 to 255", word,
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

const char *qos_option(unsigned index)
{
    static const char *const names[] = {
        "qos_max_vls",        "qos_high_limit",     "qos_vlarb_high",     "qos_vlarb_low",
        "qos_sl2vl",          "qos_ca_max_vls",     "qos_ca_high_limit",  "qos_ca_vlarb_high",
        "qos_ca_vlarb_low",   "qos_ca_sl2vl",       "qos_rtr_max_vls",    "qos_rtr_high_limit",
        "qos_rtr_vlarb_high", "qos_rtr_vlarb_low",  "qos_rtr_sl2vl",      "qos_sw0_max_vls",
        "qos_sw0_high_limit", "qos_sw0_vlarb_high", "qos_sw0_vlarb_low",  "qos_sw0_sl2vl",
        "qos_swe_max_vls",    "qos_swe_high_limit", "qos_swe_vlarb_high", "qos_swe_vlarb_low",
        "qos_swe_sl2vl",
    };
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static int set_one(struct qos_tables *tables, const char *option, char *value, struct err *err)
{
    uint64_t number = 0;
    if (strcmp(option, "sl2vl") == 0)
        return set_map(tables, value, err);
    if (strcmp(option, "vlarb_high") == 0)
        return set_list(&tables->high, value, err);
    if (strcmp(option, "vlarb_low") == 0)
        return set_list(&tables->low, value, err);
    if (strcmp(option, "max_vls") == 0) {
        if (number_of(value, QOS_DISCARD, &number))
            return err_set(err, EINVAL, "'%s': expected a number of lanes, 1 to 15", value);
        tables->max_vls = (uint8_t)number;
        return 0;
    }
    if (strcmp(option, "high_limit") != 0)
        return err_set(err, EINVAL, "there is no such option");
    if (number_of(value, QOS_UNLIMITED, &number))
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
    /* How OpenSM's own configuration file says that an option is not set. */
    if (is_absent(value) || strcmp(value, "-1") == 0 ||
        (strcmp(option, "max_vls") == 0 && strcmp(value, "0") == 0))
        return 0;
    char *copy = mem_strdup(value);
    int status = set_one(&qos->tables[class], option, copy, err);
    mem_free(copy);
    qos->given |= !status;
    return status;
}

/* ---- statements ---- */

enum { WORDS = 512 };
struct statement {
    char *words[WORDS];
    unsigned count, at;
};

static int split(struct statement *statement, char *line, struct err *err)
{
    statement->count = statement->at = 0;
    for (;;) {
        line += strspn(line, " \t\r");
        if (!*line || *line == '#')
            return 0;
        if (statement->count == WORDS)
            return err_set(err, EINVAL, "more than %d words", WORDS);
        bool quoted = *line == '"';
        char *end = quoted ? strchr(++line, '"') : line + strcspn(line, " \t\r#");
        if (!end)
            return err_set(err, EINVAL, "a quote that does not end");
        statement->words[statement->count++] = line;
        if (*end == '#') {
            *end = 0;
            return 0;
        }
        line = *end ? end + 1 : end;
        *end = 0;
    }
}

static char *next_word(struct statement *statement)
{
    return statement->at < statement->count ? statement->words[statement->at++] : NULL;
}

static int take_name(struct statement *statement, const char *what, char name[QOS_NAME],
                     struct err *err)
{
    const char *word = next_word(statement);
    if (!word || !*word)
        return err_set(err, EINVAL, "a %s needs a name", what);
    if (strlen(word) >= QOS_NAME)
        return err_set(err, EINVAL, "'%.16s…': names have up to %d letters", word, QOS_NAME - 1);
    strcpy(name, word);
    return 0;
}

static int take_number(struct statement *statement, const char *what, uint64_t lowest,
                       uint64_t highest, uint8_t *value, struct err *err)
{
    uint64_t number = 0;
    const char *word = next_word(statement);
    if (!word || number_of(word, highest, &number) || number < lowest)
        return err_set(err, EINVAL, "%s '%s': expected %llu to %llu", what, word ? word : "",
                       (unsigned long long)lowest, (unsigned long long)highest);
    *value = (uint8_t)number;
    return 0;
}

static int take_limit(struct statement *statement, uint8_t *limit, struct err *err)
{
    char *word = next_word(statement);
    uint64_t number = 0;
    size_t length = word ? strlen(word) : 0;
    bool percent = length && word[length - 1] == '%';
    if (percent)
        word[length - 1] = 0;
    if (!percent || number_of(word, 100, &number) || number < HIGHEST_GUARANTEE)
        return err_set(err, EINVAL,
                       "limit '%s%s': expected %d%% to 100%%; whatever the limit, high priority "
                       "sends every other packet",
                       word ? word : "", percent ? "%" : "", HIGHEST_GUARANTEE);
    *limit = (uint8_t)number;
    return 0;
}

static int take_level_word(struct statement *statement, const char *word, struct qos_level *level,
                           bool *has_sl, struct err *err)
{
    if (strcmp(word, "sl") == 0) {
        *has_sl = true;
        return take_number(statement, word, 0, QOS_SLS - 1, &level->sl, err);
    }
    if (strcmp(word, "weight") == 0)
        return take_number(statement, word, 1, 255, &level->weight, err);
    if (strcmp(word, "limit") == 0)
        return take_limit(statement, &level->limit, err);
    if (strcmp(word, "priority") != 0)
        return err_set(err, EINVAL, "'%s': a level has sl, priority, weight and limit", word);
    const char *priority = next_word(statement);
    level->high = priority && strcmp(priority, "high") == 0;
    if (!priority || (!level->high && strcmp(priority, "low") != 0))
        return err_set(err, EINVAL, "a priority is high or low");
    return 0;
}

static int check_level(const struct qos *qos, const struct qos_level *level, bool has_sl,
                       struct err *err)
{
    if (!has_sl)
        return err_set(err, EINVAL, "level %s has no sl", level->name);
    if (level->limit && !level->high)
        return err_set(err, EINVAL, "level %s has a limit: that is for high priority", level->name);
    if (qos->levels.count == QOS_LEVELS)
        return err_set(err, EINVAL, "more than %d levels", QOS_LEVELS);
    for (size_t i = 0; i < qos->levels.count; i++) {
        const struct qos_level *other = &qos->levels.items[i];
        if (strcmp(other->name, level->name) == 0)
            return err_set(err, EINVAL, "there is a level %s already", level->name);
        if (other->sl == level->sl)
            return err_set(err, EINVAL, "level %s has sl %u already", other->name, level->sl);
        if (other->limit && level->limit && other->limit != level->limit)
            return err_set(err, EINVAL,
                           "level %s has another limit: a port has one, for all high priority",
                           other->name);
    }
    return 0;
}

static int read_level(struct qos *qos, struct statement *statement, struct err *err)
{
    struct qos_level level = {.weight = DEFAULT_WEIGHT, .life = 0xFF};
    bool has_sl = false;
    int status = take_name(statement, "level", level.name, err);
    for (const char *word; status == 0 && (word = next_word(statement)) != NULL;)
        status = take_level_word(statement, word, &level, &has_sl, err);
    if (status == 0)
        status = check_level(qos, &level, has_sl, err);
    if (status == 0)
        vec_push(&qos->levels, level);
    return status;
}

static int add_guids(struct qos *qos, unsigned group, char *word, struct err *err)
{
    size_t before = qos->ranges.count;
    int status = qos_parse_ranges(qos, QOS_TARGET, word, err);
    for (size_t i = before; i < qos->ranges.count; i++)
        vec_push(&qos->members, ((struct qos_member){.kind = QOS_BY_GUID,
                                                     .group = (uint8_t)group,
                                                     .first = qos->ranges.items[i].first,
                                                     .last = qos->ranges.items[i].last}));
    qos->ranges.count = before;
    return status;
}

static int add_name(struct qos *qos, unsigned group, const char *word, struct err *err)
{
    struct qos_member member = {.kind = QOS_BY_NAME, .group = (uint8_t)group};
    if (strlen(word) >= sizeof member.pattern)
        return err_set(err, EINVAL, "'%.16s…': patterns have up to %d letters", word, QOS_NAME - 1);
    strcpy(member.pattern, word);
    vec_push(&qos->members, member);
    return 0;
}

static int add_type(struct qos *qos, unsigned group, const char *word, struct err *err)
{
    static const char *const types[] = {"all", "adapter", "switch", "router", "self"};
    enum { TYPES = sizeof types / sizeof *types, SELF = TYPES - 1 };
    struct qos_member member = {.kind = QOS_BY_TYPE, .group = (uint8_t)group};
    while (member.type < TYPES && strcmp(types[member.type], word) != 0)
        member.type++;
    if (member.type == TYPES)
        return err_set(err, EINVAL, "type '%s': expected all, adapter, switch, router or self",
                       word);
    if (member.type == SELF)
        member.kind = QOS_BY_SELF;
    vec_push(&qos->members, member);
    return 0;
}

static int read_group(struct qos *qos, struct statement *statement, struct err *err)
{
    enum { NOTHING, GUID, NAME, TYPE } what = NOTHING;
    struct qos_group group;
    unsigned number = (unsigned)qos->groups.count;
    int status = take_name(statement, "group", group.name, err);
    if (status == 0 && qos_find_group(qos, group.name) >= 0)
        return err_set(err, EINVAL, "there is a group %s already", group.name);
    if (status == 0 && number == QOS_GROUPS)
        return err_set(err, EINVAL, "more than %d groups", QOS_GROUPS);
    for (char *word; status == 0 && (word = next_word(statement)) != NULL;) {
        if (strcmp(word, "guid") == 0)
            what = GUID;
        else if (strcmp(word, "name") == 0)
            what = NAME;
        else if (strcmp(word, "type") == 0)
            what = TYPE;
        else if (what == GUID)
            status = add_guids(qos, number, word, err);
        else if (what == NAME)
            status = add_name(qos, number, word, err);
        else if (what == TYPE)
            status = add_type(qos, number, word, err);
        else
            status = err_set(err, EINVAL, "'%s': a group has guid, name and type", word);
    }
    if (status == 0)
        vec_push(&qos->groups, group);
    return status;
}

static int take_group(struct qos *qos, struct statement *statement, const char *what,
                      uint64_t *groups, struct err *err)
{
    const char *name = next_word(statement);
    int group = name ? qos_find_group(qos, name) : -1;
    if (group < 0)
        return err_set(err, EINVAL, "%s '%s': there is no such group above", what,
                       name ? name : "");
    *groups |= UINT64_C(1) << group;
    return 0;
}

static int take_condition(struct qos *qos, struct statement *statement, const char *word,
                          struct qos_rule *rule, struct err *err)
{
    static const char *const subjects[] = {
        [QOS_SERVICE] = "service", [QOS_PARTITION] = "pkey", [QOS_REQUEST_CLASS] = "class"};
    for (unsigned i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(word, subjects[i]) == 0) {
            char *ranges = next_word(statement);
            return ranges ? qos_parse_ranges(qos, (enum qos_subject)i, ranges, err)
                          : err_set(err, EINVAL, "%s needs a number", word);
        }
    if (strcmp(word, "from") == 0)
        return take_group(qos, statement, word, &rule->sources, err);
    if (strcmp(word, "to") == 0)
        return take_group(qos, statement, word, &rule->destinations, err);
    if (strcmp(word, "with") == 0)
        return take_group(qos, statement, word, &rule->either, err);
    if (strcmp(word, "level") != 0)
        return err_set(err, EINVAL,
                       "'%s': a match has pkey, service, class, from, to, with, and level", word);
    const char *name = next_word(statement);
    rule->level = name ? qos_find_level(qos, name) : QOS_NO_LEVEL;
    return rule->level == QOS_NO_LEVEL
               ? err_set(err, EINVAL, "there is no level '%s' above", name ? name : "")
               : 0;
}

static int read_match(struct qos *qos, struct statement *statement, struct err *err)
{
    struct qos_rule rule = {.first_range = (uint32_t)qos->ranges.count, .level = QOS_NO_LEVEL};
    int status = 0;
    for (const char *word; status == 0 && (word = next_word(statement)) != NULL;)
        status = take_condition(qos, statement, word, &rule, err);
    if (status == 0 && rule.level == QOS_NO_LEVEL)
        return err_set(err, EINVAL, "a match needs a level");
    if (status == 0 && qos->rules.count == QOS_RULES)
        return err_set(err, ENOSPC, "more than %d matches", QOS_RULES);
    rule.range_count = (uint32_t)qos->ranges.count - rule.first_range;
    if (status == 0)
        vec_push(&qos->rules, rule);
    return status;
}

static int read_statement(struct qos *qos, char *line, struct err *err)
{
    struct statement statement;
    int status = split(&statement, line, err);
    const char *word = status ? NULL : next_word(&statement);
    if (!word)
        return status;
    if (strcmp(word, "level") == 0)
        return read_level(qos, &statement, err);
    if (strcmp(word, "group") == 0)
        return read_group(qos, &statement, err);
    if (strcmp(word, "match") == 0)
        return read_match(qos, &statement, err);
    return err_set(err, EINVAL, "'%s': expected level, group or match", word);
}

/* ---- a whole policy ---- */

/* Low priority first: where a link has too few lanes, neighbours share one. The rules name levels
 * by their place. */
static void sort_levels(struct qos *qos)
{
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

static int parse_own(struct qos *qos, const char *name, char *text, struct err *err)
{
    int status = 0;
    for (unsigned number = 1; status == 0 && *text; number++) {
        struct err reason;
        char *end = strchrnul(text, '\n');
        char *next = *end ? end + 1 : end;
        *end = 0;
        status = read_statement(qos, text, &reason);
        if (status)
            err_at(err, -status, name, number, "%s", reason.message);
        text = next;
    }
    if (status)
        return status;
    if (!qos->levels.count)
        return err_at(err, EINVAL, name, 0, "a policy without levels");
    struct err reason;
    status = add_fallback(qos, &reason);
    if (status)
        return err_at(err, -status, name, 0, "%s", reason.message);
    sort_levels(qos);
    qos->levels_first = true;
    return 0;
}

static bool is_opensm(const char *text)
{
    static const char *const sections[] = {"port-groups", "qos-setup", "qos-levels",
                                           "qos-match-rules", "qos-ulps"};
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            break;
        text += strcspn(text, "\n");
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strncmp(text, sections[i], strlen(sections[i])) == 0)
            return true;
    return false;
}

int qos_parse(struct qos *qos, const char *name, char *text, struct err *err)
{
    struct qos fresh;
    qos_init(&fresh);
    memcpy(fresh.tables, qos->tables, sizeof fresh.tables);
    fresh.on = qos->on;
    int status = is_opensm(text) ? qos_parse_opensm(&fresh, name, text, err)
                                 : parse_own(&fresh, name, text, err);
    fresh.given = true;
    if (status) {
        qos_release(&fresh);
        return status;
    }
    qos_release(qos);
    *qos = fresh;
    return 0;
}

int qos_read(struct qos *qos, const char *path, struct err *err)
{
    struct text text;
    int status = file_read(path, FILE_LIMIT, &text, err);
    if (!status)
        status = qos_parse(qos, path, text.data, err);
    text_release(&text);
    return status;
}

int qos_finish(struct qos *qos, struct err *err)
{
    bool tables = false;
    for (unsigned i = 0; i < QOS_CLASSES; i++)
        tables |= qos->tables[i].has_map || qos->tables[i].high.count || qos->tables[i].low.count ||
                  qos->tables[i].high_limit >= 0;
    if (tables && qos->levels_first)
        return err_set(err, EINVAL,
                       "the policy's levels and qos_ tables say the same thing twice: leave "
                       "one out");
    return 0;
}
