/* The page: the data of --json, and for each experiment its paper, its description (the README.md
 * of its folder) and its plots. web/src/report/papers.ts arranges them. */
#include "base/file.h"
#include "experiment/chart/chart.h"
#include "experiment/report/page.h"
#include "reproduce/reproduce.h"

#include <inttypes.h>
#include <stdio.h>

enum { README_BYTES = 1 << 20 };

static void put_paper(const struct paper *paper, struct json *json)
{
    json_begin_object(json, "of");
    json_string(json, "title", paper->title);
    json_string(json, "authors", paper->authors);
    json_string(json, "venue", paper->venue);
    json_unsigned(json, "year", paper->year);
    json_end_object(json);
}

void experiment_put_page(const struct experiment *experiment, const struct papers *papers,
                         struct json *json)
{
    const struct paper *paper = papers_find(papers, experiment->recipe->name);
    struct text readme = {0}, path = {0};
    if (paper)
        put_paper(paper, json);
    text_printf(&path, "%s/README.md", experiment->recipe->folder);
    bool found = file_read(path.data, README_BYTES, &readme, NULL) == 0;
    json_string(json, "readme", found && readme.data ? readme.data : "");
    json_begin_array(json, "pictures");
    for (size_t i = 0; i < experiment->pictures.count; i++) {
        const struct picture *picture = &experiment->pictures.items[i];
        json_begin_object(json, NULL);
        json_string(json, "plot", picture->plot->name);
        json_stringf(json, "caption", "%s%s%s", picture->plot->title,
                     picture->preset ? ", preset " : "", picture->preset ? picture->preset : "");
        chart_json_write(json, "chart", picture->charts.items, picture->charts.count);
        json_end_object(json);
    }
    json_end_array(json);
    text_release(&readme);
    text_release(&path);
}

int reproduction_write_page(const struct reproduction *reproduction, const char *path,
                            struct err *err)
{
    struct page page;
    struct tally tally = reproduction_count(reproduction);
    char lead[128];
    snprintf(lead, sizeof lead, "%sSeed %" PRIu64 " of the networks and of the traffic",
             reproduction->quick ? "A quick look: fewer sizes, fewer points. " : "",
             reproduction->seed);
    page_begin(&page, "papers", "The papers' figures, reproduced", lead);
    page.bad = tally.unexpected > 0;
    page.good = !page.bad;
    if (tally.unexpected)
        text_printf(&page.verdict, "%zu outcomes are not those on record: a result has changed.",
                    tally.unexpected);
    else
        text_puts(&page.verdict, "Every outcome is the one on record.");
    reproduction_put_json(reproduction, true, &page.json);
    int status = page_write(&page, path, err);
    page_release(&page);
    return status;
}
