/* Reads the measures of claims: a parser by precedence of operators. Every error names the place.
 *
 *   measure lost[switch=3] / max(1, lost[switch=4]) if $switches >= 16 explain "{lost} packets"
 */
#include "reproduce/measure.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_DEPTH = 60, MOST_DIGITS = 9 };

/* What a term yields; a list can only be shown. */
enum yield { A_NUMBER, A_RANGE, A_LIST };

struct reader {
    struct recipe *recipe;
    struct cursor *cursor;
    struct word start; /* of the text */
    const char *at;    /* what is not read yet */
    struct word place; /* where that is: here() */
    unsigned depth;
};

static const struct {
    const char *name;
    unsigned strength; /* of two operators, the stronger one goes first */
} operators[] = {
    [OPERATION_ELSE] = {"else", 1},   [OPERATION_IF] = {"if", 2},      [OPERATION_AND] = {"and", 3},
    [OPERATION_LESS] = {"<", 4},      [OPERATION_AT_MOST] = {"<=", 4}, [OPERATION_MORE] = {">", 4},
    [OPERATION_AT_LEAST] = {">=", 4}, [OPERATION_EQUAL] = {"=", 4},    [OPERATION_PLUS] = {"+", 5},
    [OPERATION_MINUS] = {"-", 5},     [OPERATION_TIMES] = {"*", 6},    [OPERATION_OVER] = {"/", 6},
    [OPERATION_POWER] = {"^", 7},
};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

static const struct {
    const char *name;
    unsigned least, most; /* operands */
    enum yield yield;
} functions[CALLS] = {
    [CALL_LOW] = {"low", 1, 1, A_NUMBER},
    [CALL_HIGH] = {"high", 1, 1, A_NUMBER},
    [CALL_MIN] = {"min", 2, 2, A_NUMBER},
    [CALL_MAX] = {"max", 2, 2, A_NUMBER},
    [CALL_ABS] = {"abs", 1, 1, A_NUMBER},
    [CALL_FLOOR] = {"floor", 1, 1, A_NUMBER},
    [CALL_RATIO] = {"ratio", 2, 2, A_NUMBER},
    [CALL_POINTS] = {"points", 1, 3, A_NUMBER},
    [CALL_GROUPS] = {"groups", 3, 3, A_NUMBER},
    [CALL_BEGIN] = {"begin", 1, 1, A_NUMBER},
    [CALL_END] = {"end", 1, 1, A_NUMBER},
    [CALL_FINAL] = {"final", 1, 1, A_NUMBER},
    [CALL_ONSET] = {"onset", 1, 1, A_NUMBER},
    [CALL_ALL] = {"all", 1, OPERANDS, A_RANGE},
    [CALL_RANGE] = {"range", 1, 1, A_RANGE},
    [CALL_STEPS] = {"steps", 1, 1, A_RANGE},
    [CALL_LEAST] = {"least", 1, 1, A_NUMBER},
    [CALL_MOST] = {"most", 1, 1, A_NUMBER},
    [CALL_MEAN] = {"mean", 1, 1, A_NUMBER},
    [CALL_SHARE] = {"share", 1, 1, A_NUMBER},
    [CALL_SUM] = {"sum", 1, 1, A_NUMBER},
    [CALL_COUNT] = {"count", 1, 1, A_NUMBER},
    [CALL_FIRST] = {"first", 1, 1, A_NUMBER},
    [CALL_LAST] = {"last", 1, 1, A_NUMBER},
    [CALL_RISES] = {"rises", 1, 1, A_NUMBER},
    [CALL_POWER] = {"power", 1, 1, A_NUMBER},
    [CALL_FIT] = {"fit", 1, 1, A_NUMBER},
    [CALL_POWER_LAW] = {"power-law", 1, 1, A_NUMBER},
    [CALL_GEOMETRIC] = {"geometric", 1, 1, A_NUMBER},
    [CALL_RANK] = {"rank", 1, 1, A_NUMBER},
    [CALL_LINE] = {"line", 2, 2, A_NUMBER},
    [CALL_LIST] = {"list", 1, 1, A_LIST},
};

/* ---- words ---- */

static const struct word *here(struct reader *reader)
{
    reader->place = reader->start;
    reader->place.column += (unsigned)(reader->at - reader->start.text);
    return &reader->place;
}

static bool failed(const struct reader *reader)
{
    return reader->cursor->status != 0;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    if (isalpha((unsigned char)*text))
        while (isalnum((unsigned char)text[length]) ||
               (text[length] && strchr("._-", text[length])))
            length++;
    return length;
}

