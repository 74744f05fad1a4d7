/* The body of a response to a scrape, printed block by block as the HTTP server sends it: first
 * summary and process, then the ports. So the text of all ports is never in memory at once. */
#include "host/metrics/metrics_page.h"

#include "host/metrics/process.h"

#include <string.h>

enum { BLOCK_BYTES = 128 * 1024 };

struct metrics_page {
    struct port_metrics *ports;
    void *summary;
    void (*print)(const void *summary, const struct port_metrics *ports, struct text *out);
    void (*free_summary)(void *summary);
    bool begun;
    struct port_metrics_position position;
    struct text block; /* printed, and sent up to `sent` */
    size_t sent;
};

struct metrics_page *metrics_page_new(struct port_metrics *ports, void *summary,
                                      void (*print)(const void *summary,
                                                    const struct port_metrics *ports,
                                                    struct text *out),
                                      void (*free_summary)(void *summary))
{
    struct metrics_page *page = mem_zalloc(1, sizeof *page);
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
        page->print(page->summary, page->ports, &page->block);
        process_metrics_print(&page->block);
    } else {
        port_metrics_print(page->ports, &page->position, &page->block, BLOCK_BYTES);
    }
    page->begun = true;
}

size_t metrics_page_generate(void *context, char *buffer, size_t size)
{
    struct metrics_page *page = context;
    if (page->sent == page->block.length)
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
