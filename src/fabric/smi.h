/* The subnet management interface: the next hop of a directed-route SMP (14.2.2).
 *
 * A route may be directed all the way, or begin and end with a LID-routed part. Each step updates
 * the hop pointer, records the return path, and returns the action for the node that holds the
 * packet. */
#ifndef WEFT_FABRIC_SMI_H
#define WEFT_FABRIC_SMI_H

#include "wire/mad.h"

enum smi_action {
    SMI_DISCARD,
    SMI_LOCAL,     /* for the agent or manager of this node */
    SMI_FORWARD,   /* out of `port` */
    SMI_LID_ROUTE, /* the directed part ends: forward to `dlid` */
};

struct smi_step {
    enum smi_action action;
    unsigned port;
    uint16_t dlid;
};

/* `arrival` is the input port; 0 if the SMP starts here or reached a switch by LID. */
struct smi_step smi_step(uint8_t mad[MAD_BYTES], bool is_switch, unsigned arrival);

#endif
