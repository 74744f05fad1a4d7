/* Loads libmicrohttpd and zlib (library.h). */
#include "host/http/library.h"

#include "base/library.h"

struct http_library mhd;
struct http_zlib http_zlib;

int http_library_open(struct err *err)
{
#define HTTP_LIBRARY_ROW(name) {"MHD_" #name, (void **)&mhd.name},
    static const struct library_function functions[] = {HTTP_LIBRARY(HTTP_LIBRARY_ROW)};
#undef HTTP_LIBRARY_ROW
#define HTTP_LIBRARY_ROW(name) {#name, (void **)&http_zlib.name},
    static const struct library_function compression[] = {HTTP_ZLIB(HTTP_LIBRARY_ROW)};
#undef HTTP_LIBRARY_ROW
    if (!http_zlib.deflate)
        library_load("libz.so.1", compression, sizeof compression / sizeof *compression, NULL);
    return mhd.start_daemon ? 0
                            : library_load("libmicrohttpd.so.12", functions,
                                           sizeof functions / sizeof *functions, err);
}
