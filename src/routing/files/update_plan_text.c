/* Update plans as text, for `weft verify --transition`. */
#include "routing/files/update_plan_text.h"

#include "base/map.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

static void write_update(const struct table_update *update, const struct network *network,
                         struct text *out)
{
    text_printf(out, "update 0x%016" PRIx64 " %u", network->switches.items[update->at].guid,
                update->first_lid);
    if (update->lid_count > 1)
        text_printf(out, "-%u", update->first_lid + update->lid_count - 1u);
    text_putc(out, '\n');
}

void update_plan_write(const struct update_plan *plan, const struct network *network,
                       struct text *out)
{
    for (size_t wave = 0; wave < plan->waves.count; wave++) {
        const struct update_wave *item = &plan->waves.items[wave];
        if (wave || item->drain)
            text_puts(out, item->drain ? "drain\n" : "wait\n");
        for (uint32_t i = item->first; i < item->first + item->count; i++)
            write_update(&plan->updates.items[i], network, out);
    }
    if (plan->stuck_vls) {
        text_puts(out, "hold");
        for (unsigned vl = 0; vl < UPDATE_PLAN_VLS; vl++)
            if (plan->stuck_vls >> vl & 1)
                text_printf(out, " %u", vl);
        text_putc(out, '\n');
    }
    for (size_t i = 0; i < plan->stuck.count; i++)
        write_update(&plan->stuck.items[i], network, out);
}

struct plan_reader {
    struct update_plan *plan;
    struct map by_guid;
    struct line_reader *lines;
    bool open;  /* further updates belong to the last wave */
    bool drain; /* before the next wave */
};

static bool scan_lid(const char **at, uint32_t *lid)
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

static void open_wave(struct plan_reader *reader)
{
    struct update_plan *plan = reader->plan;
    vec_push(&plan->waves, ((struct update_wave){.first = (uint32_t)plan->updates.count,
                                                 .drain = reader->drain}));
    reader->open = true;
    reader->drain = false;
}

/* "<switch GUID> [<LID>[-<LID>]]" */
static int take_update(struct plan_reader *reader, struct cursor *line)
{
    const char *guid_text = line->count > 1 ? line->words[1].text : "";
    uint32_t first = 0, last = NETWORK_TOP_LID;
    uint64_t guid;
    bool sound =
        line->count <= 3 && strncmp(guid_text, "0x", 2) == 0 && parse_number(guid_text, &guid);
    if (sound && line->count == 3) {
        const char *at = line->words[2].text;
        sound = scan_lid(&at, &first);
        last = first;
        if (sound && *at == '-')
            sound = (++at, scan_lid(&at, &last));
        sound = sound && !*at && last >= first;
    }
    if (!sound)
        return line_reader_error(reader->lines,
                                 "expected \"update <switch GUID> [<LID>[-<LID>]]\"");
    uint32_t index = map_get(&reader->by_guid, guid);
    if (index == MAP_NONE)
        return line_reader_error(reader->lines, "the network has no switch with that GUID");
    struct update_plan *plan = reader->plan;
    struct table_update update = {index, (uint16_t)first, (uint16_t)(last - first + 1)};
    if (plan->stuck_vls) {
        vec_push(&plan->stuck, update);
        return 0;
    }
    if (!reader->open)
        open_wave(reader);
    vec_push(&plan->updates, update);
    plan->waves.items[plan->waves.count - 1].count++;
    return 0;
}

static int take_hold(struct plan_reader *reader, struct cursor *line)
{
    struct update_plan *plan = reader->plan;
    for (unsigned i = 1; i < line->count; i++) {
        uint64_t vl;
        if (!parse_bounded(line->words[i].text, 0, UPDATE_PLAN_VLS - 1, &vl))
            return line_reader_error(reader->lines, "expected \"hold <VL> ...\"");
        plan->stuck_vls |= (uint16_t)(1u << vl);
    }
    if (!plan->stuck_vls)
        return line_reader_error(reader->lines, "expected \"hold <VL> ...\"");
    reader->drain = false; /* a hold includes one */
    return 0;
}

static int take_line(struct plan_reader *reader, struct cursor *line)
{
    const char *word = line->words[0].text;
    bool drain = strcmp(word, "drain") == 0;
    if (strcmp(word, "update") == 0)
        return take_update(reader, line);
    if (reader->plan->stuck_vls)
        return line_reader_error(reader->lines, "after a hold there are only updates");
    if (strcmp(word, "hold") == 0)
        return take_hold(reader, line);
    if (line->count != 1 || (!drain && strcmp(word, "wait") != 0))
        return line_reader_error(reader->lines, "expected update, wait, drain or hold");
    reader->open = false;
    reader->drain |= drain;
    return 0;
}

int update_plan_read(struct update_plan *plan, const struct network *network,
                     struct line_reader *lines)
{
    enum { FILE_LIMIT = 1 << 30 };
    struct plan_reader reader = {.plan = plan, .lines = lines};
    struct cursor line;
    *plan = (struct update_plan){0};
    lines->limit = FILE_LIMIT;
    for (uint32_t i = 0; i < network->switches.count; i++)
        map_add(&reader.by_guid, network->switches.items[i].guid, i);
    while (line_reader_next(lines, &line))
        take_line(&reader, &line);
    if (reader.drain)
        open_wave(&reader); /* before sources use new service levels */
    map_release(&reader.by_guid);
    if (lines->status)
        update_plan_release(plan);
    return lines->status;
}
