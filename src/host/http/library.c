/* Loads libmicrohttpd (library.h). */
#include "host/http/library.h"

#include "base/library.h"

struct http_library mhd;

int http_library_open(struct err *err)
{
#define HTTP_LIBRARY_ROW(name) {"MHD_" #name, (void **)&mhd.name},
    static const struct library_function functions[] = {HTTP_LIBRARY(HTTP_LIBRARY_ROW)};
#undef HTTP_LIBRARY_ROW
    return mhd.start_daemon ? 0
                            : library_load("libmicrohttpd.so.12", functions,
                                           sizeof functions / sizeof *functions, err);
}
