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
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

enum action_kind action_find(const char *words, const struct action_alias **alias)
{
    enum action_kind kind = 0;
    *alias = NULL;
    for (unsigned i = 0; i < ALIASES && !*alias; i++)
        if (strcmp(aliases[i].old, words) == 0)
            *alias = &aliases[i];
    while (kind < ACTION_KINDS &&
           strcmp(action_rows[kind].words.all, *alias ? (*alias)->words : words) != 0)
        kind++;
    return kind;
}

/* The first words of a command may be two or one; returns how many name the action, 0: none. */
static unsigned find_words(const char *const *words, unsigned count, enum action_kind *kind,
                           const struct action_alias **alias)
{
    struct text both = {0};
    *kind = ACTION_KINDS;
    if (count > 1) {
        text_printf(&both, "%s %s", words[0], words[1]);
        *kind = action_find(both.data, alias);
        text_release(&both);
    }
    if (*kind < ACTION_KINDS)
        return 2;
    if (count)
        *kind = action_find(words[0], alias);
    return *kind < ACTION_KINDS;
}

bool action_has_words(const char *const *words, unsigned count)
{
    const struct action_alias *alias;
    enum action_kind kind;
    return find_words(words, count, &kind, &alias) > 0;
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

static void read_arguments(struct action *action, struct cursor *cursor)
{
    for (const enum argument *at = action_row(action)->arguments; *at; at++)
        argument_rows[*at].read(action, cursor);
}

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
    read_arguments(action, cursor);
}

int action_read_words(struct action *action, const char *const *words, unsigned count,
                      const struct topology *topology, struct err *err)
{
    enum { WORDS = 32 };
    struct word line[WORDS];
    struct cursor cursor = {.file = "", .err = err, .words = line, .count = count};
    const struct action_alias *alias = NULL;
    enum action_kind kind;
    *action = (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    cursor.at = find_words(words, count, &kind, &alias);
    if (count >= WORDS || !cursor.at)
        return err_set(err, EINVAL, count >= WORDS ? "too many words" : "'%.40s' is not an action",
                       count ? words[0] : "");
    for (unsigned i = 0; i < count; i++)
        line[i] = (struct word){.text = words[i]};
    if (alias && alias->argument)
        line[cursor.count++] = (struct word){.text = alias->argument};
    action->kind = kind;
    read_arguments(action, &cursor);
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
        argument_rows[*at].print(action, topology, out);
}

void action_print_usage(const struct action_row *row, struct text *out)
{
    text_puts(out, row->words.all);
    for (const enum argument *at = row->arguments; *at; at++)
        text_printf(out, " %s", argument_rows[*at].usage);
}
