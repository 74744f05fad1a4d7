/* Reads a `check`: one of the named checks with its operands, or a figure of the results, a
 * comparison and a value with a unit. The same module compares a measured value with the stated
 * one; measuring it is left to check_eval.c and the checks of the fabric to checks.h. */
#include "experiment/scenario/check_parse.h"

#include "console/names.h"
#include "wire/mad.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    enum check_statement_kind kind;
    enum check_kind fabric;
} questions[] = {
    {"discovered", CHECK_STATEMENT_FABRIC, CHECK_DISCOVERED},
    {"lids-unique", CHECK_STATEMENT_FABRIC, CHECK_LIDS_UNIQUE},
    {"reachable", CHECK_STATEMENT_FABRIC, CHECK_REACHABLE},
    {"deadlock-free", CHECK_STATEMENT_FABRIC, CHECK_DEADLOCK_FREE},
    {"active", CHECK_STATEMENT_FABRIC, CHECK_ACTIVE},
    {"settled", CHECK_STATEMENT_FABRIC, CHECK_SETTLED},
    {"one-master", CHECK_STATEMENT_FABRIC, CHECK_ONE_MASTER},
    {"in-order", CHECK_STATEMENT_IN_ORDER, 0},
    {"master", CHECK_STATEMENT_MASTER, 0},
    {"lid", CHECK_STATEMENT_LID, 0},
    {"smps", CHECK_STATEMENT_SMPS, 0},
    {"time-to-settle", CHECK_STATEMENT_TIME, 0},
    {"event", CHECK_STATEMENT_EVENT, 0},
    {"no-event", CHECK_STATEMENT_NO_EVENT, 0},
    {"conserved", CHECK_STATEMENT_CONSERVED, 0},
    {"deadlock", CHECK_STATEMENT_DEADLOCK, 0},
    {"no-deadlock", CHECK_STATEMENT_NO_DEADLOCK, 0},
    {"no-loss-of", CHECK_STATEMENT_UNAFFECTED, 0},
    {"machines", CHECK_STATEMENT_MACHINES, 0},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static const char *const signs[] = {"<=", "==", ">=", "="};
enum { SIGNS = sizeof signs / sizeof signs[0] };

static void read_comparison(struct check_statement *check, struct cursor *cursor)
{
    unsigned sign;
    cursor_take_choice(cursor, "comparison", signs, SIGNS, &sign);
    check->comparison = sign == SIGNS - 1 ? COMPARE_EQUAL : (enum comparison)sign;
}

/* all, Get, Set, PortInfo, Set(PortInfo) */
static int read_what(struct check_statement *check, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "SMPs such as all, Set, PortInfo or Set(PortInfo)", &word);
    const char *rest = word.text;
    if (strcmp(rest, "all") == 0)
        return cursor->status;
    if (strncmp(rest, "Get", 3) == 0 && (rest[3] == 0 || rest[3] == '('))
        check->method = METHOD_GET;
    else if (strncmp(rest, "Set", 3) == 0 && (rest[3] == 0 || rest[3] == '('))
        check->method = METHOD_SET;
    else
        return read_attribute(cursor, &word, rest, &check->attribute);
    rest += 3;
    if (*rest == 0)
        return 0;
    size_t length = strlen(rest);
    if (length < 3 || rest[length - 1] != ')')
        return word_error(cursor, &word, "'%.80s': expected a form such as Set(PortInfo)",
                          word.text);
    const char *name = arena_strndup(cursor->arena, rest + 1, length - 2);
    return read_attribute(cursor, &word, name, &check->attribute);
}

/* Suffixes of numbers: the unit of results, and the factor to it. */
static const struct {
    const char *suffix, *unit;
    double factor;
} units[] = {
    {"", "", 1},
    {"k", "", 1e3},
    {"M", "", 1e6},
    {"G", "", 1e9},
    {"%", "share", 0.01},
    {"ps", "s", 1e-12},
    {"ns", "s", 1e-9},
    {"us", "s", 1e-6},
    {"ms", "s", 1e-3},
    {"s", "s", 1},
    {"b/s", "bits/s", 1},
    {"kb/s", "bits/s", 1e3},
    {"Mb/s", "bits/s", 1e6},
    {"Gb/s", "bits/s", 1e9},
};
enum { UNITS = sizeof units / sizeof units[0] };

