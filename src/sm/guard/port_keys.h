/* M_Keys of ports, and violations of them. */
#ifndef WEFT_SM_GUARD_PORT_KEYS_H
#define WEFT_SM_GUARD_PORT_KEYS_H

#include "sm/sm.h"
#include "sm/transactions.h"

/* With m_key_per_port: the M_Key of a port, derived from the configured one; never 0. */
uint64_t m_key_of_port(uint64_t secret, uint64_t port_guid);
uint64_t port_keys_of(const struct sm *sm, uint32_t end_port); /* the wanted M_Key */
uint64_t port_keys_of_guid(const struct sm *sm, uint64_t guid);
uint64_t port_keys_for_request(const struct sm *sm, const struct request *request);
/* Of the port that is or was behind this one. */
uint64_t port_keys_behind(const struct sm *sm, uint32_t port);
void port_keys_learn_link(struct sm *sm, uint32_t port);
/* The sender of the SMP that trap 256 of this port reports; SUBNET_NONE: unknown. */
uint32_t port_keys_offender(const struct sm *sm, uint32_t reporter, const uint8_t *details);
/* A port reports an SMP without its key (trap 256). */
void port_keys_violated(struct sm *sm, uint32_t reporter, const uint8_t *details);
/* An operator clears them: they are not listed any more. Returns whether they were. */
bool port_keys_forget_violations(struct sm *sm, uint32_t port);

#endif
