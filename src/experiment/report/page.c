/* The frame of an HTML page around its data. web/src/report draws the data; its bundle, which
 * includes the style of the page, is in web_plots. */
#include "experiment/report/page.h"

#include "base/file.h"
#include "web/files.h"

void page_begin(struct page *page, const char *kind, const char *title, const char *lead)
{
    *page = (struct page){.json = {.out = &page->data, .pretty = true}};
    text_puts(&page->title, title);
    text_puts(&page->lead, lead);
    json_begin_object(&page->json, NULL);
    json_string(&page->json, "kind", kind);
}

void page_release(struct page *page)
{
    text_release(&page->title);
    text_release(&page->lead);
    text_release(&page->verdict);
    text_release(&page->svg);
    text_release(&page->data);
}

static void put_element(struct text *out, const char *tag, const char *class,
                        const struct text *text)
{
    if (!text->length)
        return;
    text_printf(out, class[0] ? "<%s class=\"%s\">" : "<%s>", tag, class);
    text_put_markup(out, text->data);
    text_printf(out, "</%s>\n", tag);
}

static void put_page(const struct page *page, const char *verdict_class, struct text *out)
{
    text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                   "<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'");
    if (web_plots.script)
        text_printf(out, "; script-src '%s'", web_plots.script_hash);
    text_puts(out,
              "\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    put_element(out, "title", "", &page->title);
    text_printf(out, "<style>\n%s</style>\n</head>\n<body>\n",
                web_plots.style ? web_plots.style : "pre{white-space:pre-wrap}\n");
    put_element(out, "h1", "", &page->title);
    put_element(out, "p", "lead", &page->lead);
    put_element(out, "p", verdict_class, &page->verdict);
    if (page->svg.length)
        text_printf(out, "<figure class=\"picture\">\n%s</figure>\n", page->svg.data);
    text_printf(
        out, "<main>\n<p class=\"without\">%s</p>\n",
        web_plots.script
            ? "Tables and plots are drawn by JavaScript, which is off or failed. Their data:"
            : "Tables and plots are missing, since weft was built without npm. Their data:");
    put_element(out, "pre", "data", &page->data);
    text_puts(out, "</main>\n<footer>made by weft " WEFT_VERSION "</footer>\n");
    if (web_plots.script)
        text_printf(out, "<script>%s</script>\n", web_plots.script);
    text_puts(out, "</body>\n</html>\n");
}

void page_finish(struct page *page, struct text *out)
{
    json_end_object(&page->json);
    put_page(page, page->good ? "verdict good" : page->bad ? "verdict bad" : "verdict", out);
}

void page_put_frame(struct text *out)
{
    struct page page = {0};
    text_puts(&page.title, "{{title}}");
    text_puts(&page.lead, "{{lead}}");
    text_puts(&page.verdict, "{{verdict}}");
    text_puts(&page.data, "{{data}}");
    put_page(&page, "verdict {{tone}}", out);
    page_release(&page);
}

int page_write(struct page *page, const char *path, struct err *err)
{
    struct text text = {0};
    page_finish(page, &text);
    int status = file_write(path, &text, err);
    text_release(&text);
    return status;
}
