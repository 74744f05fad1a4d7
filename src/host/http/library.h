/* The functions of libmicrohttpd and zlib, which are loaded when the first server starts: with the
 * libraries that it needs (GnuTLS and others), it would cost every command 3.7 million instructions
 * at its start, a fifth of `weft route` on 648 hosts, and most commands serve nothing. */
#ifndef WEFT_HOST_HTTP_LIBRARY_H
#define WEFT_HOST_HTTP_LIBRARY_H

#include "base/err.h"

#include <microhttpd.h>
#include <zlib.h>

#define HTTP_LIBRARY(FUNCTION)                                                                     \
    FUNCTION(add_response_header)                                                                  \
    FUNCTION(create_response_from_buffer)                                                          \
    FUNCTION(create_response_from_callback)                                                        \
    FUNCTION(destroy_response)                                                                     \
    FUNCTION(get_connection_info)                                                                  \
    FUNCTION(get_connection_values)                                                                \
    FUNCTION(get_version)                                                                          \
    FUNCTION(lookup_connection_value)                                                              \
    FUNCTION(queue_response)                                                                       \
    FUNCTION(resume_connection)                                                                    \
    FUNCTION(start_daemon)                                                                         \
    FUNCTION(stop_daemon)                                                                          \
    FUNCTION(suspend_connection)

/* mhd.start_daemon is MHD_start_daemon(). */
struct http_library {
#define HTTP_LIBRARY_MEMBER(name) __typeof__(MHD_##name) *(name);
    HTTP_LIBRARY(HTTP_LIBRARY_MEMBER)
#undef HTTP_LIBRARY_MEMBER
};
extern struct http_library mhd;

#define HTTP_ZLIB(FUNCTION) FUNCTION(deflateInit2_) FUNCTION(deflate) FUNCTION(deflateEnd)

/* All NULL if zlib is not installed: answers are not compressed then. */
struct http_zlib {
#define HTTP_LIBRARY_MEMBER(name) __typeof__(name) *(name);
    HTTP_ZLIB(HTTP_LIBRARY_MEMBER)
#undef HTTP_LIBRARY_MEMBER
};
extern struct http_zlib http_zlib;

/* Once for all servers; the libraries stay loaded. */
int http_library_open(struct err *err);

#endif
