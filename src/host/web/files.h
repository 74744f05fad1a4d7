/* The files of the live page, embedded by web/embed.
 *
 * Without npm at build time there is one file: a page that says so. */
#ifndef WEFT_HOST_WEB_FILES_H
#define WEFT_HOST_WEB_FILES_H

#include <stddef.h>

struct web_file {
    const char *path; /* of the URL: "/", "/weft.js" */
    const char *type; /* Content-Type */
    const unsigned char *data;
    size_t size;
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

#endif
