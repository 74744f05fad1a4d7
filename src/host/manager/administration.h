/* Exchange of state between the manager and its subnet administration, and of messages between this
 * and the kernel or its model (host/mad): `struct mad_head` is the head of both. */
#ifndef WEFT_HOST_MANAGER_ADMINISTRATION_H
#define WEFT_HOST_MANAGER_ADMINISTRATION_H

#include "host/socket/protocol.h"
#include "sa/sa.h"
#include "sm/sm.h"

/* The methods that the administration serves, by bit. */
enum {
    ADMINISTRATION_METHODS = 1 << METHOD_GET | 1 << METHOD_SET | 1 << METHOD_GET_TABLE |
                             1 << METHOD_GET_MULTI | 1 << METHOD_DELETE |
                             1 << METHOD_GET_TRACE_TABLE
};

/* A received message of the SA. */
struct sa_message administration_message(const struct mad_head *head, const uint8_t *data,
                                         size_t bytes);
/* The head of a message to send, without the agent. */
struct mad_head administration_head(const struct sa_message *message);

/* Passes the manager's subnet and routes to the administration. */
void administration_update_view(struct sa *sa, uint64_t now, const struct sm *sm, uint8_t priority);
/* Passes the master to the administration, which copies its registrations, and the origin of the
 * registrations to the manager. With `reregister`, clients with missing registrations are requested
 * to register again. */
void administration_sync(struct sa *sa, uint64_t now, struct sm *sm, bool reregister);

#endif
