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
#define LASTS(what, state)                                                                         \
    {                                                                                              \
        what, false, FAULT_##state                                                                 \
    }
#define ENDS(what)                                                                                 \
    {                                                                                              \
        what, true, FAULT_HIDDEN                                                                   \
    }
#define ONCE                                                                                       \
    {                                                                                              \
        NULL, true, FAULT_HIDDEN                                                                   \
    }
#define NO_PAGE                                                                                    \
    {                                                                                              \
        NULL, NULL, STATE_ANY, 0, NULL                                                             \
    }

const struct action_row action_rows[ACTION_KINDS] = {
#define FAULT(kind, words, arguments, flags, effect, lasting, page)                                \
    [ACTION_##kind] = {words, arguments, OWNER_FABRIC, flags, effect_##effect, lasting, page},
#define ACTION(kind, words, arguments, owner, flags, page)                                         \
    [ACTION_##kind] = {words, arguments, OWNER_##owner, flags, NULL, ONCE, page},
#include "console/actions.def"
};

/* What of a fault lasts: an attribute with the value 0 and a node's own GUID end it, and a number
 * of bit errors without a rate does not last. */
static void find_end(const struct fabric *fabric, struct fabric_fault *fault)
{
    for (const enum argument *at = action_rows[fault->kind].arguments; *at; at++) {
        bool rate = *at == ARGUMENT_ERRORS;
        if (*at == ARGUMENT_GUID)
            fault->ends = fault->value == fabric_topology(fabric)->nodes.items[fault->node].guid;
        else if (*at == ARGUMENT_PERCENT || *at == ARGUMENT_TIME || rate)
            fault->ends = fault->value == 0;
        if (rate && !fault->per_second)
            fault->sets = NULL;
    }
}

int action_apply(struct fabric *fabric, const struct action *action, struct err *err)
{
    const struct action_row *row = action_row(action);
    struct fabric_fault fault = {row->effect,       action->node,      action->port,
                                 action->attribute, action->value,     action->per_second,
                                 action->kind,      row->lasting.sets, row->lasting.ends};
    if (!row->effect)
        return err_set(err, ENOTSUP, "'%s' needs more than a fabric", row->words.all);
    find_end(fabric, &fault);
    return fabric_cause(fabric, &fault, err);
}

struct action action_of_fault(const struct fabric_fault *fault)
{
    return (struct action){.kind = fault->kind,
                           .node = fault->node,
                           .port = fault->port,
                           .attribute = fault->attribute,
                           .value = fault->value,
                           .per_second = fault->per_second};
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
