/* The ranking of single failures. */
#include "experiment/whatif/whatif.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/page.h"

#include <math.h>
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

void whatif_write_ranking_json(const struct whatif_question *question,
                               const struct whatif_case *cases, size_t count, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct whatif_case *one = &cases[i];
        struct text name = {0};
        whatif_put_failure(question->topology, &one->failure, &name);
        json_begin_object(&json, NULL);
        json_string(&json, "failure", name.data);
        json_unsigned(&json, "cut_off_adapters", one->adapters);
        json_unsigned(&json, "cut_off_switches", one->switches);
        json_double(&json, "affected", one->reaction.before.affected);
        json_bool(&json, "recovered", recovers(one));
        json_unsigned(&json, "recovery_ps", one->reaction.recovery_ps);
        json_double(&json, "lost_bytes", one->lost_bytes);
        json_double(&json, "load_most_before", one->reaction.before.most);
        json_double(&json, "load_most_after", one->reaction.after.most);
        json_unsigned(&json, "overloaded", one->reaction.after.overloaded);
        if (one->status)
            json_string(&json, "error", one->err.message);
        json_end_object(&json);
        text_release(&name);
    }
    json_end_array(&json);
    text_putc(out, '\n');
}

void whatif_make_ranking_page(const struct whatif_question *question,
                              const struct whatif_case *cases, size_t count, size_t shown,
                              const char *command, struct page *page)
{
    static const char *const headings[] = {"failure",
                                           ">adapters cut off",
                                           ">switches cut off",
                                           ">affected traffic",
                                           ">recovery",
                                           ">lost",
                                           ">busiest link before",
                                           ">after"};
    char text[QUANTITY_BYTES];
    page_begin(page, "The worst single failures", question->net);
    page_section(page, "Ranking");
    page_begin_table(page, headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < count && i < shown; i++) {
        const struct whatif_case *one = &cases[i];
        struct text name = {0};
        whatif_put_failure(question->topology, &one->failure, &name);
        page_cell(page, "%s", name.data);
        page_cell(page, "%u", one->adapters);
        page_cell(page, "%u", one->switches);
        page_cell(page, "%s", whatif_percent(one->reaction.before.affected, text));
        page_cell(page, "%s", recovery_text(one, text));
        page_cell(page, "%s", quantity_text(one->lost_bytes, "bytes", text));
        page_cell(page, "%s", whatif_percent(one->reaction.before.most, text));
        page_cell(page, "%s", whatif_percent(one->reaction.after.most, text));
        text_release(&name);
    }
    page_end_table(page);
    if (count > shown)
        page_note(page, "%zu more failures are not shown.", count - shown);
    page_section(page, "To repeat it");
    page_code(page, command);
}
