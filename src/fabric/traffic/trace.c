/* Trace files: packets as a program or a real machine sent them.
 *
 * Each line is one packet, "TIME SENDER RECEIVER BYTES". Times carry a unit ("1.5us"); whole
 * picoseconds may have any number of digits ("1234567890123ps"), and 0 needs no unit. A line is a
 * packet, not a message: the writer of a trace splits messages larger than an MTU. A failed read
 * changes nothing. */
#include "fabric/traffic/internal.h"

#include "base/line_reader.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 512 << 20, ENTRIES_LIMIT = 10 * 1000 * 1000 };

static bool parse_time(const char *text, uint64_t *time)
{
    char *unit;
    errno = 0;
    *time = strtoull(text, &unit, 10);
    bool is_whole = isdigit((unsigned char)text[0]) && !errno && strcmp(unit, "ps") == 0;
    return (is_whole || strcmp(text, "0") == 0 || time_parse(text, time)) && *time <= TIME_LONGEST;
}

static int read_packet(struct cursor *cursor, const struct traffic *traffic, struct traffic *read)
{
    struct word time;
    uint64_t ps = 0, sender, receiver, bytes;
    if (cursor_take(cursor, "a time such as 1.5us", &time) == 0 && !parse_time(time.text, &ps))
        word_error(cursor, &time, "'%.80s' is not a time such as 1.5us, of 100 days at most",
                   time.text);
    cursor_take_number(cursor, "the number of a sender", 0, traffic->senders.count - 1, &sender);
    cursor_take_number(cursor, "the number of a receiver", 0, traffic->receivers.count - 1,
                       &receiver);
    cursor_take_number(cursor, "the size of a packet", 1, TRAFFIC_LARGEST_PAYLOAD, &bytes);
    if (cursor_take_end(cursor) < 0)
        return cursor->status;
    if (traffic->senders.items[sender] == traffic->receivers.items[receiver])
        return word_error(cursor, &time, "sender %llu and receiver %llu are the same port",
                          (unsigned long long)sender, (unsigned long long)receiver);
    if (read->trace.count == ENTRIES_LIMIT)
        return word_error(cursor, &time, "more than %d packets", ENTRIES_LIMIT);
    vec_push(&read->trace, ((struct traffic_trace_entry){
                               .time = ps,
                               .sender = (uint32_t)sender,
                               .receiver = (uint32_t)receiver,
                               .payload_bytes = (uint32_t)bytes,
                               .order = (uint32_t)read->trace.count,
                           }));
    return 0;
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
    struct cursor cursor;
    if (!traffic->senders.count || !traffic->receivers.count)
        return err_at(err, EINVAL, path, 0, "a trace needs senders and receivers");
    reader->limit = FILE_BYTES;
    while (line_reader_next(reader, &cursor))
        reader->status = read_packet(&cursor, traffic, &read);
    if (!reader->status && !read.trace.count)
        reader->status = err_at(err, EINVAL, path, 0, "there is no packet in this trace");
    if (reader->status) {
        vec_release(&read.trace);
        return reader->status;
    }
    assert(read.trace.items);
    qsort(read.trace.items, read.trace.count, sizeof *read.trace.items, compare_entries);
    vec_release(&traffic->trace);
    traffic->trace = read.trace;
    return 0;
}
