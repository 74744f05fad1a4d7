/* The bundles of web/, embedded by web/embed: the files of the live page, and the
 * script and style of HTML reports.
 *
 * Without npm at build time the live page is one file that says so, and reports show their data as
 * JSON. */
#ifndef WEFT_WEB_FILES_H
#define WEFT_WEB_FILES_H

#include <stddef.h>

struct web_file {
    const char *path; /* of the URL: "/", "/weft.js" */
    const char *type; /* Content-Type */
    const unsigned char *data;
    size_t size;
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

/* Contents of a <script> and a <style> element, valid in HTML and in XML. */
struct web_plots {
    const char *script, *style; /* NULL: built without npm */
    const char *script_hash;    /* for a content security policy: "sha256-…" */
};
extern const struct web_plots web_plots;

#endif
