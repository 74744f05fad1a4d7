/* Finds and runs commands of the registry (control_command.h). */
#include "base/control_command.h"

#include <errno.h>
#include <string.h>

void control_answer_release(struct control_answer *answer)
{
    if (answer->data)
        answer->release(answer->data);
    answer->data = NULL;
    text_release(&answer->text);
}

/* The number of words of the name, if the words begin with it; else 0. */
static unsigned match_name(const char *name, const char *const *words, unsigned count)
{
    unsigned matched = 0;
    for (;; matched++, name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        if (length == 0)
            return matched;
        if (matched == count || strlen(words[matched]) != length ||
            memcmp(words[matched], name, length) != 0)
            return 0;
        name += length;
    }
}

const struct control_command *control_find(control_tables tables, const char *const *words,
                                           unsigned count)
{
    const struct control_command *best = NULL;
    unsigned longest = 0;
    for (unsigned t = 0; tables[t]; t++)
        for (const struct control_command *row = tables[t]; row->name; row++) {
            unsigned matched = match_name(row->name, words, count);
            if (matched > longest) {
                longest = matched;
                best = row;
            }
        }
    return best;
}

bool control_fits(const struct control_command *command, const char *const *words, unsigned count)
{
    unsigned named = command ? match_name(command->name, words, count) : 0;
    return command && count - named >= command->least && count - named <= command->most;
}

static int finish_answer(struct control_call *call, int result)
{
    struct text *text = &call->answer->text;
    if (result < 0 && *call->err.message) {
        text_clear(text);
        text_puts(text, call->err.message);
    } else if (result >= 0 && call->answer->json && text->length &&
               text->data[text->length - 1] != '\n') {
        text_putc(text, '\n');
    }
    return result;
}

int control_run(const struct control_command *command, struct control_call *call,
                const char *const *words, unsigned count)
{
    unsigned named = match_name(command->name, words, count);
    call->err = (struct err){0};
    call->command = command;
    call->words = words + named;
    call->count = count - named;
    call->subject = call->subjects[command->needs];
    int result;
    if (call->count < command->least || call->count > command->most) {
        result = err_set(&call->err, EINVAL, "usage: weft ctl %s%s%s", command->name,
                         *command->usage ? " " : "", command->usage);
    } else if (!call->subject) {
        const char *why = call->missing[command->needs];
        result = err_set(&call->err, EINVAL, "%s", why ? why : "not available here");
    } else {
        result = command->run(call);
    }
    return finish_answer(call, result);
}

static bool begins_with(const struct control_command *command, const char *word)
{
    size_t length = strlen(word);
    return strncmp(command->name, word, length) == 0 &&
           (command->name[length] == ' ' || !command->name[length]);
}

bool control_has_word(control_tables tables, const char *word)
{
    for (unsigned t = 0; tables[t]; t++)
        for (const struct control_command *row = tables[t]; row->name; row++)
            if (begins_with(row, word))
                return true;
    return false;
}

int control_refuse(const char *server, control_tables tables, struct control_call *call,
                   const char *const *words, unsigned count)
{
    struct text forms = {0};
    int result;
    for (unsigned t = 0; count && tables[t]; t++)
        for (const struct control_command *row = tables[t]; row->name; row++)
            if (row->help && begins_with(row, words[0]))
                text_printf(&forms, "%s%s%s%s", forms.length ? " | " : "", row->name,
                            *row->usage ? " " : "", row->usage);
    call->err = (struct err){0};
    if (!count)
        result = err_set(&call->err, EINVAL, "no command");
    else if (forms.length)
        result = err_set(&call->err, EINVAL, "expected: %s", forms.data);
    else
        result = err_set(&call->err, ENOSYS, "'%s' is not a command of %s", words[0], server);
    text_release(&forms);
    return finish_answer(call, result);
}
