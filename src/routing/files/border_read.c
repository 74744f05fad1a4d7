/* Reads the lines about routers of a dump of a subnet. */
#include "routing/files/border_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { DUMP_LIMIT = 2000000000, WEIGHT_MOST = 255, PORT_MOST = 254 };

/* Takes a word, or says what is missing. */
static bool take_word(struct line_reader *lines, const char **at, const char *word)
{
    *at += strspn(*at, " \t");
    size_t length = strlen(word);
    if (strncmp(*at, word, length) == 0) {
        *at += length;
        return true;
    }
    line_reader_error(lines, "expected '%s' at '%.40s'", word, *at);
    return false;
}

static uint64_t take_value(struct line_reader *lines, const char **at, int base, uint64_t most)
{
    char *end;
    *at += strspn(*at, " \t");
    errno = 0;
    uint64_t value = strtoull(*at, &end, base);
    bool sound = end > *at && (!*end || *end == ' ' || *end == '\t') && errno == 0;
    if (!sound || **at == '-' || value > most || value == 0)
        line_reader_error(lines, "'%.40s': expected a number from 1 to %" PRIu64 "%s", *at, most,
                          base == 16 ? " in hexadecimal digits" : "");
    *at = end;
    return value;
}

static uint64_t take_guid(struct line_reader *lines, const char **at)
{
    return take_value(lines, at, 16, UINT64_MAX);
}

/* "by 0x… 0x…": one choice for each port. */
static void take_choices(struct border *border, struct line_reader *lines, const char *at,
                         struct border_choice choice)
{
    if (!take_word(lines, &at, "by"))
        return;
    do {
        choice.to = take_guid(lines, &at);
        vec_push(&border->choices, choice);
        at += strspn(at, " \t");
    } while (*at && lines->status == 0);
}

static void take_router(struct border *border, struct line_reader *lines, const char *at)
{
    struct border_port port = {.node = take_guid(lines, &at)};
    if (lines->status == 0 && take_word(lines, &at, "port"))
        port.number = (uint8_t)take_value(lines, &at, 10, PORT_MOST);
    if (lines->status == 0 && take_word(lines, &at, "portguid"))
        port.guid = take_guid(lines, &at);
    vec_push(&border->ports, port);
}

static void take_next_hop(struct border *border, struct line_reader *lines, const char *at)
{
    struct border_choice choice = {.from = take_guid(lines, &at)};
    if (lines->status == 0 && take_word(lines, &at, "prefix"))
        choice.prefix = take_guid(lines, &at);
    if (lines->status == 0 && take_word(lines, &at, "weight"))
        choice.weight = (uint8_t)take_value(lines, &at, 10, WEIGHT_MOST);
    if (lines->status == 0)
        take_choices(border, lines, at, choice);
}

static void take_line(struct border *border, struct line_reader *lines)
{
    const char *at = lines->copy;
    struct {
        const char *words;
        int kind;
    } const kinds[] = {{"Subnet prefix ", 0}, {"Router ", 1}, {"Prefix ", 2}, {"Next hop of ", 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(at, kinds[i].words, strlen(kinds[i].words)) != 0)
            continue;
        at += strlen(kinds[i].words);
        if (kinds[i].kind == 0 && border->prefix)
            line_reader_error(lines, "a second 'Subnet prefix'");
        else if (kinds[i].kind == 0)
            border->prefix = take_guid(lines, &at);
        else if (kinds[i].kind == 1)
            take_router(border, lines, at);
        else if (kinds[i].kind == 3)
            take_next_hop(border, lines, at);
        if (kinds[i].kind != 2)
            return;
        struct border_choice choice = {.prefix = take_guid(lines, &at)};
        if (lines->status == 0)
            take_choices(border, lines, at, choice);
        return;
    }
}

static bool has_port(const struct border *border, uint64_t guid)
{
    for (size_t i = 0; i < border->ports.count; i++)
        if (border->ports.items[i].guid == guid)
            return true;
    return false;
}

int border_read(struct border *border, struct line_reader *lines)
{
    *border = (struct border){0};
    lines->limit = DUMP_LIMIT;
    while (line_reader_next_line(lines))
        take_line(border, lines);
    if (lines->status == 0 && !border->prefix)
        lines->status = err_set(lines->err, EINVAL,
                                "%s has no 'Subnet prefix' line: expected the output of "
                                "'weft ctl subnet'",
                                lines->file);
    for (size_t i = 0; i < border->choices.count && lines->status == 0; i++) {
        const struct border_choice *choice = &border->choices.items[i];
        uint64_t missing = !has_port(border, choice->to)                     ? choice->to
                           : choice->from && !has_port(border, choice->from) ? choice->from
                                                                             : 0;
        if (missing)
            lines->status = err_set(lines->err, EINVAL,
                                    "%s: port 0x%016" PRIx64 " is not that of a 'Router' line",
                                    lines->file, missing);
    }
    if (lines->status)
        border_release(border);
    return lines->status;
}
