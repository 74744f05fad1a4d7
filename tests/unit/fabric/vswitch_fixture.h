/* Two hypervisors, A and B, with two virtual functions each, and a plain adapter M where the
 * manager sits, all at the switch S. */
#ifndef WEFT_TESTS_FABRIC_VSWITCH_FIXTURE_H
#define WEFT_TESTS_FABRIC_VSWITCH_FIXTURE_H

#include "fixture.h"
#include "wire/vswitch.h"

enum { VFS = 2 };
enum { LID_S = 1, LID_M = 2, LID_A = 10, LID_B = 20 }; /* of switches and physical functions */

struct cloud {
    struct world world;
    uint32_t s, m;
    struct hypervisor {
        uint32_t vswitch, functions[VFS + 1]; /* [0]: the physical one */
        struct path path;                     /* from M to the virtual switch */
    } hosts[2];
};

/* Made and brought up: LIDs of S, M, A and B, all links but the virtual functions' active. */
void cloud_begin(struct cloud *cloud);
void cloud_begin_with(struct cloud *cloud); /* a world that was initialised, with its options */
void cloud_bring_up(struct cloud *cloud);
void cloud_end(struct cloud *cloud);
/* Set(VirtualFunction) by directed route; the status, or -1 for silence. */
int cloud_set_function(struct cloud *cloud, unsigned host, unsigned number, unsigned lid,
                       uint64_t guid);
/* Where S sends this LID. */
void cloud_route(struct cloud *cloud, unsigned lid, unsigned port);
/* Both: S sends it to the host, and the function has it. */
void cloud_place(struct cloud *cloud, unsigned lid, unsigned host, unsigned number);
uint32_t cloud_port(const struct cloud *cloud, unsigned host, unsigned number);
/* A request by LID from M; returns the status, or -1. */
int cloud_ask(struct cloud *cloud, uint16_t lid, unsigned method, unsigned attribute,
              uint32_t modifier, uint8_t *data);

#endif
