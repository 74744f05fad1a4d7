#include "subnet/problems.h"

#include <stdarg.h>

void problems_add(struct problems *problems, enum problem_kind kind, const char *place,
                  const char *format, ...)
{
    struct problem problem = {.kind = kind, .place = arena_strdup(&problems->memory, place)};
    va_list arguments;
    va_start(arguments, format);
    problem.text = arena_vprintf(&problems->memory, format, arguments);
    va_end(arguments);
    vec_push(&problems->items, problem);
}

void problems_explain(struct problems *problems, uint32_t port)
{
    *vec_at(&problems->explained, port) = true;
}

bool problems_is_explained(const struct problems *problems, uint32_t port)
{
    return port < problems->explained.count && problems->explained.items[port];
}

void problems_sort(struct problems *problems)
{
    struct problems sorted = {0};
    for (unsigned kind = 0; kind < PROBLEM_KINDS; kind++)
        for (size_t i = 0; i < problems->items.count; i++)
            if (problems->items.items[i].kind == kind)
                vec_push(&sorted.items, problems->items.items[i]);
    vec_release(&problems->items);
    problems->items.items = sorted.items.items;
    problems->items.count = sorted.items.count;
    problems->items.capacity = sorted.items.capacity;
}

void problems_release(struct problems *problems)
{
    vec_release(&problems->items);
    vec_release(&problems->explained);
    arena_release(&problems->memory);
}

const char *problem_kind_name(enum problem_kind kind)
{
    static const char *const names[PROBLEM_KINDS] = {
        [PROBLEM_NO_ROUTES] = "no routes",         [PROBLEM_FOREIGN_MANAGER] = "foreign manager",
        [PROBLEM_SMALL_TABLE] = "table too small", [PROBLEM_REFUSED_TABLE] = "refused table",
        [PROBLEM_FILES] = "file not written",      [PROBLEM_DEAD_AGENT] = "dead agent",
        [PROBLEM_NODE_GONE] = "node gone",         [PROBLEM_DUPLICATE_GUID] = "duplicate GUID",
        [PROBLEM_FLAPPING_LINK] = "flapping link", [PROBLEM_BAD_CABLE] = "bad cable",
        [PROBLEM_SLOW_LINK] = "slow link",         [PROBLEM_WRONG_CABLE] = "wrong cable",
        [PROBLEM_DISABLED_PORT] = "disabled port", [PROBLEM_KEY_VIOLATION] = "key violation",
        [PROBLEM_STUCK_COUNTER] = "stuck counter",
    };
    return names[kind];
}
