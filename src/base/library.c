/* Loads a shared library with dlopen() and looks up all functions before it sets the first pointer.
 * Users are the HTTP server (libmicrohttpd) and the result store (SQLite). */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>

int library_load(const char *file, const struct library_function *functions, size_t count,
                 struct err *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ENOENT, "%s", dlerror());
    for (size_t i = 0; i < count; i++)
        if (!dlsym(library, functions[i].name)) {
            dlclose(library);
            return err_set(err, ENOSYS, "%s lacks %s()", file, functions[i].name);
        }
    for (size_t i = 0; i < count; i++)
        *functions[i].pointer = dlsym(library, functions[i].name);
    return 0;
}
