/* The lines about problems that appear and end. */
#include "host/daemon/problems/problem_log.h"

#include "base/rate_limit.h"
#include "base/time.h"

/* The list and its subnet, and where the lines go. */
struct comparison {
    const struct problems *known, *present;
    const struct subnet *subnet;
    uint64_t now_ns;
    problem_log_writer *write;
    void *context;
};

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

static const char *event_of(const struct problem *problem, bool ended)
{
    return ended                                                          ? "solved"
           : problem_infos[problem->kind].severity == PROBLEM_INFORMATION ? "note"
                                                                          : "warning";
}

/* The problems that have ended, or those that are new. */
static void write_differences(const struct comparison *comparison, bool ended,
                              bool (*is_over)(enum problem_kind))
{
    const struct problems *list = ended ? comparison->known : comparison->present;
    const struct problems *other = ended ? comparison->present : comparison->known;
    uint32_t found = 0;
    struct text line = {0};
    for (size_t i = 0; i < list->items.count; i++) {
        const struct problem *problem = &list->items.items[i];
        if (problems_find(other, problem) || (ended && is_over && !is_over(problem->kind)) ||
            !log_list_take(&found))
            continue;
        text_clear(&line);
        bool has_place = problem->object || problem->place.kind != SUBNET_NOWHERE;
        text_printf(&line, "%s%s", problem_infos[problem->kind].name, has_place ? ": " : "");
        problem_put_place(problem, comparison->subnet, &line);
        if (!ended || problem->kind == PROBLEM_WRONG_CABLE)
            text_printf(&line, ": %s", problem->text);
        if (ended) {
            text_puts(&line, " (after ");
            put_duration(&line,
                         (unsigned long)((comparison->now_ns - problem->since_ns) / NS_PER_S));
            text_puts(&line, ")");
        }
        comparison->write(comparison->context, event_of(problem, ended), line.data);
    }
    if (log_list_others(found)) {
        text_clear(&line);
        text_printf(&line, "%u more problems%s", log_list_others(found),
                    ended ? "" : ": 'weft ctl problems' lists them");
        comparison->write(comparison->context, ended ? "solved" : "warning", line.data);
    }
    text_release(&line);
}

void problem_log_update(struct problems *known, struct problems *problems, uint64_t now_ns,
                        const struct subnet *subnet, bool (*is_over)(enum problem_kind kind),
                        problem_log_writer *write, void *context)
{
    const struct comparison comparison = {known, problems, subnet, now_ns, write, context};
    problems_sort(problems);
    problems_set_times(problems, known, now_ns);
    write_differences(&comparison, true, is_over);
    write_differences(&comparison, false, NULL);
    problems_release(known);
    *known = *problems;
    *problems = (struct problems){0};
}
