#include "cli/fabric_traffic.h"

#include "experiment/scenario/traffic_spec.h"

static int bind_statement(struct cursor *cursor, const struct traffic_spec_world *world,
                          struct traffic *traffic)
{
    struct traffic_spec spec;
    cursor_accept(cursor, "traffic");
    traffic_spec_read(&spec, cursor);
    if (cursor_take_end(cursor))
        return cursor->status;
    if (spec.start.settled || spec.stop.settled)
        return word_error(cursor, &spec.word,
                          "times count from the start of the fabric, not from 'settled'");
    if (spec.stopped)
        return word_error(cursor, &spec.word, "'stopped' belongs to scenarios");
    return traffic_spec_bind(&spec, world, cursor, traffic);
}

int fabric_traffics_read(struct fabric_traffics *traffics, const struct option_values *values,
                         const struct topology *topology, const struct fabric_options *options,
                         struct err *err)
{
    const struct traffic_spec_world world = {topology, options, ".", NULL, 0};
    int status = 0;
    for (size_t i = 0; i < values->count && status == 0; i++) {
        struct text line = {0};
        struct traffic traffic = {0};
        struct cursor cursor;
        text_printf(&line, "traffic %s", values->items[i]);
        struct line_reader *reader = from_text("--traffic", line.data, err);
        while (line_reader_next(reader, &cursor))
            reader->status = bind_statement(&cursor, &world, &traffic);
        status = reader->status;
        if (status == 0)
            vec_push(traffics, traffic);
        else
            traffic_release(&traffic);
        text_release(&line);
    }
    return status;
}

void fabric_traffics_release(struct fabric_traffics *traffics)
{
    for (size_t i = 0; i < traffics->count; i++)
        traffic_release(&traffics->items[i]);
    vec_release(traffics);
}
