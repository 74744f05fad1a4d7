/* Programs that use libibverbs, on the simulated fabric.
 *
 * The preload library is their driver, and this is their adapter: a `struct verbs_client` is an
 * opened device, with the objects that the program has created. Its queue pairs are those of
 * src/transport, one transport layer for each adapter that programs are attached to, and the
 * fabric carries their packets. host/socket/verbs_protocol.h describes what passes between a
 * program and the server.
 *
 * Nothing exists, and the fabric has no data path, before the first program opens a device. From
 * then on the network must be run against the clock. */
#ifndef WEFT_HOST_VERBS_VERBS_H
#define WEFT_HOST_VERBS_VERBS_H

#include "fabric/fabric.h"
#include "host/mad/mad_layer.h"
#include "host/socket/verbs_protocol.h"
#include "host/verbs/addresses.h"

struct verbs;
struct verbs_client;

/* What programs would notice, for an owner with simulated time. */
struct verbs_listener {
    void *context;
    void (*opened)(void *context, uint32_t process);    /* a device */
    void (*completed)(void *context, uint32_t process); /* a completion is in a CQ */
    void (*written)(void *context, uint32_t process);   /* its memory has changed */
    void (*notified)(void *context);                    /* a pipe of a program has an event */
};

struct verbs *verbs_new(struct fabric *fabric);
void verbs_free(struct verbs *verbs); /* all clients must have been detached; accepts NULL */
/* Makes it the connection manager for librdmacm, too, on general services of `mads`. Its MAD files
 * have no owner. Both must outlive it. */
void verbs_serve_connections(struct verbs *verbs, struct mad_layer *mads,
                             const struct addresses *addresses);
/* Takes what these files have received, and sends what connection management has to say. */
void verbs_run_connections(struct verbs *verbs, uint64_t now);
bool verbs_started(const struct verbs *verbs);
/* Whether packets of programs are waiting or on the way: the network is worth running now. */
bool verbs_busy(const struct verbs *verbs);

/* Opens the device of a node. `owner`: returned by verbs_next_failed(). -EOPNOTSUPP and the reason
 * if the node is not an adapter, or the fabric cannot carry packets of 256 bytes. */
int verbs_attach(struct verbs *verbs, uint32_t node, void *owner, struct verbs_client **client,
                 struct err *err);
void verbs_detach(struct verbs_client *client); /* closes the device; accepts NULL */

/* Handles a packet of the connection, with a descriptor or -1, which it takes over. A negative
 * result means that the connection must be closed: the client broke the protocol. */
int verbs_receive(struct verbs_client *client, const void *packet, size_t bytes, int descriptor);
/* The answer that is to be sent, with its descriptors; NULL: none. */
const struct verbs_answer *verbs_next_answer(const struct verbs_client *client,
                                             const int **descriptors);
void verbs_answer_sent(struct verbs_client *client);

/* Whether programs have posted work that was not taken. */
bool verbs_has_work(const struct verbs *verbs);
/* Takes the work that programs have posted since, without a message. */
void verbs_serve(struct verbs *verbs);
/* In simulated time: takes the work that programs have posted up to a time, in the order of the
 * nodes. Returns the time of the next work; TIME_NEVER: none. */
uint64_t verbs_serve_until(struct verbs *verbs, uint64_t now);
void verbs_set_listener(struct verbs *verbs, const struct verbs_listener *listener);
/* Before the server sleeps: asks clients to wake it. True: there is work, it must not sleep. */
bool verbs_prepare_sleep(struct verbs *verbs);
void verbs_end_sleep(struct verbs *verbs);
/* The owner of a client that has broken the rules of its rings, and must be detached; NULL: none.
 */
void *verbs_next_failed(struct verbs *verbs);

struct verbs_client_view {
    uint32_t node, regions, cqs, qps;
    uint64_t sends, receives, completions;          /* taken and made */
    uint64_t read_bytes, written_bytes;             /* of the program's memory */
    uint64_t resent_packets, timeouts;              /* of the QPs that exist */
    uint32_t listening, connections;                /* IDs of librdmacm */
    uint64_t messages_per_second, bytes_per_second; /* in the last second or two */
};
void verbs_client_view(struct verbs_client *client, struct verbs_client_view *view);

struct verbs_qp_view {
    const char *service, *state;
    uint32_t number, remote_qp, sends, receives; /* the latter two: not complete */
    uint16_t remote_lid;                         /* 0: not connected */
    uint32_t resent_packets, timeouts, rnr_naks;
};
/* The QPs of a program, one after the other: *at begins as 0. False: there are no more. */
bool verbs_client_next_qp(const struct verbs_client *client, uint32_t *at,
                          struct verbs_qp_view *view);

#endif
