/* The papers: authors, title, venue and year, and the experiments that belong to each. Read from
 * experiments/papers:
 *
 *   paper NAME "AUTHORS" "TITLE" "VENUE" YEAR [with FOLDER ...]
 *
 * A folder whose name begins with NAME and a hyphen belongs to that paper, and so do the folders
 * after `with`. */
#ifndef WEFT_REPRODUCE_PAPERS_H
#define WEFT_REPRODUCE_PAPERS_H

#include "base/err.h"
#include "base/mem.h"

#include <stdint.h>

struct paper {
    const char *key, *authors, *title, *venue;
    uint64_t year;
    VEC(const char *) folders; /* after `with` */
};
struct papers {
    VEC(struct paper) items;
    struct arena arena;
};

/* On error nothing needs to be released. */
int papers_read(struct papers *papers, const char *path, struct err *err);
void papers_release(struct papers *papers);
/* The paper that a folder belongs to, or NULL. */
const struct paper *papers_find(const struct papers *papers, const char *folder);

#endif
