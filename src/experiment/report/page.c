#include "experiment/report/page.h"

#include "base/file.h"
#include "experiment/chart/chart_json.h"
#include "experiment/chart/markup.h"
#include "web/files.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { CONTENTS_FROM = 4, COLUMNS_MOST = 32 };

static const char style[] =
    ":root{color-scheme:light dark}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:62rem;padding:2rem 1.5rem 3rem;font:15px/1.5 system-ui,"
    "-apple-system,'Segoe UI','DejaVu Sans',sans-serif;color:#1d232a;background:#fff}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .2rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.2rem;margin:2.4rem 0 .6rem;padding-bottom:.25rem;"
    "border-bottom:1px solid #d5dae0}\n"
    "h3{font-size:1rem;margin:1.4rem 0 .4rem}\n"
    "p{margin:.5rem 0;max-width:50rem}.lead,.note,figcaption,footer{color:#5a636e}\n"
    ".lead{margin:0}.note,figcaption{font-size:.87rem}figcaption{margin:.3rem 0 0 .4rem}\n"
    ".verdict{margin:1.1rem 0;padding:.7rem 1rem;border-left:5px solid #5a636e;background:#f3f5f7;"
    "font-size:1.08rem;max-width:none}\n"
    ".verdict.good{border-color:#00825f;background:#e9f5f1}.verdict.bad{border-color:#b00020;"
    "background:#fbebed}\n"
    "figure{margin:.9rem 0 1.3rem;break-inside:avoid}\n"
    ".picture{text-align:center}.picture svg{max-width:100%;max-height:34rem;height:auto}\n"
    ".plot details{margin:.2rem 0 0 .4rem;font-size:.82rem;color:#5a636e}.plot "
    "pre{max-height:30rem;"
    "overflow:auto;overflow-wrap:anywhere}.plot .without{color:#5a636e;font-style:italic}\n"
    ".columns{display:flex;flex-wrap:wrap;gap:0 3rem}\n"
    "body.wide{max-width:84rem}.wide .columns{gap:0 2rem}"
    ".wide .columns>div{flex:1 1 35rem;max-width:48rem}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.6rem,1fr));gap:.7rem;"
    "margin:1rem 0}\n"
    ".tile{padding:.6rem .8rem;border:1px solid #d5dae0;border-radius:6px;"
    "break-inside:avoid}\n"
    ".tile b{display:block;font-size:1.25rem;line-height:1.25;font-weight:650;"
    "font-variant-numeric:tabular-nums}.tile span{color:#5a636e;font-size:.85rem}\n"
    ".scroll{overflow-x:auto;margin:.7rem 0 1.2rem}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.28rem .8rem .28rem 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #e5e9ed}\n"
    "th{font-weight:600;color:#454d57;border-bottom:1.5px solid #98a1ac;vertical-align:bottom}\n"
    ".n{text-align:right}td.n{white-space:nowrap}td.good{color:#00704f;font-weight:600}"
    "td.bad{color:#b00020;font-weight:600}td.strong{font-weight:600}\n"
    "[data-touched] path,[data-touched] polygon,[data-touched] ellipse{stroke:#d0021b;"
    "stroke-width:3.5;stroke-dasharray:7 4}\n"
    "td.barcell{min-width:14rem;vertical-align:middle}.hbar{display:block;height:.85rem;"
    "min-width:1px;print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".h0{background:#0072b2}.h1{background:#d55e00}.h2{background:#009e73}\n"
    "tr{break-inside:avoid}thead{display:table-header-group}\n"
    "pre{margin:.7rem 0;padding:.7rem .9rem;background:#f3f5f7;border-radius:6px;overflow-x:auto;"
    "font:13px/1.45 ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre-wrap}\n"
    "nav{margin:1.1rem 0;font-size:.92rem;columns:2;column-gap:2rem}nav a{display:block}nav "
    "a.part{margin-left:1rem}\n"
    "a{color:#0067a3;text-decoration:none}a:hover{text-decoration:underline}\n"
    "footer{margin-top:3rem;font-size:.82rem;border-top:1px solid #d5dae0;padding-top:.5rem}\n"
    "@media screen and (prefers-color-scheme:dark){body{color:#dfe3e8;background:#181c21}"
    "h2,footer{border-color:#39414a}.lead,.note,figcaption,footer,.tile span,.plot details,"
    ".plot .without{color:#9aa4af}"
    ".tile{border-color:#39414a}.verdict,pre{background:#22282f}"
    ".verdict.good{background:#17302a;border-color:#2fc79b}"
    ".verdict.bad{background:#3a1d22;border-color:#ff7b8a}"
    "th{color:#b9c1ca;border-color:#5d6671}td{border-color:#2f363e}td.good{color:#2fc79b}"
    "td.bad{color:#ff7b8a}a{color:#5cb3ec}.picture svg{filter:invert(1) "
    "hue-rotate(180deg);mix-blend-mode:screen}"
    ".h0{background:#5cb3ec}.h1{background:#ff8a3d}.h2{background:#2fc79b}}\n"
    "@media print{@page{size:A4;margin:14mm}body{max-width:none;padding:0;font-size:10pt}"
    "h2,h3{break-after:avoid}.scroll{overflow:visible}nav{display:none}"
    ".verdict,.tile,.bar,.tint,.strip,pre{print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}.picture svg{max-height:14cm}table{font-size:8.5pt}}\n";

/* ---- text ---- */

static void put_element(struct text *out, const char *tag, const char *class, const char *text)
{
    text_printf(out, class[0] ? "<%s class=\"%s\">" : "<%s>", tag, class);
    markup_put(out, text);
    text_printf(out, "</%s>\n", tag);
}

void page_begin(struct page *page, const char *title, const char *lead)
{
    *page = (struct page){0};
    put_element(&page->head, "title", "", title);
    put_element(&page->body, "h1", "", title);
    if (lead[0])
        put_element(&page->body, "p", "lead", lead);
}

void page_release(struct page *page)
{
    text_release(&page->head);
    text_release(&page->contents);
    text_release(&page->body);
}

void page_verdict(struct page *page, enum page_tone tone, const char *sentence)
{
    static const char *const classes[] = {"verdict", "verdict good", "verdict bad", "verdict"};
    put_element(&page->body, "p", classes[tone], sentence);
}

void page_section(struct page *page, const char *heading)
{
    unsigned number = ++page->sections;
    text_printf(&page->body, "<h2 id=\"section-%u\">", number);
    markup_put(&page->body, heading);
    text_puts(&page->body, "</h2>\n");
    text_printf(&page->contents, "<a href=\"#section-%u\">", number);
    markup_put(&page->contents, heading);
    text_puts(&page->contents, "</a>\n");
}

void page_part(struct page *page, const char *heading)
{
    unsigned number = ++page->parts;
    text_printf(&page->body, "<h3 id=\"part-%u\">", number);
    markup_put(&page->body, heading);
    text_puts(&page->body, "</h3>\n");
    text_printf(&page->contents, "<a class=\"part\" href=\"#part-%u\">", number);
    markup_put(&page->contents, heading);
    text_puts(&page->contents, "</a>\n");
}

void page_subsection(struct page *page, const char *heading)
{
    put_element(&page->body, "h3", "", heading);
}

void page_text(struct page *page, const char *class, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    put_element(&page->body, "p", class, text.data);
    text_release(&text);
}

void page_code(struct page *page, const char *text)
{
    put_element(&page->body, "pre", "", text);
}

/* ---- side by side ---- */

void page_begin_columns(struct page *page)
{
    text_puts(&page->body, "<div class=\"columns\"><div>\n");
}

void page_next_column(struct page *page)
{
    text_puts(&page->body, "</div><div>\n");
}

void page_end_columns(struct page *page)
{
    text_puts(&page->body, "</div></div>\n");
}

void page_begin_tiles(struct page *page)
{
    text_puts(&page->body, "<div class=\"tiles\">\n");
}

void page_tile(struct page *page, const char *value, const char *label)
{
    text_puts(&page->body, "<div class=\"tile\">");
    put_element(&page->body, "b", "", value);
    put_element(&page->body, "span", "", label);
    text_puts(&page->body, "</div>\n");
}

void page_end_tiles(struct page *page)
{
    text_puts(&page->body, "</div>\n");
}

/* ---- tables ---- */

void page_begin_table(struct page *page, const char *const *headings, size_t count)
{
    page->columns = count < COLUMNS_MOST ? count : COLUMNS_MOST;
    page->column = 0;
    page->numbers = 0;
    text_puts(&page->body, "<div class=\"scroll\"><table>\n<thead><tr>");
    for (size_t i = 0; i < page->columns; i++) {
        bool number = headings[i][0] == '>';
        page->numbers |= number ? 1U << i : 0;
        text_puts(&page->body, number ? "<th class=\"n\">" : "<th>");
        markup_put(&page->body, headings[i] + number);
        text_puts(&page->body, "</th>");
    }
    text_puts(&page->body, "</tr></thead>\n<tbody>\n");
}

/* Opens a row before its first cell. */
static void begin_cell(struct page *page, const char *class)
{
    assert(page->column < page->columns);
    bool number = page->numbers >> page->column & 1;
    if (page->column == 0)
        text_puts(&page->body, "<tr>");
    if (number || class[0])
        text_printf(&page->body, "<td class=\"%s%s%s\">", class, number && class[0] ? " " : "",
                    number ? "n" : "");
    else
        text_puts(&page->body, "<td>");
}

static void end_cell(struct page *page)
{
    text_puts(&page->body, "</td>");
    if (++page->column == page->columns) {
        text_puts(&page->body, "</tr>\n");
        page->column = 0;
    }
}

void page_cell(struct page *page, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    begin_cell(page, "");
    markup_put(&page->body, text.data);
    end_cell(page);
    text_release(&text);
}

void page_toned_cell(struct page *page, enum page_tone tone, const char *text)
{
    static const char *const classes[] = {"", "good", "bad", "strong"};
    begin_cell(page, classes[tone]);
    markup_put(&page->body, text);
    end_cell(page);
}

void page_bar_cell(struct page *page, double share, unsigned colour)
{
    begin_cell(page, "barcell");
    if (share > 0 && isfinite(share))
        text_printf(&page->body, "<span class=\"hbar h%u\" style=\"width:%.1f%%\"></span>",
                    colour % 3, fmin(share, 1) * 100);
    end_cell(page);
}

void page_end_table(struct page *page)
{
    while (page->column)
        page_cell(page, "%s", "");
    text_puts(&page->body, "</tbody></table></div>\n");
}

/* ---- pictures ---- */

static void end_figure(struct page *page, const char *caption)
{
    if (caption[0])
        put_element(&page->body, "figcaption", "", caption);
    text_puts(&page->body, "</figure>\n");
}

void page_chart(struct page *page, const struct chart *charts, size_t count, const char *caption)
{
    struct text json = {0};
    page->charts++;
    text_puts(&page->body, "<figure class=\"plot\">\n");
    put_element(&page->body, "p", "without",
                web_plots.script
                    ? "This plot is drawn by JavaScript, which is off or failed; see its data."
                    : "There is no picture, since weft was built without npm; see the data.");
    text_puts(&page->body, "<details><summary>Data</summary>");
    chart_json_write(charts, count, &json);
    put_element(&page->body, "pre", "", json.data);
    text_puts(&page->body, "</details>\n");
    end_figure(page, caption);
    text_release(&json);
}

void page_picture(struct page *page, const char *svg, const char *caption)
{
    text_puts(&page->body, "<figure class=\"picture\">\n");
    text_puts(&page->body, svg);
    end_figure(page, caption);
}

/* ---- the end ---- */

void page_finish(const struct page *page, struct text *out)
{
    bool drawn = page->charts && web_plots.script;
    /* The table of contents is inserted before the first section. */
    const char *first = page->body.data ? strstr(page->body.data, "<h2 id=\"section-1\">") : NULL;
    size_t place = first ? (size_t)(first - page->body.data) : page->body.length;
    text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                   "<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'");
    if (drawn)
        text_printf(out, "; script-src '%s'", web_plots.script_hash);
    text_puts(out,
              "\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    text_append(out, page->head.data, page->head.length);
    text_puts(out, "<style>\n");
    text_puts(out, style);
    text_puts(out, drawn ? web_plots.style : "");
    text_printf(out, "</style>\n</head>\n<body%s>\n", page->wide ? " class=\"wide\"" : "");
    text_append(out, page->body.data, place);
    if (page->sections >= CONTENTS_FROM) {
        text_puts(out, "<nav>\n");
        text_append(out, page->contents.data, page->contents.length);
        text_puts(out, "</nav>\n");
    }
    text_append(out, page->body.data + place, page->body.length - place);
    text_puts(out, "<footer>made by weft " WEFT_VERSION "</footer>\n");
    if (drawn)
        text_printf(out, "<script>%s</script>\n", web_plots.script);
    text_puts(out, "</body>\n</html>\n");
}

int page_write(const struct page *page, const char *path, struct err *err)
{
    struct text text = {0};
    page_finish(page, &text);
    int status = file_write(path, &text, err);
    text_release(&text);
    return status;
}
