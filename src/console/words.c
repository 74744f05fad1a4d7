/* The words of actions: read, printed, and the older words of `weft ctl` and of the API. */
#include "console/internal.h"

#include <errno.h>

/* ---- names of actions ---- */

/* Older words of `weft ctl`, whose arguments are the same, and names of the API. */
static const struct action_alias aliases[] = {
    {"link down", "fail link", NULL},
    {"link up", "restore link", NULL},
    {"switch down", "fail switch", NULL},
    {"switch up", "restore switch", NULL},
    {"node down", "fail node", NULL},
    {"node up", "restore node", NULL},
    {"agent slow", "slow", NULL},
    {"agent mute", "mute", NULL},
    {"agent heal", "heal", NULL},
    {"guid", "duplicate-guid", NULL},
    {"errors", "bit-errors", NULL},
    {"traffic start", "start traffic", "1"},
    {"traffic stop", "stop traffic", "1"},
    {"vm create", "vm start", NULL},
    {"vm destroy", "vm stop", NULL},
    {"cut", "fail link", NULL},
    {"restore", "restore link", NULL},
    {"lossy", "drop", NULL},
    {"kill-node", "fail node", NULL},
    {"restore-node", "restore node", NULL},
    {"start-traffic", "start traffic", NULL},
    {"stop-traffic", "stop traffic", NULL},
    {"vm-start", "vm start", NULL},
    {"vm-move", "vm migrate", NULL},
    {"vm-stop", "vm stop", NULL},
    {"kill-manager", "kill sm", NULL},
    {"start-manager", "start sm", NULL},
    {"stop-manager", "stop sm", NULL},
    {"engine", "configure sm", "engine"},
};
enum action_kind action_find(const char *words, const struct action_alias **alias)
{
    enum action_kind kind = 0;
    *alias = NULL;
    for (unsigned i = 0; i < sizeof aliases / sizeof aliases[0] && !*alias; i++)
        if (strcmp(aliases[i].old, words) == 0)
            *alias = &aliases[i];
    while (kind < ACTION_KINDS &&
           strcmp(action_rows[kind].words.all, *alias ? (*alias)->words : words) != 0)
        kind++;
    return kind;
}

/* An action has two words or one: "restore link" is not "restore", which the API has for it. */
unsigned action_replace_alias(const char *const *words, unsigned count,
                              const char *line[ACTION_WORDS])
{
    const struct action_alias *alias = NULL;
    enum action_kind kind = ACTION_KINDS;
    unsigned named = count < 2 ? count : 2, made = 0;
    for (; named && kind == ACTION_KINDS; named -= kind == ACTION_KINDS) {
        char text[64];
        snprintf(text, sizeof text, "%s%s%s", words[0], named > 1 ? " " : "",
                 named > 1 ? words[1] : "");
        kind = action_find(text, &alias);
    }
    if (alias) {
        line[made++] = action_rows[kind].words.first;
        if (action_rows[kind].words.second)
            line[made++] = action_rows[kind].words.second;
    }
    for (unsigned i = alias ? named : 0; i < count && made < ACTION_WORDS; i++)
        line[made++] = words[i];
    if (alias && alias->argument && made < ACTION_WORDS)
        line[made++] = alias->argument;
    return made;
}

bool action_is_meant(control_tables tables, const char *const *words, unsigned count)
{
    const char *line[ACTION_WORDS];
    bool begins = false;
    if (control_fits(control_find(tables, words, count), words, count))
        return false;
    count = action_replace_alias(words, count, line);
    for (unsigned kind = 0; count && kind < ACTION_KINDS; kind++) {
        const struct action_row *row = &action_rows[kind];
        bool first = strcmp(row->words.first, line[0]) == 0;
        if (first && (!row->words.second || (count > 1 && strcmp(row->words.second, line[1]) == 0)))
            return true;
        begins |= first;
    }
    return begins && !control_has_word(tables, line[0]);
}

size_t action_verbs(const char *names[ACTION_VERBS])
{
    size_t count = 0;
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        size_t i = 0;
        while (i < count && strcmp(names[i], action_rows[kind].words.first) != 0)
            i++;
        if (i == count)
            names[count++] = action_rows[kind].words.first;
    }
    return count;
}

/* ---- reading ---- */

void action_read(struct action *action, struct cursor *cursor)
{
    const char *firsts[ACTION_VERBS], *seconds[ACTION_KINDS];
    enum action_kind kinds[ACTION_KINDS];
    unsigned chosen, count = 0;
    char what[40];
    *action =
        (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE, .first = cursor_next(cursor)};
    cursor_take_choice(cursor, "action", firsts, action_verbs(firsts), &chosen);
    const char *first = firsts[chosen];
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++)
        if (strcmp(action_rows[kind].words.first, first) == 0) {
            seconds[count] = action_rows[kind].words.second;
            kinds[count++] = (enum action_kind)kind;
        }
    chosen = 0;
    if (seconds[0] && count == 1) {
        cursor_take_exact(cursor, seconds[0]);
    } else if (seconds[0]) {
        snprintf(what, sizeof what, "word after '%s'", first);
        cursor_take_choice(cursor, what, seconds, count, &chosen);
    }
    action->kind = kinds[chosen];
    for (const enum argument *at = action_row(action)->arguments; *at; at++)
        argument_read(*at, action, cursor);
}

int action_read_words(struct action *action, const char *const *words, unsigned count,
                      const struct topology *topology, struct err *err)
{
    const char *texts[ACTION_WORDS];
    struct word line[ACTION_WORDS];
    struct cursor cursor = {.file = "", .err = err, .words = line};
    cursor.count = action_replace_alias(words, count, texts);
    for (unsigned i = 0; i < cursor.count; i++)
        line[i] = (struct word){.text = texts[i]};
    action_read(action, &cursor);
    int status = cursor_take_end(&cursor);
    return status || !topology ? status : action_bind(action, topology, &cursor);
}

int action_read_line(struct action *action, const char *line, const struct topology *topology,
                     struct err *err)
{
    struct line_reader *reader = from_text("", line, err);
    struct cursor cursor;
    bool found = false;
    *action = (struct action){0};
    while (line_reader_next(reader, &cursor)) {
        struct action read;
        action_read(&read, &cursor);
        if (found)
            word_error(&cursor, &read.first, "expected one action");
        reader->status = cursor_take_end(&cursor);
        if (reader->status == 0)
            reader->status = action_bind(&read, topology, &cursor);
        if (reader->status == 0)
            *action = action_copy(&read);
        found = reader->status == 0;
    }
    if (reader->status)
        action_release(action);
    return reader->status || found ? reader->status : err_set(err, EINVAL, "expected one action");
}

/* ---- printing ---- */

void action_print(const struct action *action, const struct topology *topology, struct text *out)
{
    text_puts(out, action_row(action)->words.all);
    for (const enum argument *at = action_row(action)->arguments; *at; at++)
        argument_print(*at, action, topology, out);
}

void action_print_usage(const struct action_row *row, struct text *out)
{
    text_puts(out, row->words.all);
    for (const enum argument *at = row->arguments; *at; at++)
        argument_print_usage(*at, out);
}