static const char *take_text(struct reader *reader, size_t length)
{
    const char *text = arena_strndup(&reader->recipe->arena, reader->at, length);
    reader->at += length;
    return text;
}

static bool accept(struct reader *reader, char character)
{
    skip_blanks(reader);
    if (*reader->at != character)
        return false;
    reader->at++;
    return true;
}

static void expect(struct reader *reader, char character, const char *what)
{
    if (!failed(reader) && !accept(reader, character))
        word_error(reader->cursor, here(reader), "expected '%c' %s, not '%.20s'", character, what,
                   *reader->at ? reader->at : "the end");
}

/* ---- terms ---- */

static const struct term *read_term(struct reader *reader, unsigned strength);

static struct term *new_term(struct reader *reader, enum term_kind kind, const struct term *of)
{
    struct term *term = arena_alloc(&reader->recipe->arena, sizeof *term);
    term->kind = kind;
    term->of[0] = of;
    return term;
}

static enum yield yield_of(const struct term *term)
{
    if (term->kind == TERM_CALL)
        return functions[term->call].yield;
    if (term->kind == TERM_WHERE ||
        (term->kind == TERM_OPERATION && term->operation <= OPERATION_IF))
        return yield_of(term->of[0]);
    return A_NUMBER;
}

/* A term whose value is one number. */
static const struct term *read_number(struct reader *reader, unsigned strength)
{
    skip_blanks(reader);
    struct word place = *here(reader);
    const struct term *term = read_term(reader, strength);
    if (!failed(reader) && yield_of(term) != A_NUMBER)
        word_error(reader->cursor, &place,
                   "expected a number: low(...) and high(...) are the ends of a range");
    return term;
}

static const struct recipe_table *find_table(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->recipe->tables.count; i++)
        if (strcmp(reader->recipe->tables.items[i].name, name) == 0)
            return &reader->recipe->tables.items[i];
    return NULL;
}

/* NAME=VALUE,... up to a blank or one of `ends`. Of a loop, NAME alone is enough. */
static struct condition read_condition(struct reader *reader, const char *ends, bool loop)
{
    struct condition condition = {0};
    struct word place = *here(reader);
    const char *text = take_text(reader, strcspn(reader->at, ends));
    if (loop && name_length(text) == strlen(text) && *text)
        condition.name = text;
    else if (!condition_read(&condition, text, &reader->recipe->arena))
        word_error(reader->cursor, &place, "'%.60s': expected NAME%s", text,
                   loop ? " or NAME=VALUE,..." : "=VALUE");
    return condition;
}

/* TERM[NAME=VALUE ...], which may be repeated. */
static const struct term *read_conditions(struct reader *reader, const struct term *term)
{
    while (!failed(reader) && *reader->at == '[') {
        if (yield_of(term) == A_LIST)
            word_error(reader->cursor, here(reader), "conditions belong inside list(...)");
        reader->at++;
        do {
            struct term *where = new_term(reader, TERM_WHERE, term);
            skip_blanks(reader);
            struct word place = *here(reader);
            where->condition = read_condition(reader, " \t]", false);
            term = where;
            if (failed(reader) || where->condition.values[0][0] != '$')
                continue;
            where->table = find_table(reader, where->condition.values[0] + 1);
            where->condition.count = 1;
            if (!where->table)
                word_error(reader->cursor, &place, "there is no table '%.60s' above",
                           where->condition.values[0] + 1);
        } while (!failed(reader) && !accept(reader, ']') && *reader->at);
        if (reader->at[-1] != ']')
            expect(reader, ']', "after conditions");
    }
    return term;
}

/* ---- functions ---- */

static const struct term *read_operand(struct reader *reader, enum call call)
{
    return call == CALL_LOW || call == CALL_HIGH || call == CALL_ALL ? read_term(reader, 0)
                                                                     : read_number(reader, 0);
}

/* "switches engine=fera,pira:" and what follows. */
static const struct term *read_loop(struct reader *reader, enum call call)
{
    struct term *loop = new_term(reader, TERM_LOOP, NULL);
    skip_blanks(reader);
    loop->condition = read_condition(reader, " \t:", true);
    if (!failed(reader))
        loop->of[0] = accept(reader, ':') ? read_operand(reader, call) : read_loop(reader, call);
    return loop;
}

static bool has_loop(const struct reader *reader)
{
    return reader->at[strcspn(reader->at, ":()[]{}")] == ':';
}

