/* The address at which the HTTP server listens. */
#ifndef WEFT_HOST_HTTP_ADDRESS_H
#define WEFT_HOST_HTTP_ADDRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct http_address {
    struct sockaddr_storage socket; /* AF_INET, AF_INET6 or AF_UNIX */
    socklen_t bytes;
    char unix_path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": not a Unix socket */
};

/* Reads [ADDRESS:]PORT, [IPV6]:PORT or unix:PATH (http_options.listen). Names are not resolved,
 * except localhost. */
int http_address_parse(const char *text, struct http_address *address, struct err *err);
/* Whether both texts are the same valid address: "9933" is "localhost:9933". */
bool http_address_same(const char *a, const char *b);
/* The URL of a socket that listens there: `fd` has the port. */
void http_address_url(const struct http_address *address, int fd, char *url, size_t size);
/* Returns a listening descriptor or -errno. */
int http_address_listen(const struct http_address *address, struct err *err);

#endif
