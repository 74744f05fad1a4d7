/* Answers of a control socket: a thread prints and sends each, so that a slow client does not delay
 * the server. */
#ifndef WEFT_HOST_CONTROL_CONTROL_REPLY_H
#define WEFT_HOST_CONTROL_CONTROL_REPLY_H

#include "base/control_command.h"

/* An answer that a thread prints and sends, which may take seconds. */
struct control_reply {
    int fd, result;
    struct control_answer answer;
};

/* Sends the answer and closes the connection; frees the reply, which mem_zalloc() has made. */
void control_reply_start(struct control_reply *reply);
/* The same without a thread and without waiting, for a process that ends: what does not fit into
 * the buffer of the socket is lost. */
void control_reply_send_now(struct control_reply *reply);

#endif