static const struct term *read_call(struct reader *reader, enum call which)
{
    struct term *call = new_term(reader, TERM_CALL, NULL);
    struct word place = *here(reader);
    unsigned count = 0;
    bool loop = which >= CALL_ALL && has_loop(reader);
    call->call = which;
    if (which > CALL_ALL && !loop)
        word_error(reader->cursor, &place, "%s(...) needs a loop, as in %s(networks: lost)",
                   functions[which].name, functions[which].name);
    do {
        if (count == OPERANDS)
            word_error(reader->cursor, here(reader), "too many operands");
        else if (loop && count == 0)
            call->of[count++] = read_loop(reader, which);
        else
            call->of[count++] = read_operand(reader, which);
    } while (!failed(reader) && accept(reader, ','));
    expect(reader, ')', "after operands");
    if (!failed(reader) && (count < functions[which].least || count > functions[which].most))
        word_error(reader->cursor, &place, "%s(...) takes %u operands, not %u",
                   functions[which].name, functions[which].least, count);
    if (!failed(reader) && which >= CALL_POINTS && which <= CALL_ONSET &&
        call->of[0]->kind != TERM_FIGURE)
        word_error(reader->cursor, &place, "%s(...) begins with the name of a series",
                   functions[which].name);
    return call;
}

/* A function, a definition, or a figure. */
static const struct term *read_name(struct reader *reader)
{
    struct word place = *here(reader);
    const char *name = take_text(reader, name_length(reader->at));
    if (*reader->at == '(') {
        reader->at++;
        for (unsigned i = 0; i < CALLS; i++)
            if (strcmp(functions[i].name, name) == 0)
                return read_call(reader, (enum call)i);
        const char *names[CALLS];
        for (unsigned i = 0; i < CALLS; i++)
            names[i] = functions[i].name;
        place.text = name;
        word_unknown(reader->cursor, &place, "function", names, CALLS);
    }
    for (size_t i = 0; i < reader->recipe->definitions.count; i++)
        if (strcmp(reader->recipe->definitions.items[i].name, name) == 0)
            return reader->recipe->definitions.items[i].term;
    struct term *figure = new_term(reader, TERM_FIGURE, NULL);
    figure->name = name;
    return figure;
}

static const struct term *read_primary(struct reader *reader)
{
    struct term *term = new_term(reader, TERM_NUMBER, NULL);
    skip_blanks(reader);
    if (isdigit((unsigned char)*reader->at)) {
        char *end;
        term->number = strtod(reader->at, &end);
        reader->at = end;
        return term;
    }
    if (accept(reader, '(')) {
        const struct term *inner = read_term(reader, 0);
        expect(reader, ')', "after a term");
        return inner;
    }
    if (*reader->at == '$' && name_length(reader->at + 1)) {
        reader->at++;
        term->kind = TERM_PARAMETER;
        term->name = take_text(reader, name_length(reader->at));
        term->table = find_table(reader, term->name);
        return term;
    }
    if (name_length(reader->at))
        return read_name(reader);
    word_error(reader->cursor, here(reader),
               "expected a figure, a number or a function, not '%.20s'",
               *reader->at ? reader->at : "the end");
    return term;
}

/* The operator that follows, of at least this strength; or OPERATORS. Blanks are around a minus,
 * since names may contain it. */
static unsigned next_operator(struct reader *reader, unsigned strength)
{
    unsigned found = OPERATORS;
    skip_blanks(reader);
    size_t length = name_length(reader->at);
    if (length == 0)
        length = 1 + (*reader->at && reader->at[1] == '=');
    for (unsigned i = 0; i < OPERATORS; i++)
        if (strlen(operators[i].name) == length && operators[i].strength >= strength &&
            strncmp(operators[i].name, reader->at, length) == 0)
            found = i;
    reader->at += found < OPERATORS ? length : 0;
    return found;
}

static const struct term *read_term(struct reader *reader, unsigned strength)
{
    unsigned which;
    if (++reader->depth > MOST_DEPTH)
        word_error(reader->cursor, here(reader), "more than %d terms inside each other",
                   MOST_DEPTH);
    const struct term *term = failed(reader) ? NULL : read_primary(reader);
    term = failed(reader) ? term : read_conditions(reader, term);
    while (!failed(reader) && (which = next_operator(reader, strength)) < OPERATORS) {
        struct term *operation = new_term(reader, TERM_OPERATION, term);
        operation->operation = (enum operation)which;
        operation->of[1] = which == OPERATION_ELSE
                               ? read_term(reader, operators[which].strength + 1)
                               : read_number(reader, operators[which].strength + 1);
        if (!failed(reader) && which > OPERATION_IF && yield_of(term) != A_NUMBER)
            word_error(reader->cursor, here(reader),
                       "'%s' after a range: take low(...) or high(...) of it",
                       operators[which].name);
        term = operation;
    }
    reader->depth--;
    return term;
}

