/* The list of problems, and what makes a problem the same as one of an earlier list. */
#include "subnet/problems.h"

#include <stdarg.h>
#include <string.h>

static void add(struct problems *problems, struct problem problem, const char *format,
                va_list arguments)
{
    problem.text = arena_vprintf(&problems->memory, format, arguments);
    vec_push(&problems->items, problem);
}

void problems_add(struct problems *problems, enum problem_kind kind, struct subnet_place place,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, (struct problem){.kind = kind, .place = place}, format, arguments);
    va_end(arguments);
}

void problems_add_object(struct problems *problems, enum problem_kind kind, const char *object,
                         const char *format, ...)
{
    const char *copy = arena_strdup(&problems->memory, object);
    va_list arguments;
    va_start(arguments, format);
    add(problems, (struct problem){.kind = kind, .object = copy}, format, arguments);
    va_end(arguments);
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

const struct problem *problems_find(const struct problems *problems, const struct problem *wanted)
{
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *p = &problems->items.items[i];
        if (p->kind != wanted->kind || !subnet_same_place(&p->place, &wanted->place) ||
            strcmp(p->object ? p->object : "", wanted->object ? wanted->object : "") != 0)
            continue;
        /* The object of a wrong cable is only the kind of its difference from the plan. */
        if (p->kind != PROBLEM_WRONG_CABLE || strcmp(p->text, wanted->text) == 0)
            return p;
    }
    return NULL;
}

void problems_set_times(struct problems *problems, const struct problems *known, uint64_t now_ns)
{
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *before = problems_find(known, &problems->items.items[i]);
        problems->items.items[i].since_ns = before ? before->since_ns : now_ns;
    }
}

void problem_put_place(const struct problem *problem, const struct subnet *subnet, struct text *out)
{
    if (problem->object)
        text_puts(out, problem->object);
    else if (problem->place.kind != SUBNET_NOWHERE)
        text_puts(out, subnet_place_name(subnet, &problem->place).text);
}

void problems_release(struct problems *problems)
{
    vec_release(&problems->items);
    vec_release(&problems->explained);
    arena_release(&problems->memory);
}

size_t problems_count(const struct problems *problems)
{
    size_t count = 0;
    for (size_t i = 0; i < problems->items.count; i++)
        count += problem_infos[problems->items.items[i].kind].severity < PROBLEM_INFORMATION;
    return count;
}

const struct problem_info problem_infos[PROBLEM_KINDS] = {
#define PROBLEM(kind, severity, name, advice) {name, PROBLEM_##severity, advice},
#include "subnet/problems.def"
#undef PROBLEM
};
const char *const problem_severity_names[] = {"critical", "warning", "information"};
