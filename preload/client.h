/* Requests to the fabric server, one connection for each. */
#ifndef WEFT_PRELOAD_CLIENT_H
#define WEFT_PRELOAD_CLIENT_H

#include "host/socket/protocol.h"
#include "host/socket/time_protocol.h"

#include <stdbool.h>
#include <stddef.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

/* The library of simulated time (preload/time), if it is loaded. */
#define WEFT_TIME __attribute__((weak, visibility("default")))
WEFT_TIME bool weft_time_is_simulated(void);
WEFT_TIME uint64_t weft_time_spend(uint32_t price);
WEFT_TIME void weft_time_wait_completion(void);
WEFT_TIME void weft_time_found_completion(void);
WEFT_TIME void weft_time_sync(void);
WEFT_TIME void weft_time_kick(void);
static inline bool time_is_simulated(void)
{
    return weft_time_is_simulated && weft_time_is_simulated();
}
/* After a message to the server, which may sleep while programs run. */
static inline void time_kick(void)
{
    if (time_is_simulated())
        weft_time_kick();
}
/* The simulated time after the call; 0: there is none. */
static inline uint64_t time_spend(enum time_price price)
{
    return time_is_simulated() ? weft_time_spend(price) : 0;
}

/* Begins a request, with the attachment of the environment. */
void client_prepare(struct request *request, enum request_kind kind);
/* Sends a request and copies the data of the answer, at most `size` bytes, to `data`, which may be
 * NULL. Returns the server's result, or -errno if there is no server. */
int client_request(const struct request *request, void *data, size_t size);
/* The same, but keeps the connection open. Returns its descriptor, or -errno. */
int client_connect(const struct request *request, int descriptor_flags);
/* Reads the handle of an opened port from its descriptor. 0 or -errno. */
int client_handle(int fd, uint32_t *handle);

#endif
