/* Trace files: packets as a program or a real machine sent them.
 *
 * Each line is one packet, "TIME SENDER RECEIVER BYTES". Times carry a unit ("1.5us"); whole
 * picoseconds may have any number of digits ("1234567890123ps"), and 0 needs no unit. A line is a
 * packet, not a message: the writer of a trace splits messages larger than an MTU. A failed read
 * changes nothing. */
#include "fabric/traffic_internal.h"

#include "base/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 256,
    FILE_BYTES = 512 << 20,
    ENTRIES_LIMIT = 10 * 1000 * 1000,
    WORDS = 4,
};

static bool parse_digits(const char *text, const char *unit, uint64_t *number)
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
    else if (!parse_digits(text, "ps", time) && !time_parse(text, time))
        return false;
    return *time <= TIME_LONGEST;
}

static int parse_member(struct line_reader *reader, const char *text, const char *what,
                        size_t count, uint32_t *member)
{
    uint64_t number;
    if (!parse_digits(text, "", &number))
        return line_reader_error(reader, "'%s' is not the number of a %s", text, what);
    if (number >= count)
        return line_reader_error(reader, "there is no %s %s: the traffic has %zu, numbered from 0",
                                 what, text, count);
    *member = (uint32_t)number;
    return 0;
}

static int parse_packet(struct line_reader *reader, const struct traffic *traffic,
                        struct traffic *read, char *const words[WORDS])
{
    struct traffic_trace_entry entry = {0};
    uint64_t bytes;
    if (!parse_time(words[0], &entry.time))
        return line_reader_error(reader, "'%s' is not a time such as 1.5us, of 100 days at most",
                                 words[0]);
    int status = parse_member(reader, words[1], "sender", traffic->senders.count, &entry.sender);
    if (!status)
        status =
            parse_member(reader, words[2], "receiver", traffic->receivers.count, &entry.receiver);
    if (status)
        return status;
    if (traffic->senders.items[entry.sender] == traffic->receivers.items[entry.receiver])
        return line_reader_error(reader, "sender %s and receiver %s are the same port", words[1],
                                 words[2]);
    if (!parse_digits(words[3], "", &bytes) || bytes == 0 || bytes > TRAFFIC_LARGEST_PAYLOAD)
        return line_reader_error(reader,
                                 "'%s' is not the size of a packet: 1 … %d bytes are possible",
                                 words[3], TRAFFIC_LARGEST_PAYLOAD);
    entry.payload_bytes = (uint32_t)bytes;
    if (read->trace.count == ENTRIES_LIMIT)
        return line_reader_error(reader, "more than %d packets", ENTRIES_LIMIT);
    entry.order = (uint32_t)read->trace.count;
    vec_push(&read->trace, entry);
    return 0;
}

static int parse_line(struct line_reader *reader, const struct traffic *traffic,
                      struct traffic *read)
{
    char *words[WORDS + 1], *rest = NULL;
    unsigned count = 0;
    if (reader->line_length >= LINE_BYTES)
        return line_reader_error(reader, "the line is longer than %d bytes", LINE_BYTES - 1);
    char *line = reader->copy;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word && count <= WORDS;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (count == 0)
        return 0;
    if (count != WORDS)
        return line_reader_error(reader, "%s words than the four of TIME SENDER RECEIVER BYTES",
                                 count < WORDS ? "fewer" : "more");
    return parse_packet(reader, traffic, read, words);
}

/* By sender, then time, then position in the file. */
static int compare_entries(const void *a, const void *b)
{
    const struct traffic_trace_entry *x = a, *y = b;
    if (x->sender != y->sender)
        return x->sender < y->sender ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

int traffic_read_trace(struct traffic *traffic, const char *path, struct err *err)
{
    struct line_reader *reader = from_file(path, err);
    struct traffic read = {0};
    reader->limit = FILE_BYTES;
    while (line_reader_next_line(reader))
        parse_line(reader, traffic, &read);
    if (!reader->status && !read.trace.count)
        reader->status = err_at(err, EINVAL, path, 0, "there is no packet in this trace");
    if (reader->status) {
        vec_release(&read.trace);
        return reader->status;
    }
    qsort(read.trace.items, read.trace.count, sizeof *read.trace.items, compare_entries);
    vec_release(&traffic->trace);
    traffic->trace = read.trace;
    return 0;
}
