/* The table of actions, and applying them to a fabric. */
#include "console/action.h"

#include "base/mem.h"
#include "console/internal.h"

#include <errno.h>

#define LIST(...) LIST_OF(__VA_ARGS__, END, END, )
#define LIST_OF(a, b, c, ...)                                                                      \
    {                                                                                              \
        ARGUMENT_##a, ARGUMENT_##b, ARGUMENT_##c, ARGUMENT_END                                     \
    }
#define WORDS(first, second)                                                                       \
    {                                                                                              \
        first " " second, first, second                                                            \
    }
#define WORD(first)                                                                                \
    {                                                                                              \
        first, first, NULL                                                                         \
    }
#define DETECTED  ACTION_DETECTED
#define BREAKS    ACTION_BREAKS
#define TRAINS    ACTION_TRAINS
#define PAGE(...) PAGE_OF(__VA_ARGS__)
#define PAGE_OF(label, done, state, value, undo)                                                   \
    {                                                                                              \
        label, done, STATE_##state, value, undo                                                    \
    }
#define NO_PAGE                                                                                    \
    {                                                                                              \
        NULL, NULL, STATE_ANY, 0, NULL                                                             \
    }

const struct action_row action_rows[ACTION_KINDS] = {
#define FAULT(kind, words, arguments, flags, effect, page)                                         \
    [ACTION_##kind] = {words, arguments, OWNER_FABRIC, flags, effect, page},
#define ACTION(kind, words, arguments, owner, flags, page)                                         \
    [ACTION_##kind] = {words, arguments, OWNER_##owner, flags, NULL, page},
#include "console/actions.def"
};

int action_apply(struct fabric *fabric, const struct action *action, struct err *err)
{
    const struct action_row *row = action_row(action);
    if (!row->effect)
        return err_set(err, ENOTSUP, "'%s' needs more than a fabric", row->words.all);
    return row->effect(fabric, action, err);
}

static struct word copy_word(struct word word)
{
    return (struct word){.text = word.text ? mem_strdup(word.text) : NULL};
}

struct action action_copy(const struct action *action)
{
    struct action copy = *action;
    copy.first = copy.node_word = copy.port_word = copy.value_word = copy.keyword =
        (struct word){0};
    copy.machine.name = copy_word(action->machine.name);
    copy.key = copy_word(action->key);
    copy.text = copy_word(action->text);
    return copy;
}

void action_release(struct action *action)
{
    mem_free((char *)(uintptr_t)action->machine.name.text);
    mem_free((char *)(uintptr_t)action->key.text);
    mem_free((char *)(uintptr_t)action->text.text);
    *action = (struct action){0};
}
