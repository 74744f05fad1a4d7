#include "experiment/scenario/question.h"

#include "experiment/scenario/names.h"
#include "wire/mad.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    enum question_kind kind;
    enum check_kind check;
} questions[] = {
    {"discovered", QUESTION_FABRIC, CHECK_DISCOVERED},
    {"lids-unique", QUESTION_FABRIC, CHECK_LIDS_UNIQUE},
    {"reachable", QUESTION_FABRIC, CHECK_REACHABLE},
    {"deadlock-free", QUESTION_FABRIC, CHECK_DEADLOCK_FREE},
    {"active", QUESTION_FABRIC, CHECK_ACTIVE},
    {"settled", QUESTION_FABRIC, CHECK_SETTLED},
    {"one-master", QUESTION_FABRIC, CHECK_ONE_MASTER},
    {"in-order", QUESTION_IN_ORDER, 0},
    {"master", QUESTION_MASTER, 0},
    {"smps", QUESTION_SMPS, 0},
    {"time-to-settle", QUESTION_TIME, 0},
    {"event", QUESTION_EVENT, 0},
    {"no-event", QUESTION_NO_EVENT, 0},
    {"conserved", QUESTION_CONSERVED, 0},
    {"deadlock", QUESTION_DEADLOCK, 0},
    {"no-deadlock", QUESTION_NO_DEADLOCK, 0},
    {"no-loss-of", QUESTION_UNAFFECTED, 0},
    {"machines", QUESTION_MACHINES, 0},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static const char *const signs[] = {"<=", "==", ">=", "="};
enum { SIGNS = sizeof signs / sizeof signs[0] };

static int read_comparison(struct question *question, struct cursor *cursor)
{
    unsigned sign;
    int status = cursor_take_choice(cursor, "comparison", signs, SIGNS, &sign);
    question->comparison = sign == SIGNS - 1 ? COMPARE_EQUAL : (enum comparison)sign;
    return status;
}

/* all, Get, Set, PortInfo, Set(PortInfo) */
static int read_what(struct question *question, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "SMPs such as all, Set, PortInfo or Set(PortInfo)", &word);
    const char *rest = word.text;
    if (strcmp(rest, "all") == 0)
        return cursor->status;
    if (strncmp(rest, "Get", 3) == 0 && (rest[3] == 0 || rest[3] == '('))
        question->method = METHOD_GET;
    else if (strncmp(rest, "Set", 3) == 0 && (rest[3] == 0 || rest[3] == '('))
        question->method = METHOD_SET;
    else
        return read_attribute(cursor, &word, rest, &question->attribute);
    rest += 3;
    if (*rest == 0)
        return 0;
    size_t length = strlen(rest);
    if (length < 3 || rest[length - 1] != ')')
        return word_error(cursor, &word, "'%.80s': expected a form such as Set(PortInfo)",
                          word.text);
    const char *name = arena_strndup(cursor->arena, rest + 1, length - 2);
    return read_attribute(cursor, &word, name, &question->attribute);
}

/* A number with a unit: as results have it, and how many of those it is. */
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

static int read_value(struct question *question, struct cursor *cursor)
{
    struct word word;
    const char *rest;
    cursor_take(cursor, "a number such as 1000, 2.5us, 99% or 2Gb/s", &word);
    if (parse_decimal(word.text, &question->number, &rest))
        for (unsigned i = 0; i < UNITS; i++)
            if (strcmp(units[i].suffix, rest) == 0) {
                question->number *= units[i].factor;
                question->unit = units[i].unit;
                return 0;
            }
    return word_error(cursor, &word,
                      "'%.80s': expected a number such as 1000, 2.5us, 99%% or 2Gb/s", word.text);
}

/* Names that people say without thinking. */
static const char *full_name(const char *figure)
{
    static const struct {
        const char *said, *meant;
    } names[] = {{"latency", "latency.mean"},
                 {"network-latency", "network-latency.mean"},
                 {"throughput", "accepted"}};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].said, figure) == 0)
            return names[i].meant;
    return figure;
}

/* What is compared and is no check of its own is a figure. */
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

static int read_figure(struct question *question, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "a figure", &word);
    *question = (struct question){
        .kind = QUESTION_FIGURE, .node = TOPOLOGY_NONE, .text = full_name(word.text)};
    read_comparison(question, cursor);
    read_value(question, cursor);
    return cursor_take_end(cursor);
}

static void read_details(struct question *question, struct cursor *cursor)
{
    static const char *const groups[] = {"unaffected", "others"};
    struct word word;
    unsigned group;
    switch (question->kind) {
    case QUESTION_MASTER: cursor_take(cursor, "a node", &question->node_word); break;
    case QUESTION_SMPS:
        read_what(question, cursor);
        read_comparison(question, cursor);
        cursor_take_number(cursor, "a number", 0, UINT64_MAX, &question->value);
        break;
    case QUESTION_TIME:
        read_comparison(question, cursor);
        cursor_take_time(cursor, &question->value);
        break;
    case QUESTION_EVENT:
    case QUESTION_NO_EVENT:
        cursor_take(cursor, "a part of an event's text, in quotes", &word);
        question->text = word.text;
        break;
    case QUESTION_UNAFFECTED:
        cursor_take_choice(cursor, "group", groups, 2, &group);
        question->kind = group ? QUESTION_OTHERS : QUESTION_UNAFFECTED;
        break;
    default: break;
    }
}

int question_read(struct question *question, struct cursor *cursor)
{
    const char *names[QUESTIONS];
    unsigned index;
    if (is_figure(cursor))
        return read_figure(question, cursor);
    for (unsigned i = 0; i < QUESTIONS; i++)
        names[i] = questions[i].name;
    cursor_take_choice(cursor, "check", names, QUESTIONS, &index);
    *question = (struct question){
        .kind = questions[index].kind, .check = questions[index].check, .node = TOPOLOGY_NONE};
    read_details(question, cursor);
    return cursor_take_end(cursor);
}

int question_bind(struct question *question, const struct topology *topology, struct cursor *cursor)
{
    if (!question->node_word.text)
        return 0;
    return bind_node(&question->node_word, topology, cursor, &question->node);
}

bool question_compare(const struct question *question, uint64_t measured)
{
    switch (question->comparison) {
    case COMPARE_AT_MOST: return measured <= question->value;
    case COMPARE_EQUAL: return measured == question->value;
    case COMPARE_AT_LEAST: return measured >= question->value;
    }
    return false;
}

bool question_compare_figure(const struct question *question, double measured)
{
    double slack = fabs(question->number) * 1e-9;
    if (isnan(measured))
        return false;
    switch (question->comparison) {
    case COMPARE_AT_MOST: return measured <= question->number + slack;
    case COMPARE_EQUAL: return fabs(measured - question->number) <= slack;
    case COMPARE_AT_LEAST: return measured >= question->number - slack;
    }
    return false;
}
