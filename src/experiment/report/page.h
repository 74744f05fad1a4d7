/* A self-contained HTML page: title, verdict and picture as HTML, everything else as one block of
 * JSON that the script of web/src/report turns into text, tables and plots.
 *
 * Style, picture and script are inline. A content security policy forbids fetching anything and
 * running any other script. The page is well-formed XML. Without JavaScript, or if weft was built
 * without npm, readers see the title, the verdict, the picture and the data. */
#ifndef WEFT_EXPERIMENT_REPORT_PAGE_H
#define WEFT_EXPERIMENT_REPORT_PAGE_H

#include "base/err.h"
#include "base/text.h"

/* A page must not be moved between page_begin() and page_release(). */
struct page {
    struct text title, lead, verdict, svg, data;
    bool good, bad;   /* the tone of the verdict */
    struct json json; /* an open object; the types of its members are in web/src/report/data.ts */
};

/* `kind` selects the script's view: "run", "sweep", "whatif", "ranking" or "papers". `lead` is the
 * line under the title; may be "". */
void page_begin(struct page *page, const char *kind, const char *title, const char *lead);
void page_release(struct page *page);

/* The whole page. */
void page_finish(struct page *page, struct text *out);
/* A page without content: {{title}}, {{lead}}, {{verdict}}, {{tone}} ("good", "bad") and {{data}}
 * stand for it. */
void page_put_frame(struct text *out);
int page_write(struct page *page, const char *path, struct err *err);

#endif
