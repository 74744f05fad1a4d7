/* Writes the table of claims for a terminal of 80 columns, and all data as JSON. */
#include "reproduce/reproduce.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text in columns ---- */

enum { COLUMNS = 5, LINE = 80 };
static const unsigned widths[COLUMNS] = {30, 13, 13, 13, 7};
static const char indent[] = "  "; /* of claims under their experiment */

static void put_row(struct text *out, const char *const cells[COLUMNS])
{
    const char *rest[COLUMNS];
    char cell[LINE * 4]; /* bytes of a line of UTF-8 */
    bool more = true;
    memcpy(rest, cells, sizeof rest);
    while (more) {
        more = false;
        text_puts(out, indent);
        for (unsigned i = 0; i < COLUMNS; i++) {
            unsigned width = widths[i] - (i == 0 ? sizeof indent - 1 : 0);
            size_t bytes = text_fit(rest[i], width);
            snprintf(cell, sizeof cell, "%.*s", (int)bytes, rest[i]);
            text_put_padded(out, cell, width + (i + 1 < COLUMNS), false);
            rest[i] += bytes + (rest[i][bytes] == ' ');
            more |= *rest[i] != 0;
        }
        while (out->length && out->data[out->length - 1] == ' ')
            out->length--;
        text_putc(out, '\n');
    }
}

/* ---- the table ---- */

static const char *holds_text(const struct verdict *verdict)
{
    bool paper = verdict->findings[PRESET_PAPER].outcome == OUTCOME_HOLDS;
    bool today = verdict->findings[PRESET_TODAY].outcome == OUTCOME_HOLDS;
    if (paper && today)
        return "yes";
    return paper ? "paper" : today ? "today" : "no";
}

const char *verdict_reason(const struct verdict *verdict, enum claim_preset preset)
{
    assert(preset < CLAIM_PRESETS);
    const struct expectation *expected = verdict->expected[preset];
    return expected && verdict->findings[preset].outcome != OUTCOME_HOLDS ? expected->reason : NULL;
}

size_t experiment_count_reason(const struct experiment *experiment, enum claim_preset preset,
                               const char *reason, size_t *first)
{
    size_t count = 0;
    for (size_t i = 0; i < experiment->verdicts.count; i++) {
        const char *other = verdict_reason(&experiment->verdicts.items[i], preset);
        if (other && strcmp(other, reason) == 0 && count++ == 0)
            *first = i;
    }
    return count;
}

/* Writes reasons that several claims share once, after them. */
static void put_common_reasons(struct text *out, const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->verdicts.count; i++)
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            const char *reason = verdict_reason(&experiment->verdicts.items[i], p);
            size_t first = 0,
                   claims = reason ? experiment_count_reason(experiment, p, reason, &first) : 0;
            if (claims < 2 || first != i)
                continue;
            text_puts(out, "      ");
            text_put_wrapped(out, 6, "%s, %zu claims: %s", claim_preset_names[p], claims, reason);
        }
}

/* Writes a reason once if both presets share it. */
static void put_reasons(struct text *out, const struct experiment *experiment,
                        const struct verdict *verdict)
{
    const struct expectation *const *expected = verdict->expected;
    bool same = expected[0] && expected[1] && strcmp(expected[0]->reason, expected[1]->reason) == 0;
    for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
        const char *reason = verdict_reason(verdict, p);
        size_t first;
        if (!reason || (same && p > 0) ||
            experiment_count_reason(experiment, p, reason, &first) > 1)
            continue;
        text_puts(out, "      ");
        text_put_wrapped(out, 6, "%s: %s", same ? "both" : claim_preset_names[p], reason);
    }
}

static void put_unexpected(struct text *out, const struct verdict *verdict)
{
    for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
        const struct expectation *expected = verdict->expected[p];
        if (verdict_is_expected(verdict, (enum claim_preset)p))
            continue;
        text_put_wrapped(out, 0, "unexpected: %s/%s with preset %s: %s, expected: %s",
                         verdict->claim->experiment, verdict->claim->name, claim_preset_names[p],
                         outcome_names[verdict->findings[p].outcome],
                         outcome_names[expected ? expected->outcome : OUTCOME_HOLDS]);
    }
}

static void count_verdict(struct tally_part *part, const struct verdict *verdict)
{
    part->claims++;
    for (unsigned p = 0; p < CLAIM_PRESETS; p++)
        part->holds[p] += verdict->findings[p].outcome == OUTCOME_HOLDS;
}

