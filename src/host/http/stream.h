/* The server's side of a stream of events; http.h has the publisher's. */
#ifndef WEFT_HOST_HTTP_STREAM_H
#define WEFT_HOST_HTTP_STREAM_H

#include "host/http/http.h"
#include "host/http/library.h"

/* Makes the response that sends the events of a stream to this connection. NULL: the stream is
 * closed. The limits of connections bound the number of subscribers. */
struct MHD_Response *http_stream_subscribe(struct http_stream *stream,
                                           struct MHD_Connection *connection);
/* Sends a comment, so that a connection whose peer is gone is noticed. */
void http_stream_ping(struct http_stream *stream);
/* Ends the stream for all subscribers. */
void http_stream_close(struct http_stream *stream);

#endif
