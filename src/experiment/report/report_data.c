/* Reports on a run as CSV and JSON. */
#include "experiment/report/report.h"
#include "experiment/report/series_text.h"

void report_run_csv(const struct report_run *report, struct text *out)
{
    const struct results *results = &report->results;
    text_puts(out, "name,unit,time_s,value\n");
    for (size_t i = 0; i < results->figures.count; i++) {
        csv_put(out, results->figures.items[i].name, ",");
        csv_put(out, results->figures.items[i].unit, ",,");
        csv_put_number(out, results->figures.items[i].value, "\n");
    }
    for (size_t s = 0; s < results->series.count; s++) {
        const struct series *series = &results->series.items[s];
        for (size_t i = 0; i < series->points.count; i++) {
            csv_put(out, series->name, ",");
            csv_put(out, series->unit, ",");
            csv_put_number(out, (double)series->points.items[i].time / 1e12, ",");
            csv_put_number(out, series->points.items[i].value, "\n");
        }
    }
}

void report_run_json(const struct report_run *report, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    const struct result_run *run = &report->run;
    const struct results *results = &report->results;
    struct text verdict = {0};
    bool good = report_run_verdict(report, &verdict);
    json_begin_object(&json, NULL);
    json_string(&json, "scenario", run->name ? run->name : "");
    json_string(&json, "point", run->point ? run->point : "");
    json_unsigned(&json, "repetition", run->repetition);
    json_unsigned(&json, "seed", run->seed);
    json_stringf(&json, "trace_hash", "%016llx", (unsigned long long)run->hash);
    json_string(&json, "replay", run->replay ? run->replay : "");
    json_bool(&json, "good", good);
    json_string(&json, "verdict", verdict.data);
    json_unsigned(&json, "checks", report->record.checks.count);
    json_unsigned(&json, "checks_failed", run_record_failures(&report->record));
    json_begin_object(&json, "figures");
    for (size_t i = 0; i < results->figures.count; i++) {
        json_begin_object(&json, results->figures.items[i].name);
        json_double(&json, "value", results->figures.items[i].value);
        json_string(&json, "unit", results->figures.items[i].unit);
        json_end_object(&json);
    }
    json_end_object(&json);
    json_end_object(&json);
    text_release(&verdict);
}