struct tally reproduction_count(const struct reproduction *reproduction)
{
    struct tally tally = {0};
    for (size_t e = 0; e < reproduction->experiments.count; e++) {
        const struct experiment *experiment = &reproduction->experiments.items[e];
        for (size_t i = 0; i < experiment->verdicts.count; i++) {
            const struct verdict *verdict = &experiment->verdicts.items[i];
            count_verdict(&tally.all, verdict);
            count_verdict(&tally.kinds[verdict->claim->kind], verdict);
            for (unsigned p = 0; p < CLAIM_PRESETS; p++)
                tally.unexpected += !verdict_is_expected(verdict, (enum claim_preset)p);
        }
    }
    return tally;
}

/* The first column: the claim, with its kind unless it is a result. */
static void put_verdict(struct text *out, const struct verdict *verdict)
{
    const struct claim *claim = verdict->claim;
    struct text title = {0};
    text_puts(&title, claim->text);
    if (claim->kind != CLAIM_RESULT)
        text_printf(&title, " [%s]", claim_kind_names[claim->kind]);
    put_row(out, (const char *const[COLUMNS]){
                     title.data, claim->paper, verdict->findings[PRESET_PAPER].shown,
                     verdict->findings[PRESET_TODAY].shown, holds_text(verdict)});
    text_release(&title);
}

/* "2 claims. Results of the papers: 1 of 1 hold with preset paper, 0 with today; ..." */
static void put_tally(struct text *out, const struct reproduction *reproduction)
{
    static const char *const names[CLAIM_KINDS] = {"Results of the papers", "fitted values",
                                                   "checks"};
    struct tally tally = reproduction_count(reproduction);
    struct text sentence = {0};
    for (unsigned k = 0; k < CLAIM_KINDS; k++) {
        const struct tally_part *part = &tally.kinds[k];
        if (k != CLAIM_RESULT && part->claims == 0)
            continue;
        text_printf(&sentence, "%s%s: %zu of %zu hold with preset paper, %zu with today",
                    k ? "; " : "", names[k], part->holds[PRESET_PAPER], part->claims,
                    part->holds[PRESET_TODAY]);
    }
    text_put_wrapped(out, 0, "%zu claims%s. %s.", tally.all.claims,
                     reproduction->quick ? " (a quick look)" : "", sentence.data);
    text_release(&sentence);
}

void reproduction_write_table(const struct reproduction *reproduction, struct text *out)
{
    static const char *const headings[COLUMNS] = {"claim", "paper", "weft: paper", "weft: today",
                                                  "holds"};
    put_row(out, headings);
    for (size_t e = 0; e < reproduction->experiments.count; e++) {
        const struct experiment *experiment = &reproduction->experiments.items[e];
        text_printf(out, "%s  %s\n", experiment->recipe->name, experiment->recipe->title);
        for (size_t i = 0; i < experiment->verdicts.count; i++) {
            const struct verdict *verdict = &experiment->verdicts.items[i];
            put_verdict(out, verdict);
            put_reasons(out, experiment, verdict);
        }
        put_common_reasons(out, experiment);
    }
    text_putc(out, '\n');
    for (size_t e = 0; e < reproduction->experiments.count; e++)
        for (size_t i = 0; i < reproduction->experiments.items[e].verdicts.count; i++)
            put_unexpected(out, &reproduction->experiments.items[e].verdicts.items[i]);
    put_tally(out, reproduction);
}

/* ---- one sentence for a figure ---- */

static size_t count_outcomes(const struct experiment *experiment, enum claim_preset preset,
                             enum outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < experiment->verdicts.count; i++)
        count += experiment->verdicts.items[i].findings[preset].outcome == outcome;
    return count;
}

static void put_exceptions(struct text *out, const struct experiment *experiment,
                           enum claim_preset preset)
{
    const char *separator = "; not: ";
    for (size_t i = 0; i < experiment->verdicts.count; i++) {
        const struct verdict *verdict = &experiment->verdicts.items[i];
        const char *reason = verdict_reason(verdict, preset);
        if (verdict->findings[preset].outcome == OUTCOME_HOLDS)
            continue;
        text_printf(out, "%s%s (%s%s%s)", separator, verdict->claim->text,
                    verdict->findings[preset].shown, reason ? ": " : "", reason ? reason : "");
        separator = "; ";
    }
}

void experiment_write_sentence(const struct experiment *experiment, struct text *out)
{
    size_t claims = experiment->verdicts.count;
    enum claim_preset preset = PRESET_PAPER;
    if (claims == 0)
        return;
    if (count_outcomes(experiment, PRESET_PAPER, OUTCOME_UNKNOWN) == claims)
        preset = PRESET_TODAY; /* an experiment that the other preset cannot run */
    size_t holds = count_outcomes(experiment, preset, OUTCOME_HOLDS);
    if (holds == claims && claims == 1)
        text_puts(out, "The claim holds");
    else if (holds == claims && claims == 2)
        text_puts(out, "Both claims hold");
    else if (holds == claims)
        text_printf(out, "All %zu claims hold", claims);
    else
        text_printf(out, "%zu of %zu claims hold", holds, claims);
    text_printf(out, " with preset %s: a reader would %s", claim_preset_names[preset],
                holds == claims ? "recognise the figure"
                : holds == 0    ? "not recognise the figure"
                                : "recognise the figure in part");
    put_exceptions(out, experiment, preset);
    text_putc(out, '.');
}

