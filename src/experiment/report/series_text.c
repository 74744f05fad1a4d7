/* Figures and series as JSON and CSV. */
#include "experiment/report/run_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_number(struct json *json, const char *key, double value)
{
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        json_number(json, key, (int64_t)value); /* integers keep all digits */
    else
        json_double(json, key, value);
}

void figures_write_json(const struct results *results, struct json *json)
{
    json_begin_array(json, "figures");
    for (size_t i = 0; i < results->figures.count; i++) {
        const struct figure *figure = &results->figures.items[i];
        json_begin_object(json, NULL);
        json_string(json, "name", figure->name);
        json_string(json, "unit", figure->unit);
        put_number(json, "value", figure->value);
        json_end_object(json);
    }
    json_end_array(json);
}

void series_write_json(const struct results *results, struct json *json)
{
    bool pretty = json->pretty;
    json_begin_array(json, "series");
    for (size_t i = 0; i < results->series.count; i++) {
        const struct series *series = &results->series.items[i];
        json_begin_object(json, NULL);
        json_string(json, "name", series->name);
        json_string(json, "unit", series->unit);
        json->pretty = false; /* one line for all points */
        json_begin_array(json, "points");
        for (size_t j = 0; j < series->points.count; j++) {
            json_begin_array(json, NULL);
            json_unsigned(json, NULL, series->points.items[j].time);
            put_number(json, NULL, series->points.items[j].value);
            json_end_array(json);
        }
        json_end_array(json);
        json->pretty = pretty;
        json_end_object(json);
    }
    json_end_array(json);
}

void csv_put(struct text *out, const char *field, const char *end)
{
    const char *quote = strpbrk(field, ",\"\r\n") ? "\"" : "";
    text_puts(out, quote);
    for (; *field; field++)
        text_printf(out, *field == '"' ? "\"%c" : "%c", *field);
    text_printf(out, "%s%s", quote, end);
}

void csv_put_number(struct text *out, double value, const char *end)
{
    if (isfinite(value))
        text_printf(out, "%.12g", value);
    text_puts(out, end);
}

void figures_write_csv(const struct results *results, struct text *out)
{
    text_puts(out, "name,value,unit\n");
    for (size_t i = 0; i < results->figures.count; i++) {
        csv_put(out, results->figures.items[i].name, ",");
        csv_put_number(out, results->figures.items[i].value, ",");
        csv_put(out, results->figures.items[i].unit, "\n");
    }
}

void series_write_csv(const struct results *results, struct text *out)
{
    text_puts(out, "name,unit,time_s,value\n");
    for (size_t i = 0; i < results->series.count; i++) {
        const struct series *series = &results->series.items[i];
        for (size_t j = 0; j < series->points.count; j++) {
            uint64_t time = series->points.items[j].time;
            csv_put(out, series->name, ",");
            csv_put(out, series->unit, ",");
            text_printf(out, "%" PRIu64 ".%012" PRIu64 ",", time / 1000000000000,
                        time % 1000000000000);
            csv_put_number(out, series->points.items[j].value, "\n");
        }
    }
}
