/* The content of a scrape: generated in pieces by the thread of the HTTP server. */
#ifndef WEFT_HOST_METRICS_METRICS_PAGE_H
#define WEFT_HOST_METRICS_METRICS_PAGE_H

#include "base/err.h"
#include "host/metrics/port_metrics.h"

struct metrics_page;

/* What a scraper wants: the parameters of a request (weft-metrics(7)). All zero: everything. */
struct metrics_choice {
    unsigned collect, ports; /* parts, by bit; 0: all */
    char names[512];         /* of families, comma-separated; the last character may be * */
};
int metrics_choice_add(struct metrics_choice *choice, const char *name, const char *value,
                       struct err *err);

/* Takes over one hold of `ports`, and `summary` with what it points to: `print` prints it first and
 * `free_summary` frees it. */
struct metrics_page *metrics_page_new(
    const struct metrics_choice *choice, struct port_metrics *ports, void *summary,
    void (*print)(const void *summary, const struct port_metrics *ports, struct text *out),
    void (*free_summary)(void *summary));
/* As http_response.generate and .release. */
size_t metrics_page_generate(void *page, char *buffer, size_t size);
void metrics_page_free(void *page);

#endif
