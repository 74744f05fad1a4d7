/* Names of figures and parameters in words, for the axes of plots: "latency.p99" is "latency, 99th
 * percentile", "lost.dead-link" is "packets lost: dead link", "throughput.sl.2" "throughput of SL
 * 2". A name without special words only loses its dots. Names stay as they are where programs read
 * them, and in tables, where users look for what they can ask for. */
#include "experiment/report/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 16, NAME_BYTES = 160 };

struct phrase {
    const char *part, *words;
};

static const struct phrase subjects[] = {
    {"lost", "packets lost"},
    {"made", "packets made"},
    {"delivered", "packets delivered"},
    {"unroutable", "packets without a path"},
    {"retried", "packets sent again"},
    {"waiting", "packets waiting"},
    {"travelling", "packets travelling"},
    {"sent", "packets sent"},
    {"received", "packets received"},
    {"accepted", "accepted throughput"},
    {"offered", "offered throughput"},
    {"smps", "SMPs"},
    {"sm", "manager"},
    {"vm", "virtual machines"},
    {"connections", "connections,"},
    {"connection", "connection"},
    {0},
};
static const struct phrase keys[] = {
    {"traffic", " of traffic "}, {"sl", " of SL "},    {"vl", " of VL "},
    {"sender", " from "},        {"receiver", " to "}, {0},
};
/* Of the last part: what comes before the subject. */
static const struct phrase kinds[] = {
    {"mean", "mean "},
    {"p50", "median "},
    {"min", "least "},
    {"max", "greatest "},
    {"deviation", "standard deviation of "},
    {"ci", "half width of the 95 % interval of "},
    {0},
};

static const char *find(const struct phrase *phrases, const char *part)
{
    for (; phrases->part; phrases++)
        if (strcmp(phrases->part, part) == 0)
            return phrases->words;
    return NULL;
}

static void put_plain(struct text *out, const char *part)
{
    for (; *part; part++)
        text_putc(out, *part == '-' || *part == '_' ? ' ' : *part);
}

/* "p99.9": its dot is not one between parts. */
static bool is_percentile(const char *part)
{
    return part[0] == 'p' && isdigit((unsigned char)part[1]) &&
           strspn(part + 1, "0123456789.") == strlen(part + 1);
}

static const char *ordinal(const char *number)
{
    size_t length = strlen(number);
    char last = number[length - 1];
    bool teen = length > 1 && number[length - 2] == '1' && !strchr(number, '.');
    return teen || last > '3' || last == '0' ? "th"
           : last == '1'                     ? "st"
           : last == '2'                     ? "nd"
                                             : "rd";
}

static unsigned split(char *name, const char *parts[PARTS])
{
    unsigned count = 0;
    for (char *at = name; at && count < PARTS; count++) {
        char *end = strchr(at, '.');
        parts[count] = at;
        while (end && is_percentile(at) && isdigit((unsigned char)end[1]))
            end = strchr(end + 1, '.');
        if (end && count + 1 < PARTS)
            *end++ = '\0';
        at = end;
    }
    return count;
}

void report_words(const char *name, struct text *out)
{
    char copy[NAME_BYTES];
    const char *parts[PARTS];
    snprintf(copy, sizeof copy, "%s", name);
    unsigned count = split(copy, parts);
    const char *last = count > 1 ? parts[count - 1] : "", *kind = find(kinds, last);
    const char *percent = is_percentile(last) && !kind ? strchr(last, 'p') + 1 : NULL;
    bool total = strcmp(last, "total") == 0;
    const char *subject = find(subjects, parts[0]);
    count -= kind || percent || total;
    text_puts(out, kind ? kind : "");
    if (subject)
        text_puts(out, subject);
    else
        put_plain(out, parts[0]);
    for (unsigned i = 1; i < count; i++) {
        const char *key = i + 1 < count ? find(keys, parts[i]) : NULL;
        text_puts(out, key ? key : i == 1 && strcmp(parts[0], "lost") == 0 ? ": " : " ");
        put_plain(out, parts[i += key != NULL]);
    }
    if (percent)
        text_printf(out, ", %s%s percentile", percent, ordinal(percent));
    text_puts(out, total ? " in total" : "");
}
