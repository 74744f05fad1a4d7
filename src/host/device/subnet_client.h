/* A client of the subnet: queries the subnet administrator (SA) and reads attributes of switches,
 * through libibumad, as the programs of a host do. Each call waits for its answers. */
#ifndef WEFT_HOST_DEVICE_SUBNET_CLIENT_H
#define WEFT_HOST_DEVICE_SUBNET_CLIENT_H

#include "base/err.h"
#include "host/device/port_choice.h"
#include "wire/mad.h"

#include <stddef.h>

struct subnet_client;

/* Opens the chosen port, or the first InfiniBand port whose link is up. It must have an SM. */
int subnet_client_open(struct subnet_client **result, const struct port_choice *choice,
                       struct err *err);
void subnet_client_close(struct subnet_client *client);
uint16_t subnet_client_sm_lid(const struct subnet_client *client);

/* Records of an answer, valid until the next call. */
struct sa_table {
    const uint8_t *records;
    size_t count, stride; /* bytes from one record to the next */
};
/* GetTable of the records whose components in `mask` equal those of `record`. No matching record is
 * no error. */
int subnet_client_query(struct subnet_client *client, enum wire_attribute attribute, uint64_t mask,
                        const uint8_t *record, struct sa_table *table, struct err *err);

/* A Get to the agent at a LID. */
struct agent_read {
    uint16_t lid;
    uint32_t modifier;
    int status; /* 0, -ETIMEDOUT, or the status of the answer */
    uint8_t data[SMP_DATA_BYTES];
};
/* Reads one attribute at several places, with many requests outstanding. The result is about the
 * device; each element has its own status. After a time-out no more requests are sent. */
int subnet_client_read(struct subnet_client *client, enum wire_attribute attribute,
                       struct agent_read *reads, size_t count, struct err *err);

#endif
