/* A record that prints as text for people, or as JSON for programs.
 *
 * Each field has a key and a piece of text with its value (a printf format; for a flag, the words
 * to print if it is true). As JSON, a record is an object with all keys; as text, it is the pieces,
 * one after the other. A NULL key or piece prints nothing. */
#ifndef WEFT_BASE_RECORD_H
#define WEFT_BASE_RECORD_H

#include "base/text.h"

struct record {
    struct text *out;
    bool as_json;
    struct json json;
};

static inline struct record record_to(struct text *out, bool as_json, bool pretty)
{
    return (struct record){out, as_json, {.out = out, .pretty = pretty}};
}

/* Around an object's fields, and around the objects of a list. */
void record_begin(struct record *record, const char *key);
void record_end(struct record *record);
void record_begin_list(struct record *record, const char *key);
void record_end_list(struct record *record);

void record_string(struct record *record, const char *key, const char *format, const char *value);
void record_number(struct record *record, const char *key, const char *format, uint64_t value);
void record_real(struct record *record, const char *key, const char *format, double value);
void record_flag(struct record *record, const char *key, const char *words, bool value);
void record_guid(struct record *record, const char *key, const char *format, uint64_t value);
/* In text only. */
void record_text(struct record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
