#include "subnet/problems.h"

#include <stdarg.h>
#include <stdio.h>

void problems_add(struct problems *problems, enum problem_kind kind, const char *place,
                  const char *format, ...)
{
    struct problem problem = {.kind = kind};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.text, sizeof problem.text, format, arguments);
    va_end(arguments);
    snprintf(problem.place, sizeof problem.place, "%s", place);
    vec_push(&problems->items, problem);
}

void problems_release(struct problems *problems)
{
    vec_release(&problems->items);
}

const char *problem_kind_name(enum problem_kind kind)
{
    static const char *const names[PROBLEM_KINDS] = {
        [PROBLEM_FLAPPING_LINK] = "flapping link",   [PROBLEM_BAD_CABLE] = "bad cable",
        [PROBLEM_DUPLICATE_GUID] = "duplicate GUID", [PROBLEM_SLOW_LINK] = "slow link",
        [PROBLEM_WRONG_CABLE] = "wrong cable",       [PROBLEM_DEAD_AGENT] = "dead agent",
        [PROBLEM_NODE_GONE] = "node gone",           [PROBLEM_FOREIGN_MANAGER] = "foreign manager",
        [PROBLEM_KEY_VIOLATION] = "key violation",   [PROBLEM_REFUSED_TABLE] = "refused table",
        [PROBLEM_NO_ROUTES] = "no routes",           [PROBLEM_DISABLED_PORT] = "disabled port",
        [PROBLEM_FILES] = "file not written",
    };
    return names[kind];
}
