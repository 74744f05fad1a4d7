/* The ranking of single failures. */
#include "experiment/whatif/whatif.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/page.h"

#include <stdlib.h>

static int compare_numbers(double a, double b)
{
    return (a < b) - (a > b);
}

static bool recovers(const struct whatif_case *one)
{
    return one->status == 0 && one->reaction.up && one->reaction.recovered;
}

static int compare_cases(const void *a, const void *b)
{
    const struct whatif_case *one = a, *two = b;
    int order = compare_numbers(one->adapters, two->adapters);
    if (!order)
        order = compare_numbers(one->switches, two->switches);
    if (!order)
        order = (int)recovers(one) - (int)recovers(two);
    if (!order)
        order = compare_numbers(one->lost_bytes, two->lost_bytes);
    if (!order)
        order = compare_numbers(one->reaction.after.most, two->reaction.after.most);
    if (!order)
        order = one->failure.node != two->failure.node
                    ? (one->failure.node > two->failure.node) * 2 - 1
                    : (one->failure.port > two->failure.port) * 2 - 1;
    return order;
}

void whatif_rank(struct whatif_case *cases, size_t count)
{
    qsort(cases, count, sizeof *cases, compare_cases);
}

static const char *recovery_text(const struct whatif_case *one, char text[QUANTITY_BYTES])
{
    return one->status      ? "error"
           : !recovers(one) ? "fails"
           : !one->reaction.reacted
               ? "none"
               : quantity_text(time_seconds(one->reaction.recovery_ps), "s", text);
}

void whatif_write_ranking(const struct whatif_question *question, const struct whatif_case *cases,
                          size_t count, size_t shown, struct text *out)
{
    char text[QUANTITY_BYTES];
    text_puts(out, " adapters  affected                         busiest link\n"
                   "  cut off   traffic   recovery       lost         after  failure\n");
    for (size_t i = 0; i < count && i < shown; i++) {
        const struct whatif_case *one = &cases[i];
        text_printf(out, "%9u", one->adapters);
        text_put_padded(out, whatif_percent(one->reaction.before.affected, text), 10, true);
        text_put_padded(out, recovery_text(one, text), 11, true);
        text_put_padded(out, quantity_text(one->lost_bytes, "bytes", text), 11, true);
        text_put_padded(out, whatif_percent(one->reaction.after.most, text), 14, true);
        text_puts(out, "  ");
        whatif_put_failure(question->topology, &one->failure, out);
        if (one->status)
            text_printf(out, ": %s", one->err.message);
        text_putc(out, '\n');
    }
    if (count > shown)
        text_printf(out, "%zu more; --top %zu prints all\n", count - shown, count);
}

static void put_cases(const struct whatif_question *question, const struct whatif_case *cases,
                      size_t count, const char *key, struct json *json)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < count; i++) {
        const struct whatif_case *one = &cases[i];
        struct text name = {0};
        whatif_put_failure(question->topology, &one->failure, &name);
        json_begin_object(json, NULL);
        json_string(json, "failure", name.data);
        json_unsigned(json, "cut_off_adapters", one->adapters);
        json_unsigned(json, "cut_off_switches", one->switches);
        json_double(json, "affected", one->reaction.before.affected);
        json_bool(json, "recovered", recovers(one));
        json_unsigned(json, "recovery_ps", one->reaction.recovery_ps);
        json_double(json, "lost_bytes", one->lost_bytes);
        json_double(json, "load_most_before", one->reaction.before.most);
        json_double(json, "load_most_after", one->reaction.after.most);
        json_unsigned(json, "overloaded", one->reaction.after.overloaded);
        if (one->status)
            json_string(json, "error", one->err.message);
        json_end_object(json);
        text_release(&name);
    }
    json_end_array(json);
}

void whatif_write_ranking_json(const struct whatif_question *question,
                               const struct whatif_case *cases, size_t count, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    put_cases(question, cases, count, NULL, &json);
    text_putc(out, '\n');
}

void whatif_make_ranking_page(const struct whatif_question *question,
                              const struct whatif_case *cases, size_t count, size_t shown,
                              const char *command, struct page *page)
{
    page_begin(page, "ranking", "The worst single failures", question->net);
    put_cases(question, cases, count < shown ? count : shown, "cases", &page->json);
    json_unsigned(&page->json, "left_out", count < shown ? 0 : count - shown);
    json_string(&page->json, "command", command);
}
