/* Reads and prints the pace of a source, and turns it into an interval. */
#include "console/pace.h"

#include "base/parse.h"
#include "base/rng.h"
#include "console/exact.h"

#include <string.h>

const char *const pace_names[PACE_KINDS] = {
    [PACE_NONE] = "", [PACE_EVERY] = "every", [PACE_LOAD] = "load", [PACE_RATE] = "rate"};

int cursor_take_load(struct cursor *cursor, double *share)
{
    enum { LOAD_MOST = 2 };
    struct word word = cursor_next(cursor);
    uint64_t parts;
    const char *rest;
    if (!cursor_is_done(cursor) && parse_percent(word.text, &parts) && parts > 0) {
        *share = (double)parts / (double)RNG_CERTAIN;
        return cursor_take(cursor, "a share of the link's rate", &word);
    }
    if (!cursor_is_done(cursor) && parse_decimal(word.text, share, &rest) && !*rest &&
        *share > LOAD_MOST && *share <= 100)
        return word_error(cursor, &word,
                          "'%.80s': 1 is the full rate of the link; did you mean '%.80s%%'?",
                          word.text, word.text);
    return cursor_take_decimal(cursor, "a share of the link's rate", LOAD_MOST, share);
}

/* 1e9, 1GB/s, 8Gbit/s */
static void take_rate(struct cursor *cursor, double *bytes_per_second)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},
                 {"B/s", 1},
                 {"kB/s", 1e3},
                 {"MB/s", 1e6},
                 {"GB/s", 1e9},
                 {"bit/s", 0.125},
                 {"kbit/s", 0.125e3},
                 {"Mbit/s", 0.125e6},
                 {"Gbit/s", 0.125e9}};
    static const double least = 1e-3, most = 1e13;
    struct word word;
    const char *rest;
    double value;
    if (cursor_take(cursor, "bytes per second, or a rate such as 2.5Gbit/s", &word))
        return;
    bool number = parse_decimal(word.text, &value, &rest);
    for (size_t i = 0; number && i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].name) == 0 && value * units[i].bytes >= least &&
            value * units[i].bytes <= most) {
            *bytes_per_second = value * units[i].bytes;
            return;
        }
    word_error(cursor, &word,
               "'%.80s' is not a rate: expected bytes per second, or a number with kB/s, MB/s, "
               "GB/s, kbit/s, Mbit/s or Gbit/s, such as 2.5Gbit/s",
               word.text);
}

void pace_read_value(struct pace *pace, enum pace_kind kind, struct cursor *cursor)
{
    *pace = (struct pace){.kind = kind};
    switch (kind) {
    case PACE_EVERY: cursor_take_time(cursor, &pace->every_ps); break;
    case PACE_LOAD: cursor_take_load(cursor, &pace->value); break;
    case PACE_RATE: take_rate(cursor, &pace->value); break;
    default: break;
    }
}

void pace_read(struct pace *pace, struct cursor *cursor)
{
    unsigned kind;
    *pace = (struct pace){.kind = PACE_NONE};
    if (cursor_is_done(cursor) ||
        cursor_take_choice(cursor, "pace", pace_names + 1, PACE_KINDS - 1, &kind))
        return;
    pace_read_value(pace, kind + 1, cursor);
}

void pace_print(const struct pace *pace, struct text *out)
{
    text_puts(out, pace_names[pace->kind]);
    if (pace->kind != PACE_NONE)
        text_puts(out, " ");
    switch (pace->kind) {
    case PACE_EVERY: exact_print_time(pace->every_ps, out); break;
    case PACE_LOAD: exact_print_share(pace->value, out); break;
    case PACE_RATE: exact_print_decimal(pace->value, out); break;
    default: break;
    }
}

uint64_t pace_interval_ps(const struct pace *pace, uint64_t bytes, uint64_t wire_bytes,
                          uint64_t link_bits)
{
    static const double longest = 1e18;
    if (pace->kind <= PACE_EVERY)
        return pace->every_ps;
    double interval = pace->kind == PACE_RATE
                          ? (double)bytes * 1e12 / pace->value
                          : (double)wire_bytes * 8e12 / ((double)link_bits * pace->value);
    return interval < 1 ? 1 : interval > longest ? (uint64_t)longest : (uint64_t)(interval + 0.5);
}
