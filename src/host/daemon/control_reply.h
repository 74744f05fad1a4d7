/* Answers of the control socket: a thread prints and sends each, so that a slow client does not
 * delay the manager. */
#ifndef WEFT_HOST_DAEMON_CONTROL_REPLY_H
#define WEFT_HOST_DAEMON_CONTROL_REPLY_H

#include "base/text.h"
#include "host/files/dumps.h"
#include "perf/report.h"

/* An answer that a thread prints and sends, which may take seconds. */
struct control_reply {
    int fd, result;
    bool json;
    struct text text;
    struct dump_snapshot *snapshot;    /* printed instead of the text, or NULL */
    struct counter_snapshot *counters; /* the same */
};

/* Sends the answer and closes the connection; frees the reply, which mem_zalloc() has made. */
void control_reply_start(struct control_reply *reply);

#endif
