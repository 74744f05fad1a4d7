/* The page: a section for each paper, with a part for each of its figures: the description, the
 * plots, one sentence on whether a reader would recognise the figure, and the claims.
 *
 * The description is the README.md of the experiment: paragraphs without headings. */
#include "base/line_reader.h"
#include "experiment/report/page.h"
#include "reproduce/reproduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_claims(struct page *page, const struct experiment *experiment)
{
    static const char *const headings[] = {
        "claim", "kind", "place", "paper", "tolerance", "preset paper", "", "preset today", ""};
    char tolerance[TOLERANCE_BYTES];
    if (experiment->verdicts.count == 0)
        return;
    page_begin_table(page, headings, 9);
    for (size_t i = 0; i < experiment->verdicts.count; i++) {
        const struct verdict *verdict = &experiment->verdicts.items[i];
        page_cell(page, "%s", verdict->claim->text);
        page_cell(page, "%s", claim_kind_names[verdict->claim->kind]);
        page_cell(page, "%s", verdict->claim->place);
        page_cell(page, "%s", verdict->claim->paper);
        page_cell(page, "%s", claim_tolerance(verdict->claim, tolerance));
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            enum outcome outcome = verdict->findings[p].outcome;
            page_cell(page, "%s", verdict->findings[p].shown);
            page_toned_cell(page,
                            !verdict_is_expected(verdict, (enum claim_preset)p) ? PAGE_BAD
                            : outcome == OUTCOME_HOLDS                          ? PAGE_GOOD
                                                                                : PAGE_PLAIN,
                            outcome_names[outcome]);
        }
    }
    page_end_table(page);
}

/* Writes a reason once if several claims, or both presets, share it. */
static void put_reasons(struct page *page, const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->verdicts.count; i++) {
        const struct verdict *verdict = &experiment->verdicts.items[i];
        const struct expectation *const *expected = verdict->expected;
        bool same =
            expected[0] && expected[1] && strcmp(expected[0]->reason, expected[1]->reason) == 0;
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            const char *reason = verdict_reason(verdict, p);
            size_t first = i,
                   claims = reason ? experiment_count_reason(experiment, p, reason, &first) : 0;
            if (claims > 1 && first == i)
                page_note(page, "%zu claims, preset %s: %s.", claims, claim_preset_names[p],
                          reason);
            else if (claims == 1 && !(same && p > 0))
                page_note(page, "%s, %s%s: %s.", verdict->claim->text, same ? "" : "preset ",
                          same ? "both presets" : claim_preset_names[p], reason);
        }
    }
}

/* Appends a line without backquotes. */
static void put_line(struct text *paragraph, const char *line)
{
    if (paragraph->length)
        text_putc(paragraph, ' ');
    for (; *line; line++)
        if (*line != '`')
            text_putc(paragraph, *line);
}

static void put_readme(struct page *page, const struct recipe *recipe)
{
    struct text paragraph = {0}, path = {0};
    text_printf(&path, "%s/README.md", recipe->folder);
    struct line_reader *reader = from_file(path.data, NULL);
    bool more = true;
    while (more) {
        more = line_reader_next_line(reader);
        if (more && reader->copy[0] && reader->copy[0] != '#')
            put_line(&paragraph, reader->copy);
        if (paragraph.length && (!more || !reader->copy[0])) {
            page_paragraph(page, "%s", paragraph.data);
            text_clear(&paragraph);
        }
    }
    text_release(&paragraph);
    text_release(&path);
}

static void put_picture(struct page *page, const struct picture *picture)
{
    char caption[256];
    snprintf(caption, sizeof caption, "%s%s%s", picture->plot->title,
             picture->preset ? ", preset " : "", picture->preset ? picture->preset : "");
    page_chart(page, picture->charts.items, picture->charts.count, caption);
}

/* Puts both presets of a plot side by side. */
static void put_pictures(struct page *page, const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->pictures.count;) {
        const struct plot *plot = experiment->pictures.items[i].plot;
        page_begin_columns(page);
        put_picture(page, &experiment->pictures.items[i++]);
        for (; i < experiment->pictures.count && experiment->pictures.items[i].plot == plot; i++) {
            page_next_column(page);
            put_picture(page, &experiment->pictures.items[i]);
        }
        page_end_columns(page);
    }
}

