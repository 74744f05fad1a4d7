/* Trace files: packets one by one, as a program or a real machine sent them.
 *
 * Text, a packet a line: "TIME SENDER RECEIVER BYTES". Times carry a unit ("1.5us"); whole
 * picoseconds may have as many digits as they need ("1234567890123ps"), and 0 needs no unit. A line
 * is a packet, not a message: what is larger than an MTU must be cut by who writes the trace. The
 * file is read line by line and everything about it is bounded; nothing is changed before the last
 * line has been understood. */
#include "fabric/traffic_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256, ENTRIES_LIMIT = 10 * 1000 * 1000, WORDS = 4 };

struct trace_reader {
    const struct traffic *traffic;
    const char *path;
    unsigned line;
    struct err *err;
    VEC(struct traffic_trace_entry) entries;
};

#define FAIL(reader, ...) err_at((reader)->err, EINVAL, (reader)->path, (reader)->line, __VA_ARGS__)

/* 1: a line, without its end; 0: no more; or an error. */
static int read_line(struct trace_reader *reader, FILE *file, char line[LINE_BYTES])
{
    size_t length = 0;
    int c;
    reader->line++;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (c == '\0')
            return FAIL(reader, "a zero byte: this is not a text file");
        if (length == LINE_BYTES - 1)
            return FAIL(reader, "the line is longer than %d bytes", LINE_BYTES - 1);
        line[length++] = (char)c;
    }
    if (ferror(file))
        return err_at(reader->err, errno, reader->path, 0, "%s", strerror(errno));
    line[length] = '\0';
    return c != EOF || length > 0;
}

static bool parse_number(const char *text, const char *unit, uint64_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    *number = value;
    return at != text && strcmp(at, unit) == 0;
}

static bool parse_time(const char *text, uint64_t *time)
{
    if (strcmp(text, "0") == 0)
        *time = 0;
    else if (!parse_number(text, "ps", time) && !time_parse(text, time))
        return false;
    return *time <= TIME_LONGEST;
}

static int parse_member(struct trace_reader *reader, const char *text, const char *what,
                        size_t count, uint32_t *member)
{
    uint64_t number;
    if (!parse_number(text, "", &number))
        return FAIL(reader, "'%s' is not the number of a %s", text, what);
    if (number >= count)
        return FAIL(reader, "there is no %s %s: the traffic has %zu, numbered from 0", what, text,
                    count);
    *member = (uint32_t)number;
    return 0;
}

static int parse_packet(struct trace_reader *reader, char *const words[WORDS])
{
    const struct traffic *traffic = reader->traffic;
    struct traffic_trace_entry entry = {0};
    uint64_t bytes;
    if (!parse_time(words[0], &entry.time))
        return FAIL(reader, "'%s' is not a time such as 1.5us, of 100 days at most", words[0]);
    int status = parse_member(reader, words[1], "sender", traffic->senders.count, &entry.sender);
    if (!status)
        status =
            parse_member(reader, words[2], "receiver", traffic->receivers.count, &entry.receiver);
    if (status)
        return status;
    if (traffic->senders.items[entry.sender] == traffic->receivers.items[entry.receiver])
        return FAIL(reader, "sender %s and receiver %s are the same port", words[1], words[2]);
    if (!parse_number(words[3], "", &bytes) || bytes == 0 || bytes > TRAFFIC_LARGEST_PAYLOAD)
        return FAIL(reader, "'%s' is not the size of a packet: 1 … %d bytes are possible", words[3],
                    TRAFFIC_LARGEST_PAYLOAD);
    entry.payload_bytes = (uint32_t)bytes;
    if (reader->entries.count == ENTRIES_LIMIT)
        return FAIL(reader, "more than %d packets", ENTRIES_LIMIT);
    vec_push(&reader->entries, entry);
    return 0;
}

static int parse_line(struct trace_reader *reader, char *line)
{
    char *words[WORDS + 1], *rest = NULL;
    unsigned count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word && count <= WORDS;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (count == 0)
        return 0;
    if (count != WORDS)
        return FAIL(reader, "%s words than the four of TIME SENDER RECEIVER BYTES",
                    count < WORDS ? "fewer" : "more");
    return parse_packet(reader, words);
}

static bool is_later(const struct traffic_trace_entry *a, const struct traffic_trace_entry *b)
{
    return a->sender != b->sender ? a->sender > b->sender : a->time > b->time;
}

/* Merges the neighbouring runs from[low … middle) and from[middle … high); of equals the left one
 * goes first. */
static void merge(struct traffic_trace_entry *to, const struct traffic_trace_entry *from,
                  size_t low, size_t middle, size_t high)
{
    size_t left = low, right = middle;
    for (size_t i = low; i < high; i++)
        if (right == high || (left < middle && !is_later(&from[left], &from[right])))
            to[i] = from[left++];
        else
            to[i] = from[right++];
}

/* By merging, not by qsort(): the order of equals must be that of the file on every machine. */
static void sort(struct traffic_trace_entry *entries, size_t count)
{
    struct traffic_trace_entry *spare = mem_realloc(NULL, count, sizeof *spare);
    struct traffic_trace_entry *from = entries, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = middle + width < count ? middle + width : count;
            merge(to, from, low, middle, high);
        }
        struct traffic_trace_entry *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != entries)
        memcpy(entries, from, count * sizeof *entries);
    mem_free(spare);
}

static int read_entries(struct trace_reader *reader, FILE *file)
{
    char line[LINE_BYTES];
    int status;
    while ((status = read_line(reader, file, line)) > 0) {
        status = parse_line(reader, line);
        if (status)
            return status;
    }
    if (!status && reader->entries.count == 0)
        status = err_at(reader->err, EINVAL, reader->path, 0, "there is no packet in this trace");
    return status;
}

int traffic_read_trace(struct traffic *traffic, const char *path, struct err *err)
{
    struct trace_reader reader = {.traffic = traffic, .path = path, .err = err};
    FILE *file = fopen(path, "re");
    if (!file)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    int status = read_entries(&reader, file);
    fclose(file);
    if (status) {
        vec_release(&reader.entries);
        return status;
    }
    sort(reader.entries.items, reader.entries.count);
    vec_release(&traffic->trace);
    traffic->trace.items = reader.entries.items;
    traffic->trace.count = reader.entries.count;
    traffic->trace.capacity = reader.entries.capacity;
    return 0;
}
