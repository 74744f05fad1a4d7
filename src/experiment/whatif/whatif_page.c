/* The answer as a page: that of --json, a picture of the fabric, the distribution of the loads of
 * links before and after, and the scenario. web/src/report/whatif.ts arranges them. */
#include "experiment/whatif/whatif.h"

#include "experiment/chart/chart.h"
#include "experiment/report/report.h"

#include <math.h>

enum { BUCKETS = 20 };

static void put_picture(const struct whatif_answer *answer, struct page *page)
{
    const struct whatif_question *question = answer->question;
    struct run_record record = {0};
    struct text action = {0};
    struct err err = {0};
    for (size_t i = 0; i < question->failure_count; i++) {
        text_clear(&action);
        whatif_write_failure(question->topology, &question->failures[i], &action);
        run_record_add_event(&record, RUN_RECORD_ACTION, 0, "whatif", "%s", action.data);
    }
    int status = report_picture(question->topology, &record, &page->svg, &err);
    json_string(&page->json, "no_picture", status ? err.message : "");
    run_record_release(&record);
    text_release(&action);
}

/* How many links have a load in each twentieth of the scale. */
static void put_distribution(const struct whatif_answer *answer, struct json *json)
{
    static const char *const names[] = {"before", "after"};
    const struct whatif_reaction *reaction = &answer->engines[0].reaction;
    const struct whatif_loads *loads[] = {&reaction->before, &reaction->after};
    const struct topology *topology = answer->question->topology;
    double top = fmax(reaction->before.most, reaction->after.most);
    struct chart chart;
    if (!(top > 0) || !loads[0]->share || !loads[1]->share)
        return;
    chart_init(&chart);
    chart_set_axis(&chart, &chart.x, "load of a link", "share");
    chart_set_axis(&chart, &chart.y, "directions of links", "");
    for (int side = 0; side < 2; side++) {
        double counts[BUCKETS] = {0};
        size_t group = chart_add_group(&chart, names[side], CHART_STEPS);
        for (uint32_t port = 0; port < topology->ports.count; port++) {
            const struct topology_port *p = &topology->ports.items[port];
            double share = loads[side]->share[port];
            if (p->peer == TOPOLOGY_NONE || topology->nodes.items[p->node].kind != NODE_SWITCH ||
                share <= 0)
                continue;
            int bucket = (int)(share / top * BUCKETS);
            counts[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
        }
        for (int i = 0; i <= BUCKETS; i++)
            chart_add_point(&chart, group, top * i / BUCKETS, i < BUCKETS ? counts[i] : 0);
    }
    chart_json_write(json, "loads", &chart, 1, CHART_PAGE_COLUMNS);
    chart_release(&chart);
}

void whatif_make_page(const struct whatif_answer *answer, const char *command, struct page *page)
{
    const struct whatif_question *question = answer->question;
    struct text title = {0}, scenario = {0};
    text_puts(&title, "What if ");
    for (size_t i = 0; i < question->failure_count && i < 4; i++) {
        text_puts(&title, i ? ", " : "");
        whatif_put_failure(question->topology, &question->failures[i], &title);
    }
    text_puts(&title, question->failure_count > 4 ? " … fail?" : " fails?");
    page_begin(page, "whatif", title.data, question->net);
    whatif_put_verdict(answer, &page->verdict);
    page->good = whatif_is_good(answer);
    page->bad = !page->good;
    put_picture(answer, page);
    whatif_put_json(answer, &page->json);
    json_double(&page->json, "load", question->load > 0 ? question->load : 1);
    if (answer->engines[0].reaction.up)
        put_distribution(answer, &page->json);
    json_string(&page->json, "command", command);
    if (answer->has_traffic)
        whatif_write_scenario(question, &answer->traffic.times, answer->traffic.share, &scenario);
    json_string(&page->json, "scenario", scenario.data ? scenario.data : "");
    text_release(&title);
    text_release(&scenario);
}
