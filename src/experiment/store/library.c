/* Loads SQLite (library.h). */
#include "experiment/store/library.h"

#include "base/library.h"

struct sqlite_library sqlite;

int sqlite_library_open(struct err *err)
{
#define SQLITE_LIBRARY_ROW(name) {"sqlite3_" #name, (void **)&sqlite.name},
    static const struct library_function functions[] = {SQLITE_LIBRARY(SQLITE_LIBRARY_ROW)};
#undef SQLITE_LIBRARY_ROW
    return sqlite.open_v2 ? 0
                          : library_load("libsqlite3.so.0", functions,
                                         sizeof functions / sizeof *functions, err);
}
