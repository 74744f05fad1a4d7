/* A self-contained HTML page: sections of text, tables, tiles and charts.
 *
 * Style, pictures and the script that draws charts (web/src/report) are inline. A content security
 * policy forbids fetching anything and running any other script. The page supports light and dark
 * mode and is light when printed. It is well-formed XML. The functions escape all texts. */
#ifndef WEFT_EXPERIMENT_REPORT_PAGE_H
#define WEFT_EXPERIMENT_REPORT_PAGE_H

#include "base/err.h"
#include "base/text.h"
#include "experiment/chart/chart.h"

struct page {
    struct text head, contents, body;
    unsigned sections, parts, charts;
    bool wide;              /* for two charts side by side on a screen of 1,300 pixels */
    size_t columns, column; /* of the current table */
    unsigned numbers;       /* bit by column: right-aligned */
};

/* `lead` is the line under the title; may be "". */
void page_begin(struct page *page, const char *title, const char *lead);
void page_release(struct page *page);

/* The summary in one sentence, at the top. */
enum page_tone { PAGE_PLAIN, PAGE_GOOD, PAGE_BAD, PAGE_STRONG };
void page_verdict(struct page *page, enum page_tone tone, const char *sentence);

void page_section(struct page *page, const char *heading); /* listed in the contents */
void page_subsection(struct page *page, const char *heading);
/* A part of a section, listed in the contents below it. */
void page_part(struct page *page, const char *heading);
/* A paragraph; the class "note" makes it smaller. */
void page_text(struct page *page, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define page_paragraph(page, ...) page_text(page, "", __VA_ARGS__)
#define page_note(page, ...)      page_text(page, "note", __VA_ARGS__)
void page_code(struct page *page, const char *text); /* preformatted */

/* Columns side by side: begin, next before each further column, end. */
void page_begin_columns(struct page *page);
void page_next_column(struct page *page);
void page_end_columns(struct page *page);

/* A row of the most important numbers. */
void page_begin_tiles(struct page *page);
void page_tile(struct page *page, const char *value, const char *label);
void page_end_tiles(struct page *page);

/* Tables are filled cell by cell. Headings that begin with '>' mark columns of numbers, which are
 * right-aligned. At most 32 columns. */
void page_begin_table(struct page *page, const char *const *headings, size_t count);
void page_cell(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_toned_cell(struct page *page, enum page_tone tone, const char *text);
void page_bar_cell(struct page *page, double share, unsigned colour); /* share of the longest bar */
void page_end_table(struct page *page);

/* Charts become panels of one plot (chart_json.h), with the data below it. `caption` may be "". */
void page_chart(struct page *page, const struct chart *charts, size_t count, const char *caption);
/* A trusted <svg> element of another program; dark pages invert its brightness. */
void page_picture(struct page *page, const char *svg, const char *caption);

/* The whole page. */
void page_finish(const struct page *page, struct text *out);
int page_write(const struct page *page, const char *path, struct err *err);

#endif
