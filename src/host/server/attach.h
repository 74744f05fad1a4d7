/* Where in the fabric a program sits, and what its operating system tells it about that place. */
#ifndef WEFT_HOST_SERVER_ATTACH_H
#define WEFT_HOST_SERVER_ATTACH_H

#include "fabric/fabric.h"
#include "host/socket/protocol.h"

struct attachment {
    uint32_t node;
    unsigned port; /* 0: the best one at the time of asking */
};

/* NODE or NODE:PORT, by name, description or GUID; "" is the first adapter, or the first node of a
 * topology without one. At a switch only port 0 can be attached to. */
int attach_find(const struct topology *topology, const char *text, struct attachment *attachment,
                struct err *err);
/* The port (by index) with this number at the attachment, or for 0 the best: the one that the
 * attachment names, else the first that is active, or up, or not disabled. TOPOLOGY_NONE if there
 * is no such port. */
uint32_t attach_port(const struct fabric *fabric, const struct attachment *attachment,
                     unsigned number);

void attach_describe_ca(const struct fabric *fabric, uint32_t node, struct answer_ca *answer);
void attach_describe_port(const struct fabric *fabric, uint32_t port, struct answer_port *answer);
/* "4X QDR": as sysfs puts it behind the rate. */
void attach_describe_link(const struct topology *topology, uint32_t port, char *text, size_t size);

#endif