/* ---- JSON ---- */

static void write_measured(struct json *json, const struct finding *finding, double factor)
{
    const struct measured *measured = &finding->measured;
    json_string(json, "measured", finding->shown);
    if (isfinite(measured->least) && isfinite(measured->most)) {
        json_double(json, "least", measured->least / factor);
        json_double(json, "most", measured->most / factor);
    }
    if (isfinite(measured->half_width))
        json_double(json, "half_width", measured->half_width / factor);
}

static void write_verdict(struct json *json, const struct verdict *verdict)
{
    char tolerance[TOLERANCE_BYTES];
    json_begin_object(json, NULL);
    json_string(json, "name", verdict->claim->name);
    json_string(json, "claim", verdict->claim->text);
    json_string(json, "kind", claim_kind_names[verdict->claim->kind]);
    json_string(json, "paper", verdict->claim->paper);
    json_string(json, "place", verdict->claim->place);
    json_string(json, "tolerance", claim_tolerance(verdict->claim, tolerance));
    for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
        const struct expectation *expected = verdict->expected[p];
        json_begin_object(json, p == PRESET_PAPER ? "preset_paper" : "preset_today");
        write_measured(json, &verdict->findings[p], verdict->claim->unit->factor);
        json_string(json, "outcome", outcome_names[verdict->findings[p].outcome]);
        json_string(json, "expected", outcome_names[expected ? expected->outcome : OUTCOME_HOLDS]);
        if (expected)
            json_string(json, "reason", expected->reason);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_experiment(struct json *json, const struct experiment *experiment,
                             const struct papers *papers)
{
    struct text sentence = {0};
    json_begin_object(json, NULL);
    json_string(json, "name", experiment->recipe->name);
    json_string(json, "title", experiment->recipe->title);
    experiment_write_sentence(experiment, &sentence);
    json_string(json, "summary", sentence.data ? sentence.data : "");
    text_release(&sentence);
    json_unsigned(json, "observations", experiment->observations);
    json_unsigned(json, "failed", experiment->failed);
    json_unsigned(json, "checks_do_not_hold", experiment->broken);
    json_begin_array(json, "plots");
    for (size_t i = 0; i < experiment->pictures.count; i++)
        if (experiment->pictures.items[i].file)
            json_string(json, NULL, experiment->pictures.items[i].file);
    json_end_array(json);
    json_begin_array(json, "claims");
    for (size_t i = 0; i < experiment->verdicts.count; i++)
        write_verdict(json, &experiment->verdicts.items[i]);
    json_end_array(json);
    if (papers)
        experiment_put_page(experiment, papers, json);
    json_end_object(json);
}

static void write_tally_part(struct json *json, const struct tally_part *part)
{
    json_unsigned(json, "claims", part->claims);
    json_unsigned(json, "hold_with_preset_paper", part->holds[PRESET_PAPER]);
    json_unsigned(json, "hold_with_preset_today", part->holds[PRESET_TODAY]);
}

void reproduction_put_json(const struct reproduction *reproduction, bool page, struct json *json)
{
    struct tally tally = reproduction_count(reproduction);
    json_bool(json, "quick", reproduction->quick);
    json_unsigned(json, "seed", reproduction->seed);
    json_unsigned(json, "runs", reproduction->runs);
    json_unsigned(json, "there", reproduction->there);
    json_unsigned(json, "failed", reproduction->failed);
    if (!page) {
        json_double(json, "wall_s", reproduction->seconds);
        json_string(json, "page", reproduction->page ? reproduction->page : "");
    }
    write_tally_part(json, &tally.all);
    json_begin_object(json, "kinds");
    for (unsigned k = 0; k < CLAIM_KINDS; k++) {
        json_begin_object(json, claim_kind_names[k]);
        write_tally_part(json, &tally.kinds[k]);
        json_end_object(json);
    }
    json_end_object(json);
    json_unsigned(json, "unexpected", tally.unexpected);
    json_begin_array(json, "experiments");
    for (size_t e = 0; e < reproduction->experiments.count; e++)
        write_experiment(json, &reproduction->experiments.items[e],
                         page ? &reproduction->papers : NULL);
    json_end_array(json);
}

void reproduction_write_json(const struct reproduction *reproduction, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    json_begin_object(&json, NULL);
    reproduction_put_json(reproduction, false, &json);
    json_end_object(&json);
    text_putc(out, '\n');
}
