/* The subnet management interface: where a directed-route SMP goes next (14.2.2).
 *
 * A route may be directed all the way, or begin and end with a LID-routed part. Each step looks at
 * the packet and at who holds it, moves the hop pointer, records the way back, and says what to do.
 */
#ifndef WEFT_FABRIC_SMI_H
#define WEFT_FABRIC_SMI_H

#include "wire/mad.h"

enum smi_action {
    SMI_DISCARD,
    SMI_LOCAL,     /* for this node's agent or manager */
    SMI_FORWARD,   /* out of `port` */
    SMI_LID_ROUTE, /* the directed part is over: on to `dlid` */
};

struct smi_step {
    enum smi_action action;
    unsigned port;
    uint16_t dlid;
};

/* `arrival` is the port through which the SMP came in; 0 when it starts here, or came to a switch
 * by its LID. */
struct smi_step smi_step(uint8_t mad[MAD_BYTES], bool is_switch, unsigned arrival);

#endif