static void read_value(struct check_statement *check, struct cursor *cursor)
{
    struct word word;
    const char *rest;
    cursor_take(cursor, "a number such as 1000, 2.5us, 99% or 2Gb/s", &word);
    if (parse_decimal(word.text, &check->number, &rest))
        for (unsigned i = 0; i < UNITS; i++)
            if (strcmp(units[i].suffix, rest) == 0) {
                check->number *= units[i].factor;
                check->unit = units[i].unit;
                return;
            }
    word_error(cursor, &word, "'%.80s': expected a number such as 1000, 2.5us, 99%% or 2Gb/s",
               word.text);
}

/* Short names of figures. */
static const char *full_figure_name(const char *figure)
{
    static const struct {
        const char *short_name, *name;
    } names[] = {{"latency", "latency.mean"},
                 {"network-latency", "network-latency.mean"},
                 {"throughput", "accepted"}};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].short_name, figure) == 0)
            return names[i].name;
    return figure;
}

/* A name that is followed by a comparison and is not a check is a figure. */
static bool is_figure(struct cursor *cursor)
{
    if (cursor->count < cursor->at + 2)
        return false;
    for (unsigned i = 0; i < QUESTIONS; i++)
        if (strcmp(questions[i].name, cursor->words[cursor->at].text) == 0)
            return false;
    for (unsigned i = 0; i < SIGNS; i++)
        if (strcmp(signs[i], cursor->words[cursor->at + 1].text) == 0)
            return true;
    return false;
}

static void read_details(struct check_statement *check, struct cursor *cursor)
{
    static const char *const groups[] = {"unaffected", "others"};
    struct word word;
    unsigned group;
    switch (check->kind) {
    case CHECK_STATEMENT_MASTER: cursor_take(cursor, "a node", &check->node_word); break;
    case CHECK_STATEMENT_LID:
    case CHECK_STATEMENT_SMPS:
        if (check->kind == CHECK_STATEMENT_LID)
            cursor_take(cursor, "a node", &check->node_word);
        else
            read_what(check, cursor);
        read_comparison(check, cursor);
        cursor_take_number(cursor, "a number", 0, UINT64_MAX, &check->value);
        break;
    case CHECK_STATEMENT_TIME:
        read_comparison(check, cursor);
        cursor_take_time(cursor, &check->value);
        break;
    case CHECK_STATEMENT_EVENT:
    case CHECK_STATEMENT_NO_EVENT:
        cursor_take(cursor, "a part of an event's text, in quotes", &word);
        check->text = word.text;
        break;
    case CHECK_STATEMENT_UNAFFECTED:
        cursor_take_choice(cursor, "group", groups, 2, &group);
        check->kind = group ? CHECK_STATEMENT_OTHERS : CHECK_STATEMENT_UNAFFECTED;
        break;
    default: break;
    }
}

void check_statement_read(struct check_statement *check, struct cursor *cursor)
{
    const char *names[QUESTIONS];
    struct word word;
    unsigned index;
    *check = (struct check_statement){.kind = CHECK_STATEMENT_FIGURE, .node = TOPOLOGY_NONE};
    if (is_figure(cursor)) {
        cursor_take(cursor, "a figure", &word);
        check->text = full_figure_name(word.text);
        read_comparison(check, cursor);
        read_value(check, cursor);
        return;
    }
    for (unsigned i = 0; i < QUESTIONS; i++)
        names[i] = questions[i].name;
    cursor_take_choice(cursor, "check", names, QUESTIONS, &index);
    check->kind = questions[index].kind;
    check->fabric = questions[index].fabric;
    read_details(check, cursor);
}

bool check_statement_compare(const struct check_statement *check, uint64_t measured)
{
    switch (check->comparison) {
    case COMPARE_AT_MOST: return measured <= check->value;
    case COMPARE_EQUAL: return measured == check->value;
    case COMPARE_AT_LEAST: return measured >= check->value;
    }
    return false;
}

bool check_statement_compare_figure(const struct check_statement *check, double measured)
{
    double slack = fabs(check->number) * 1e-9;
    if (isnan(measured))
        return false;
    switch (check->comparison) {
    case COMPARE_AT_MOST: return measured <= check->number + slack;
    case COMPARE_EQUAL: return fabs(measured - check->number) <= slack;
    case COMPARE_AT_LEAST: return measured >= check->number - slack;
    }
    return false;
}
