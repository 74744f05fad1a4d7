/* Writes each field through text_printf() or through the JSON writer, so that the same calls make
 * both outputs of a command. */
#include "base/record.h"

#include <assert.h>

void record_begin(struct record *record, const char *key)
{
    if (record->as_json)
        json_begin_object(&record->json, key);
}

void record_end(struct record *record)
{
    assert(!record->as_json || record->json.depth > 0);
    if (record->as_json)
        json_end_object(&record->json);
}

void record_begin_list(struct record *record, const char *key)
{
    if (record->as_json)
        json_begin_array(&record->json, key);
}

void record_end_list(struct record *record)
{
    assert(!record->as_json || record->json.depth > 0);
    if (record->as_json)
        json_end_array(&record->json);
}

void record_string(struct record *record, const char *key, const char *format, const char *value)
{
    if (record->as_json && key)
        json_string(&record->json, key, value);
    else if (!record->as_json && format)
        text_printf(record->out, format, value);
}

void record_number(struct record *record, const char *key, const char *format, uint64_t value)
{
    if (record->as_json && key)
        json_unsigned(&record->json, key, value);
    else if (!record->as_json && format)
        text_printf(record->out, format, (unsigned long long)value);
}

void record_real(struct record *record, const char *key, const char *format, double value)
{
    if (record->as_json && key)
        json_double(&record->json, key, value);
    else if (!record->as_json && format)
        text_printf(record->out, format, value);
}

void record_flag(struct record *record, const char *key, const char *words, bool value)
{
    if (record->as_json && key)
        json_bool(&record->json, key, value);
    else if (!record->as_json && words && value)
        text_puts(record->out, words);
}

void record_guid(struct record *record, const char *key, const char *format, uint64_t value)
{
    if (record->as_json && key)
        json_stringf(&record->json, key, "0x%016llx", (unsigned long long)value);
    else if (!record->as_json && format)
        text_printf(record->out, format, (unsigned long long)value);
}

void record_text(struct record *record, const char *format, ...)
{
    if (record->as_json)
        return;
    text_put_arguments(record->out, format);
}
