/* A client of the HTTP server that sends any bytes, in any pieces. */
#ifndef WEFT_TESTS_HTTP_CLIENT_H
#define WEFT_TESTS_HTTP_CLIENT_H

#include "host/http/http.h"
#include "test.h"

int client_connect(const char *address); /* http://A:P or unix:PATH; -1 on failure */
void client_send(int fd, const char *bytes, size_t count);
void client_print(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reads until the server closes or `until` was received. Fails after 20 s. */
void client_read(int fd, struct text *text, const char *until);
/* One request on a connection of its own, with "Connection: close". Returns the status; 0 if the
 * server closed without an answer. `head` are further header lines. */
unsigned client_ask(const struct http_server *server, const char *method, const char *path,
                    const char *head, const char *body, struct text *answer);
unsigned client_status(const struct text *answer);
bool client_has(const struct text *answer, const char *part);
bool client_is_closed(int fd); /* within 20 s */

#endif
