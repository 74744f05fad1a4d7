/* Update plans as text, for `weft verify --transition` and for people. */
#include "routing/files/order_text.h"

#include "base/file.h"

#include "base/map.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 30 };

static void write_update(const struct order_update *update, const struct network *network,
                         struct text *out)
{
    text_printf(out, "update 0x%016" PRIx64 " %u", network->switches.items[update->at].guid,
                update->first_lid);
    if (update->lid_count > 1)
        text_printf(out, "-%u", update->first_lid + update->lid_count - 1u);
    text_putc(out, '\n');
}

void order_write(const struct order_plan *plan, const struct network *network, struct text *out)
{
    for (size_t wave = 0; wave < plan->waves.count; wave++) {
        const struct order_wave *item = &plan->waves.items[wave];
        if (wave || item->drain)
            text_puts(out, item->drain ? "drain\n" : "wait\n");
        for (uint32_t i = item->first; i < item->first + item->count; i++)
            write_update(&plan->updates.items[i], network, out);
    }
    if (plan->stuck_lanes) {
        text_puts(out, "hold");
        for (unsigned lane = 0; lane < ORDER_LANES; lane++)
            if (plan->stuck_lanes >> lane & 1)
                text_printf(out, " %u", lane);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < plan->stuck.count; i++)
        write_update(&plan->stuck.items[i], network, out);
}

struct order_reader {
    struct order_plan *plan;
    struct map by_guid;
    const char *name;
    struct err *err;
    unsigned line;
    bool open;  /* the last wave takes more updates */
    bool drain; /* before the next wave */
};

static int fail(const struct order_reader *reader, const char *what)
{
    return err_at(reader->err, EINVAL, reader->name, reader->line, "%s", what);
}

static bool scan_lid(char **at, uint32_t *lid)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    if (value > NETWORK_TOP_LID)
        return false;
    *lid = (uint32_t)value;
    *at = end;
    return true;
}

static void open_wave(struct order_reader *reader)
{
    struct order_plan *plan = reader->plan;
    vec_push(&plan->waves,
             ((struct order_wave){.first = (uint32_t)plan->updates.count, .drain = reader->drain}));
    reader->open = true;
    reader->drain = false;
}

static void add_update(struct order_reader *reader, struct order_update update)
{
    struct order_plan *plan = reader->plan;
    if (plan->stuck_lanes) {
        vec_push(&plan->stuck, update);
        return;
    }
    if (!reader->open)
        open_wave(reader);
    vec_push(&plan->updates, update);
    plan->waves.items[plan->waves.count - 1].count++;
}

static int take_update(struct order_reader *reader, char *at)
{
    static const char expected[] = "expected \"update <switch GUID> [<LID>[-<LID>]]\"";
    char *end;
    uint32_t first = 0, last = NETWORK_TOP_LID;
    at += strspn(at, " \t");
    if (at[0] != '0' || at[1] != 'x')
        return fail(reader, expected);
    uint64_t guid = strtoull(at, &end, 16);
    uint32_t index = map_get(&reader->by_guid, guid);
    if (index == MAP_NONE)
        return fail(reader, "the network has no switch with that GUID");
    at = end + strspn(end, " \t");
    if (*at) {
        if (!scan_lid(&at, &first))
            return fail(reader, expected);
        last = first;
        if (*at == '-' && (++at, !scan_lid(&at, &last)))
            return fail(reader, expected);
        if (at[strspn(at, " \t")] || last < first)
            return fail(reader, expected);
    }
    struct order_update update = {
        .at = index, .first_lid = (uint16_t)first, .lid_count = (uint16_t)(last - first + 1)};
    add_update(reader, update);
    return 0;
}

static int take_hold(struct order_reader *reader, char *at)
{
    struct order_plan *plan = reader->plan;
    for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
        uint32_t lane;
        if (!scan_lid(&at, &lane) || lane >= ORDER_LANES || (*at && !strchr(" \t", *at)))
            return fail(reader, "expected \"hold <lane> ...\"");
        plan->stuck_lanes |= (uint16_t)(1u << lane);
    }
    if (!plan->stuck_lanes)
        return fail(reader, "expected \"hold <lane> ...\"");
    reader->drain = false; /* a hold has one */
    return 0;
}

static int take_line(struct order_reader *reader, char *line)
{
    line[strcspn(line, "#\r")] = '\0';
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    const char *rest = line + length;
    bool alone = rest[strspn(rest, " \t")] == '\0';
    if (length == 0)
        return 0;
    if (length == 6 && strncmp(line, "update", length) == 0)
        return take_update(reader, line + length);
    if (reader->plan->stuck_lanes)
        return fail(reader, "after a hold there are only updates");
    if (length == 4 && strncmp(line, "hold", length) == 0)
        return take_hold(reader, line + length);
    bool drain = length == 5 && strncmp(line, "drain", length) == 0;
    if (!alone || (!drain && !(length == 4 && strncmp(line, "wait", length) == 0)))
        return fail(reader, "expected update, wait, drain or hold");
    reader->open = false;
    reader->drain |= drain;
    return 0;
}

int order_parse(struct order_plan *plan, const struct network *network, const char *name,
                const char *text, struct err *err)
{
    struct order_reader reader = {.plan = plan, .name = name, .err = err};
    char line[256];
    int rc = 0;
    *plan = (struct order_plan){0};
    for (uint32_t i = 0; i < network->switches.count; i++)
        map_add(&reader.by_guid, network->switches.items[i].guid, i);
    for (reader.line = 1; *text && !rc; reader.line++) {
        const char *end = strchrnul(text, '\n');
        int length = (int)(end - text < 255 ? end - text : 255);
        snprintf(line, sizeof line, "%.*s", length, text);
        rc = text + length < end ? fail(&reader, "the line is too long") : take_line(&reader, line);
        text = *end ? end + 1 : end;
    }
    if (reader.drain)
        open_wave(&reader); /* before sources hear of new service levels */
    map_release(&reader.by_guid);
    if (rc)
        order_release(plan);
    return rc;
}

int order_read(struct order_plan *plan, const struct network *network, const char *path,
               struct err *err)
{
    struct text text;
    int rc = file_read(path, FILE_LIMIT, &text, err);
    *plan = (struct order_plan){0};
    if (!rc)
        rc = order_parse(plan, network, path, text.data, err);
    text_release(&text);
    return rc;
}
