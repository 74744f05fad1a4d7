#include "experiment/question.h"

#include "experiment/action.h"

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
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

static int read_comparison(struct question *question, struct cursor *cursor)
{
    static const char *const signs[] = {"<=", "==", ">="};
    unsigned sign = 0;
    int status = cursor_take_choice(cursor, "comparison", signs, 3, &sign);
    question->comparison = (enum comparison)sign;
    return status;
}

/* all, Get, Set, PortInfo, Set(PortInfo) */
static int read_what(struct question *question, struct cursor *cursor, struct arena *arena)
{
    struct word word;
    int status = cursor_take(cursor, "SMPs such as all, Set, PortInfo or Set(PortInfo)", &word);
    if (status || strcmp(word.text, "all") == 0)
        return status;
    const char *rest = word.text;
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
    const char *name = arena_strndup(arena, rest + 1, length - 2);
    return read_attribute(cursor, &word, name, &question->attribute);
}

static int read_smps(struct question *question, struct cursor *cursor, struct arena *arena)
{
    int status = read_what(question, cursor, arena);
    if (status == 0)
        status = read_comparison(question, cursor);
    if (status == 0)
        status = cursor_take_number(cursor, "a number", 0, UINT64_MAX, &question->value);
    return status;
}

int question_read(struct question *question, struct cursor *cursor, struct arena *arena)
{
    const char *names[QUESTIONS];
    struct word word;
    unsigned index = 0;
    for (unsigned i = 0; i < QUESTIONS; i++)
        names[i] = questions[i].name;
    int status = cursor_take_choice(cursor, "check", names, QUESTIONS, &index);
    if (status)
        return status;
    *question = (struct question){
        .kind = questions[index].kind, .check = questions[index].check, .node = TOPOLOGY_NONE};
    switch (question->kind) {
    case QUESTION_FABRIC:
    case QUESTION_IN_ORDER: break;
    case QUESTION_MASTER: status = cursor_take(cursor, "a node", &question->node_word); break;
    case QUESTION_SMPS: status = read_smps(question, cursor, arena); break;
    case QUESTION_TIME:
        status = read_comparison(question, cursor);
        if (status == 0)
            status = cursor_take_time(cursor, &question->value);
        break;
    case QUESTION_EVENT:
    case QUESTION_NO_EVENT:
        status = cursor_take(cursor, "a part of an event's text, in quotes", &word);
        question->text = word.text;
        break;
    }
    return status ? status : cursor_take_end(cursor);
}

int question_bind(struct question *question, const struct topology *topology,
                  const struct cursor *cursor)
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
