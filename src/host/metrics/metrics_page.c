/* The body of a response to a scrape, printed block by block as the HTTP server sends it: first
 * summary and process, then the ports. So the text of all ports is never in memory at once. */
#include "host/metrics/metrics_page.h"

#include "host/metrics/format.h"
#include "host/metrics/process.h"

#include <errno.h>
#include <string.h>

enum { BLOCK_BYTES = 128 * 1024 };

enum { PART_SUMMARY = 1, PART_PROCESS = 2, PART_SWITCHES = 4, PART_ADAPTERS = 8 };

static const struct page_part {
    const char *name;
    unsigned bits;
} parts[] = {{"manager", PART_SUMMARY},   {"fabric", PART_SUMMARY},
             {"process", PART_PROCESS},   {"ports", PART_SWITCHES | PART_ADAPTERS},
             {"switches", PART_SWITCHES}, {"adapters", PART_ADAPTERS}};

struct metrics_page {
    struct metrics_choice choice;
    struct port_metrics *ports;
    void *summary;
    void (*print)(const void *summary, const struct port_metrics *ports, struct text *out);
    void (*free_summary)(void *summary);
    bool begun, ended;
    struct port_metrics_position position;
    struct text block; /* printed, and sent up to `sent` */
    size_t sent;
};

/* Appends the parts that a comma-separated list names. */
static int read_parts(const char *list, unsigned allowed, unsigned *bits, struct err *err)
{
    while (*list) {
        size_t length = strcspn(list, ","), i = 0;
        while (i < sizeof parts / sizeof *parts &&
               (strlen(parts[i].name) != length || strncmp(parts[i].name, list, length) != 0 ||
                (parts[i].bits & ~allowed)))
            i++;
        if (i == sizeof parts / sizeof *parts)
            return err_set(err, EINVAL,
                           "'%.*s' is not a part of the metrics: %sswitches or adapters",
                           (int)(length < 80 ? length : 80), list,
                           allowed & PART_SUMMARY ? "manager (or fabric), process, ports, " : "");
        *bits |= parts[i].bits;
        list += length + (list[length] == ',');
    }
    return 0;
}

int metrics_choice_add(struct metrics_choice *choice, const char *name, const char *value,
                       struct err *err)
{
    size_t length = strlen(choice->names);
    if (strcmp(name, "collect") == 0 || strcmp(name, "collect[]") == 0)
        return read_parts(value, ~0u, &choice->collect, err);
    if (strcmp(name, "ports") == 0)
        return read_parts(value, PART_SWITCHES | PART_ADAPTERS, &choice->ports, err);
    if (strcmp(name, "names") != 0)
        return err_set(err, EINVAL, "'%.80s' is not a parameter of /metrics: collect, ports, names",
                       name);
    if (length + strlen(value) + 2 > sizeof choice->names)
        return err_set(err, EINVAL, "names: the limit is %zu bytes", sizeof choice->names - 2);
    snprintf(choice->names + length, sizeof choice->names - length, "%s%s", length ? "," : "",
             value);
    return 0;
}

static unsigned wanted_parts(const struct metrics_choice *choice)
{
    unsigned ports = PART_SWITCHES | PART_ADAPTERS;
    return (choice->collect ? choice->collect : ~0u) &
           (choice->ports ? choice->ports | ~ports : ~0u);
}

/* Removes families whose names are not wanted. */
static void filter_families(const char *names, struct text *text)
{
    static const char begin[] = "# HELP ";
    char *to = text->data, *at = text->data;
    bool keep = true;
    for (size_t bytes; at && *at; at += bytes) {
        bytes = strcspn(at, "\n");
        bytes += at[bytes] == '\n';
        if (strncmp(at, begin, sizeof begin - 1) == 0)
            keep =
                metric_is_named(names, at + sizeof begin - 1, strcspn(at + sizeof begin - 1, " "));
        if (!keep)
            continue;
        memmove(to, at, bytes);
        to += bytes;
    }
    text->length = (size_t)(to - text->data);
}

struct metrics_page *metrics_page_new(
    const struct metrics_choice *choice, struct port_metrics *ports, void *summary,
    void (*print)(const void *summary, const struct port_metrics *ports, struct text *out),
    void (*free_summary)(void *summary))
{
    struct metrics_page *page = mem_zalloc(1, sizeof *page);
    page->choice = *choice;
    page->position.names = page->choice.names;
    page->position.skipped[false] = !(wanted_parts(choice) & PART_ADAPTERS);
    page->position.skipped[true] = !(wanted_parts(choice) & PART_SWITCHES);
    page->ports = ports;
    page->summary = summary;
    page->print = print;
    page->free_summary = free_summary;
    return page;
}

static void print_block(struct metrics_page *page)
{
    text_clear(&page->block);
    page->sent = 0;
    if (!page->begun) {
        text_puts(&page->block, ""); /* a scraper may want neither */
        if (wanted_parts(&page->choice) & PART_SUMMARY)
            page->print(page->summary, page->ports, &page->block);
        if (wanted_parts(&page->choice) & PART_PROCESS)
            process_metrics_print(&page->block);
        if (*page->choice.names)
            filter_families(page->choice.names, &page->block);
    } else {
        page->ended = !port_metrics_print(page->ports, &page->position, &page->block, BLOCK_BYTES);
    }
    page->begun = true;
}

size_t metrics_page_generate(void *context, char *buffer, size_t size)
{
    struct metrics_page *page = context;
    while (page->sent == page->block.length && !page->ended)
        print_block(page);
    size_t part = page->block.length - page->sent;
    part = part < size ? part : size;
    if (part)
        memcpy(buffer, page->block.data + page->sent, part);
    page->sent += part;
    return part;
}

void metrics_page_free(void *context)
{
    struct metrics_page *page = context;
    port_metrics_release(page->ports);
    page->free_summary(page->summary);
    text_release(&page->block);
    mem_free(page);
}
