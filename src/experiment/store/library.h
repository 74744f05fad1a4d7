/* The functions of SQLite, which is loaded when the first store is opened (base/library.h). */
#ifndef WEFT_EXPERIMENT_STORE_LIBRARY_H
#define WEFT_EXPERIMENT_STORE_LIBRARY_H

#include "base/err.h"

#include <sqlite3.h>

#define SQLITE_LIBRARY(FUNCTION)                                                                   \
    FUNCTION(bind_double)                                                                          \
    FUNCTION(bind_int)                                                                             \
    FUNCTION(bind_int64)                                                                           \
    FUNCTION(bind_null)                                                                            \
    FUNCTION(bind_text)                                                                            \
    FUNCTION(busy_timeout)                                                                         \
    FUNCTION(close)                                                                                \
    FUNCTION(column_double)                                                                        \
    FUNCTION(column_int)                                                                           \
    FUNCTION(column_int64)                                                                         \
    FUNCTION(column_text)                                                                          \
    FUNCTION(column_type)                                                                          \
    FUNCTION(errcode)                                                                              \
    FUNCTION(errmsg)                                                                               \
    FUNCTION(exec)                                                                                 \
    FUNCTION(finalize)                                                                             \
    FUNCTION(last_insert_rowid)                                                                    \
    FUNCTION(open_v2)                                                                              \
    FUNCTION(prepare_v2)                                                                           \
    FUNCTION(reset)                                                                                \
    FUNCTION(step)

/* sqlite.open_v2() is sqlite3_open_v2(). */
struct sqlite_library {
#define SQLITE_LIBRARY_MEMBER(name) __typeof__(sqlite3_##name) *(name);
    SQLITE_LIBRARY(SQLITE_LIBRARY_MEMBER)
#undef SQLITE_LIBRARY_MEMBER
};
extern struct sqlite_library sqlite;

int sqlite_library_open(struct err *err);

#endif
