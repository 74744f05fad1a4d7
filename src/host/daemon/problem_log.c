/* The lines about problems that appear and end. */
#include "host/daemon/problem_log.h"

#include "base/time.h"

enum { LOGGED_MOST = 20 };

/* The list and its subnet, and where the lines go. */
struct comparison {
    const struct problems *known, *present;
    const struct subnet *subnet;
    uint64_t now_ns;
    problem_log_writer *write;
    void *context;
};

static void put_name(const struct comparison *comparison, const struct problem *problem,
                     struct text *out)
{
    bool has_place = problem->object || problem->place.kind != SUBNET_NOWHERE;
    text_printf(out, "%s%s", problem_kind_name(problem->kind), has_place ? ": " : "");
    problem_put_place(problem, comparison->subnet, out);
}

/* "12 s", "3 min", "2 h 5 min" */
static void put_duration(struct text *out, unsigned long seconds)
{
    if (seconds < 60)
        text_printf(out, "%lu s", seconds);
    else if (seconds < 3600)
        text_printf(out, "%lu min", seconds / 60);
    else
        text_printf(out, "%lu h %lu min", seconds / 3600, seconds / 60 % 60);
}

static void write_new(const struct comparison *comparison)
{
    size_t found = 0;
    struct text line = {0};
    for (size_t i = 0; i < comparison->present->items.count; i++) {
        const struct problem *problem = &comparison->present->items.items[i];
        if (problems_find(comparison->known, problem) || ++found > LOGGED_MOST)
            continue;
        text_clear(&line);
        put_name(comparison, problem, &line);
        text_printf(&line, ": %s", problem->text);
        comparison->write(comparison->context, "warning", line.data);
    }
    if (found > LOGGED_MOST) {
        text_clear(&line);
        text_printf(&line, "%zu more problems: 'weft ctl problems' lists them",
                    found - LOGGED_MOST);
        comparison->write(comparison->context, "warning", line.data);
    }
    text_release(&line);
}

static void write_ended(const struct comparison *comparison, bool (*is_over)(enum problem_kind))
{
    size_t found = 0;
    struct text line = {0};
    for (size_t i = 0; i < comparison->known->items.count; i++) {
        const struct problem *problem = &comparison->known->items.items[i];
        if (problems_find(comparison->present, problem) || (is_over && !is_over(problem->kind)) ||
            ++found > LOGGED_MOST)
            continue;
        text_clear(&line);
        put_name(comparison, problem, &line);
        if (problem->kind == PROBLEM_WRONG_CABLE)
            text_printf(&line, ": %s", problem->text);
        text_puts(&line, " (after ");
        put_duration(&line, (unsigned long)((comparison->now_ns - problem->since_ns) / NS_PER_S));
        text_puts(&line, ")");
        comparison->write(comparison->context, "solved", line.data);
    }
    if (found > LOGGED_MOST) {
        text_clear(&line);
        text_printf(&line, "%zu more problems", found - LOGGED_MOST);
        comparison->write(comparison->context, "solved", line.data);
    }
    text_release(&line);
}

void problem_log_update(struct problem_log *log, struct problems *problems, uint64_t now_ns,
                        const struct subnet *subnet, bool (*is_over)(enum problem_kind kind),
                        problem_log_writer *write, void *context)
{
    const struct comparison comparison = {&log->known, problems, subnet, now_ns, write, context};
    problems_sort(problems);
    problems_set_times(problems, &log->known, now_ns);
    write_ended(&comparison, is_over);
    write_new(&comparison);
    problems_release(&log->known);
    log->known = *problems;
    *problems = (struct problems){0};
}

void problem_log_release(struct problem_log *log)
{
    problems_release(&log->known);
}
