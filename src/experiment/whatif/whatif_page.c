/* The answer as a page: verdict, tiles, picture of the fabric, nodes that are cut off, loads of
 * links before and after, engines. */
#include "experiment/whatif/whatif.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/report.h"
#include "experiment/scenario/names.h"

#include <math.h>

enum { BUCKETS = 20 };

static void put_tiles(const struct whatif_answer *answer, struct page *page)
{
    const struct whatif_reaction *reaction = &answer->engines[0].reaction;
    const struct whatif_traffic *traffic = &answer->traffic;
    char text[QUANTITY_BYTES];
    page_begin_tiles(page);
    page_tile(page, quantity_text((double)answer->cut.adapters.count, "", text),
              "adapters cut off");
    if (reaction->reacted)
        page_tile(page, quantity_text(time_seconds(reaction->recovery_ps), "s", text), "recovery");
    if (answer->has_traffic)
        page_tile(page, quantity_text(whatif_scale(traffic, traffic->lost), "", text),
                  traffic->share < 1 ? "packets lost (estimate)" : "packets lost");
    if (reaction->up) {
        page_tile(page, whatif_percent(reaction->before.most, text), "busiest link before");
        page_tile(page, whatif_percent(reaction->after.most, text), "busiest link after");
    }
    page_end_tiles(page);
}

static void put_picture(const struct whatif_answer *answer, struct page *page)
{
    const struct whatif_question *question = answer->question;
    struct run_record record = {0};
    struct text action = {0}, svg = {0};
    struct err err = {0};
    for (size_t i = 0; i < question->failure_count; i++) {
        text_clear(&action);
        whatif_write_failure(question->topology, &question->failures[i], &action);
        run_record_add_event(&record, RUN_RECORD_ACTION, 0, "whatif", "%s", action.data);
    }
    page_section(page, "The fabric");
    if (report_picture(question->topology, &record, &svg, &err) == 0)
        page_picture(page, svg.data, "Red dashes: what fails.");
    else
        page_note(page, "There is no picture: %s.", err.message);
    run_record_release(&record);
    text_release(&action);
    text_release(&svg);
}

static void put_cut(const struct whatif_answer *answer, struct page *page)
{
    const struct whatif_cut *cut = &answer->cut;
    const struct topology *topology = answer->question->topology;
    struct text names = {0};
    page_section(page, "Cut off");
    if (!cut->adapters.count && !cut->switches.count)
        page_paragraph(page, "Nobody.");
    for (size_t i = 0; i < cut->switches.count; i++)
        text_printf(&names, "switch %s\n", node_label(topology, cut->switches.items[i]));
    for (size_t i = 0; i < cut->adapters.count; i++)
        text_printf(&names, "%s\n", node_label(topology, cut->adapters.items[i]));
    if (names.length)
        page_code(page, names.data);
    if (cut->adapters_before + cut->switches_before)
        page_note(page,
                  "%u adapters and %u switches are not connected with the manager even without the "
                  "failure.",
                  cut->adapters_before, cut->switches_before);
    text_release(&names);
}

/* How many links have a load in each twentieth of the scale. */
static void put_distribution(const struct whatif_answer *answer, struct page *page)
{
    static const char *const names[] = {"before", "after"};
    const struct whatif_reaction *reaction = &answer->engines[0].reaction;
    const struct whatif_loads *loads[] = {&reaction->before, &reaction->after};
    const struct topology *topology = answer->question->topology;
    double top = fmax(reaction->before.most, reaction->after.most);
    struct chart chart;
    if (!(top > 0) || !loads[0]->share || !loads[1]->share)
        return;
    chart_init(&chart, "");
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
    page_chart(page, &chart, 1, "Links that carry nothing in a direction are left out.");
    chart_release(&chart);
}

static void put_loads(const struct whatif_answer *answer, struct page *page)
{
    static const char *const headings[] = {"link", ">before", ">after"};
    const struct whatif_reaction *reaction = &answer->engines[0].reaction;
    const struct topology *topology = answer->question->topology;
    uint32_t changed[WHATIF_CHANNELS];
    char text[QUANTITY_BYTES];
    page_section(page, "Link load");
    page_paragraph(
        page,
        "Uniform traffic in which every adapter port sends %s of its link's rate, by the "
        "tables that are in the switches.",
        whatif_percent(answer->question->load > 0 ? answer->question->load : 1, text));
    put_distribution(answer, page);
    size_t count = whatif_most_changed(reaction, topology->ports.count, changed);
    if (!count)
        return;
    page_begin_table(page, headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < count; i++) {
        struct text name = {0};
        whatif_put_channel(topology, changed[i], &name);
        page_cell(page, "%s", name.data);
        page_cell(page, "%s", whatif_percent(reaction->before.share[changed[i]], text));
        page_cell(page, "%s", whatif_percent(reaction->after.share[changed[i]], text));
        text_release(&name);
    }
    page_end_table(page);
}

static void put_engines(const struct whatif_answer *answer, struct page *page)
{
    static const char *const headings[] = {"engine",       ">recovery",   ">SMPs",       ">blocks",
                                           ">most before", ">most after", ">hops after", "note"};
    char text[QUANTITY_BYTES];
    page_section(page, "Engines");
    page_begin_table(page, headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < answer->engine_count; i++) {
        const struct whatif_reaction *reaction = &answer->engines[i].reaction;
        page_cell(page, "%s", answer->engines[i].name);
        page_cell(page, "%s",
                  reaction->reacted && reaction->recovered
                      ? quantity_text(time_seconds(reaction->recovery_ps), "s", text)
                      : "–");
        page_cell(page, "%llu", (unsigned long long)reaction->smps);
        page_cell(page, "%llu", (unsigned long long)reaction->blocks);
        page_cell(page, "%s", whatif_percent(reaction->before.most, text));
        page_cell(page, "%s", whatif_percent(reaction->after.most, text));
        page_cell(page, "%.2f", reaction->after.hops);
        page_cell(page, "%s",
                  reaction->refusal     ? reaction->refusal
                  : reaction->complaint ? reaction->complaint
                                        : "");
    }
    page_end_table(page);
}

static void put_repeat(const struct whatif_answer *answer, const char *command, struct page *page)
{
    const struct whatif_question *question = answer->question;
    struct text scenario = {0};
    page_section(page, "To repeat it");
    page_code(page, command);
    if (answer->has_traffic) {
        whatif_write_scenario(question, &answer->traffic.times, answer->traffic.share, &scenario);
        page_paragraph(page, "The run with traffic is this scenario of weft sim:");
        page_code(page, scenario.data);
    }
    text_release(&scenario);
}

void whatif_make_page(const struct whatif_answer *answer, const char *command, struct page *page)
{
    const struct whatif_question *question = answer->question;
    struct text title = {0}, verdict = {0};
    text_puts(&title, "What if ");
    for (size_t i = 0; i < question->failure_count && i < 4; i++) {
        text_puts(&title, i ? ", " : "");
        whatif_put_failure(question->topology, &question->failures[i], &title);
    }
    text_puts(&title, question->failure_count > 4 ? " … fail?" : " fails?");
    page_begin(page, title.data, question->net);
    whatif_put_verdict(answer, &verdict);
    page_verdict(page, whatif_is_good(answer) ? PAGE_GOOD : PAGE_BAD, verdict.data);
    put_tiles(answer, page);
    put_picture(answer, page);
    put_cut(answer, page);
    if (answer->engines[0].reaction.up)
        put_loads(answer, page);
    put_engines(answer, page);
    put_repeat(answer, command, page);
    text_release(&title);
    text_release(&verdict);
}
