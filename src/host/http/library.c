/* Loads libmicrohttpd (library.h). */
#include "host/http/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

struct http_library mhd;

int http_library_open(struct err *err)
{
    static const char name[] = "libmicrohttpd.so.12";
    if (mhd.start_daemon)
        return 0;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ENOENT, "%s", dlerror());
    struct http_library loaded;
    bool complete = true;
#define HTTP_LIBRARY_LOAD(name)                                                                    \
    *(void **)&loaded.name = dlsym(library, "MHD_" #name);                                         \
    complete &= loaded.name != NULL;
    HTTP_LIBRARY(HTTP_LIBRARY_LOAD)
#undef HTTP_LIBRARY_LOAD
    if (!complete) {
        dlclose(library);
        return err_set(err, ENOSYS, "%s lacks a function", name);
    }
    mhd = loaded;
    return 0;
}
