#include "host/daemon/problem_log.h"

#include <string.h>

enum { LOGGED_MOST = 20 };

static const struct problem *find(const struct problems *problems, const struct problem *wanted)
{
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *p = &problems->items.items[i];
        /* The place of a wrong cable already describes the difference from the plan. */
        if (p->kind == wanted->kind && strcmp(p->place, wanted->place) == 0 &&
            (p->kind != PROBLEM_WRONG_CABLE || strcmp(p->text, wanted->text) == 0))
            return p;
    }
    return NULL;
}

void problem_log_set_times(const struct problem_log *log, struct problems *problems)
{
    problems_sort(problems);
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *known = find(&log->known, &problems->items.items[i]);
        problems->items.items[i].since = known ? known->since : time(NULL);
    }
}

static void put_name(struct text *out, const struct problem *problem)
{
    text_printf(out, "%s%s%s", problem_kind_name(problem->kind), *problem->place ? ": " : "",
                problem->place);
}

/* "12 s", "3 min", "2 h 5 min" */
static void put_duration(struct text *out, long seconds)
{
    if (seconds < 60)
        text_printf(out, "%ld s", seconds);
    else if (seconds < 3600)
        text_printf(out, "%ld min", seconds / 60);
    else
        text_printf(out, "%ld h %ld min", seconds / 3600, seconds / 60 % 60);
}

static void write_new(const struct problem_log *log, const struct problems *problems,
                      problem_log_writer *write, void *context)
{
    size_t found = 0;
    struct text line = {0};
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *problem = &problems->items.items[i];
        if (find(&log->known, problem) || ++found > LOGGED_MOST)
            continue;
        text_clear(&line);
        put_name(&line, problem);
        text_printf(&line, ": %s", problem->text);
        write(context, "warning", line.data);
    }
    if (found > LOGGED_MOST) {
        text_clear(&line);
        text_printf(&line, "%zu more problems: 'weft ctl problems' lists them",
                    found - LOGGED_MOST);
        write(context, "warning", line.data);
    }
    text_release(&line);
}

static void write_ended(const struct problem_log *log, const struct problems *problems,
                        bool (*is_over)(enum problem_kind kind), problem_log_writer *write,
                        void *context)
{
    size_t found = 0;
    struct text line = {0};
    for (size_t i = 0; i < log->known.items.count; i++) {
        const struct problem *problem = &log->known.items.items[i];
        if (find(problems, problem) || (is_over && !is_over(problem->kind)) ||
            ++found > LOGGED_MOST)
            continue;
        text_clear(&line);
        put_name(&line, problem);
        text_puts(&line, problem->kind == PROBLEM_WRONG_CABLE ? ": " : "");
        text_puts(&line, problem->kind == PROBLEM_WRONG_CABLE ? problem->text : "");
        text_puts(&line, " (after ");
        put_duration(&line, (long)(time(NULL) - problem->since));
        text_puts(&line, ")");
        write(context, "solved", line.data);
    }
    if (found > LOGGED_MOST) {
        text_clear(&line);
        text_printf(&line, "%zu more problems", found - LOGGED_MOST);
        write(context, "solved", line.data);
    }
    text_release(&line);
}

void problem_log_update(struct problem_log *log, struct problems *problems,
                        bool (*is_over)(enum problem_kind kind), problem_log_writer *write,
                        void *context)
{
    problem_log_set_times(log, problems);
    write_ended(log, problems, is_over, write, context);
    write_new(log, problems, write, context);
    problems_release(&log->known);
    log->known = *problems;
    *problems = (struct problems){0};
}

void problem_log_release(struct problem_log *log)
{
    problems_release(&log->known);
}
