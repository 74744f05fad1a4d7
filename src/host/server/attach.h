/* The port of the fabric that a program is attached to, and its description in sysfs. */
#ifndef WEFT_HOST_SERVER_ATTACH_H
#define WEFT_HOST_SERVER_ATTACH_H

#include "fabric/fabric.h"
#include "host/socket/protocol.h"

struct attachment {
    uint32_t node;
    unsigned port; /* 0: the best port at the time of the request */
};

/* `text` is NODE or NODE:PORT, with a node's name, description or GUID; "" means the first adapter,
 * or the first node of a topology without adapters. Of a switch only port 0 can be named. */
int attach_find(const struct topology *topology, const char *text, struct attachment *attachment,
                struct err *err);
/* Returns the index of the port with this number. Number 0 means the port of the attachment, else
 * the first that is active, up or not disabled. TOPOLOGY_NONE: no such port. */
uint32_t attach_port(const struct fabric *fabric, const struct attachment *attachment,
                     unsigned number);

void attach_describe_ca(const struct fabric *fabric, uint32_t node, struct answer_ca *answer);
void attach_describe_port(const struct fabric *fabric, uint32_t port, struct answer_port *answer);
/* "4X QDR", as in sysfs after the rate. */
void attach_describe_link(const struct topology *topology, uint32_t port, char *text, size_t size);

#endif