static void put_sentence(struct page *page, const struct experiment *experiment)
{
    struct text sentence = {0};
    experiment_write_sentence(experiment, &sentence);
    if (sentence.length)
        page_paragraph(page, "%s", sentence.data);
    text_release(&sentence);
}

static void put_experiment(struct page *page, const struct experiment *experiment)
{
    const char *name = experiment->recipe->name;
    char heading[256];
    unsigned figure;
    if (sscanf(name, "%*u-fig%u", &figure) == 1) /* the figure of the paper */
        snprintf(heading, sizeof heading, "Figure %u: %s (%s)", figure, experiment->recipe->title,
                 name);
    else
        snprintf(heading, sizeof heading, "%s: %s", name, experiment->recipe->title);
    page_part(page, heading);
    put_readme(page, experiment->recipe);
    put_pictures(page, experiment);
    put_sentence(page, experiment);
    put_claims(page, experiment);
    put_reasons(page, experiment);
    if (experiment->failed || experiment->broken)
        page_note(page,
                  "Of this experiment's runs %zu failed, and %zu have checks that do not hold.",
                  experiment->failed, experiment->broken);
}

/* The experiments of one paper; NULL: those of none. */
static void put_paper(struct page *page, const struct reproduction *reproduction,
                      const struct paper *paper)
{
    bool headed = false;
    for (size_t e = 0; e < reproduction->experiments.count; e++) {
        const struct experiment *experiment = &reproduction->experiments.items[e];
        if (papers_find(&reproduction->papers, experiment->recipe->name) != paper)
            continue;
        if (!headed) {
            page_section(page, paper ? paper->title : "Other experiments");
            if (paper)
                page_paragraph(page, "%s. %s, %" PRIu64 ".", paper->authors, paper->venue,
                               paper->year);
        }
        headed = true;
        put_experiment(page, experiment);
    }
}

static void put_summary(struct page *page, const struct reproduction *reproduction)
{
    struct tally tally = reproduction_count(reproduction);
    static const char *const names[CLAIM_KINDS] = {"results of the papers", "fitted values",
                                                   "checks"};
    char value[64], label[64], sentence[256];
    if (tally.unexpected)
        snprintf(sentence, sizeof sentence,
                 "%zu outcomes are not those on record: a result has changed.", tally.unexpected);
    else
        snprintf(sentence, sizeof sentence, "Every outcome is the one on record.");
    page_verdict(page, tally.unexpected ? PAGE_BAD : PAGE_GOOD, sentence);
    page_begin_tiles(page);
    for (unsigned k = 0; k < CLAIM_KINDS; k++) {
        const struct tally_part *part = &tally.kinds[k];
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            snprintf(value, sizeof value, "%zu of %zu", part->holds[p], part->claims);
            snprintf(label, sizeof label, "%s hold with preset %s", names[k],
                     claim_preset_names[p]);
            page_tile(page, value, label);
        }
    }
    snprintf(value, sizeof value, "%zu", reproduction->runs);
    page_tile(page, value, "runs");
    page_end_tiles(page);
}

int reproduction_write_page(const struct reproduction *reproduction, const char *path,
                            struct err *err)
{
    struct page page;
    char lead[128];
    snprintf(lead, sizeof lead, "%sSeed %" PRIu64 " of the networks and of the traffic",
             reproduction->quick ? "A quick look: fewer sizes, fewer points. " : "",
             reproduction->seed);
    page_begin(&page, "The papers' figures, reproduced", lead);
    page.wide = true;
    put_summary(&page, reproduction);
    for (size_t i = 0; i < reproduction->papers.items.count; i++)
        put_paper(&page, reproduction, &reproduction->papers.items.items[i]);
    put_paper(&page, reproduction, NULL);
    int status = page_write(&page, path, err);
    page_release(&page);
    return status;
}
