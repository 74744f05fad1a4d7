/* Shared by the files of console. */
#ifndef WEFT_CONSOLE_INTERNAL_H
#define WEFT_CONSOLE_INTERNAL_H

#include "console/action.h"

/* The effects of faults (src/fabric/faults.c). */
#define FAULT(kind, words, arguments, flags, effect, lasting, page)                                \
    int effect_##effect(struct fabric *fabric, const struct fabric_fault *fault, struct err *err);
#include "console/actions.def"

/* An older or another name of an action: of `weft ctl`, of the API. */
struct action_alias {
    const char *old, *words;
    const char *argument; /* the number of a traffic; the name of a setting; or NULL */
};
/* The action with these words (as one text), or its alias; ACTION_KINDS: none. */
enum action_kind action_find(const char *words, const struct action_alias **alias);

/* ---- arguments.c: one argument, as words ---- */

void argument_read(enum argument argument, struct action *action, struct cursor *cursor);
void argument_print(enum argument argument, const struct action *action,
                    const struct topology *topology, struct text *out);
void argument_print_usage(enum argument argument, struct text *out);

#endif