/* ---- statements ---- */

/* The words up to `end` or the end of the line, with single blanks between them. */
static struct reader read_from(struct recipe *recipe, struct cursor *cursor, const char *end)
{
    struct reader reader = {.recipe = recipe, .cursor = cursor, .start = cursor_next(cursor)};
    struct text text = {0};
    struct word word;
    while (!cursor_is_done(cursor) && strcmp(cursor_next(cursor).text, end) != 0 &&
           cursor_take(cursor, "a term", &word) == 0)
        text_printf(&text, "%s%s", text.length ? " " : "", word.text);
    reader.start.text = reader.at = arena_strdup(&recipe->arena, text.data ? text.data : "");
    text_release(&text);
    return reader;
}

static const struct term *read_whole(struct reader *reader)
{
    const struct term *term = read_term(reader, 0);
    skip_blanks(reader);
    if (!failed(reader) && *reader->at)
        word_error(reader->cursor, here(reader), "expected an operator, not '%.20s'", reader->at);
    return term;
}

void definition_read(struct recipe *recipe, struct cursor *cursor)
{
    struct word name;
    if (cursor_take(cursor, "a name", &name) != 0 || cursor_take_exact(cursor, "=") != 0)
        return;
    bool taken = name_length(name.text) != strlen(name.text);
    for (size_t i = 0; i < OPERATORS; i++)
        taken |= strcmp(operators[i].name, name.text) == 0;
    for (size_t i = 0; i < recipe->definitions.count; i++)
        taken |= strcmp(recipe->definitions.items[i].name, name.text) == 0;
    if (taken)
        word_error(cursor, &name, "'%.80s': expected a new name", name.text);
    struct reader reader = read_from(recipe, cursor, "");
    struct definition definition = {name.text, read_whole(&reader)};
    vec_push(&recipe->definitions, definition);
}

/* ":.2f" or ":.3g" or ":noun" after a value. */
static void read_format(struct reader *reader, struct piece *piece)
{
    piece->format = 'f';
    if (failed(reader) || !accept(reader, ':'))
        return;
    if (*reader->at == '.' && isdigit((unsigned char)reader->at[1]) && reader->at[2] &&
        strchr("fg", reader->at[2])) {
        piece->digits = reader->at[1] - '0';
        piece->format = reader->at[2];
        reader->at += 3;
    } else if (name_length(reader->at)) {
        piece->format = 'n';
        piece->noun = take_text(reader, name_length(reader->at));
    } else {
        word_error(reader->cursor, here(reader), "expected a format as .2f or .3g, or a noun");
    }
}

static struct piece *read_explanation(struct reader *reader)
{
    struct piece *first = NULL, **last = &first;
    while (!failed(reader) && *reader->at) {
        struct piece *piece = arena_alloc(&reader->recipe->arena, sizeof *piece);
        piece->words = take_text(reader, strcspn(reader->at, "{"));
        if (accept(reader, '{')) {
            piece->term = read_term(reader, 0);
            if (!failed(reader) && yield_of(piece->term) == A_RANGE)
                word_error(reader->cursor, here(reader),
                           "a range is shown as low(...) and high(...)");
            read_format(reader, piece);
            expect(reader, '}', "after a value");
        }
        *last = piece;
        last = &piece->next;
    }
    return first;
}

void measure_read(struct measure *measure, struct recipe *recipe, struct cursor *cursor)
{
    struct reader reader = read_from(recipe, cursor, "explain");
    measure->value = read_whole(&reader);
    if (!failed(&reader) && yield_of(measure->value) == A_LIST)
        word_error(cursor, &reader.start, "list(...) is for explanations");
    if (!failed(&reader) && cursor_accept(cursor, "explain")) {
        struct word text = {0};
        cursor_take(cursor, "an explanation", &text);
        reader.start = text;
        reader.start.column++; /* after the quotation mark */
        reader.at = text.text ? text.text : "";
        measure->explanation = read_explanation(&reader);
    }
}
