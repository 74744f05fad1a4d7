/* The protocol state of one client's connection, without the socket.
 *
 * A session begins with a request. Most end with the answer; an opened port continues with MADs, a
 * manager's session stays open without traffic. The owner of the socket passes received packets and
 * takes packets to send. `struct clients` has the fabric and all sessions of a server. */
#ifndef WEFT_HOST_SERVER_SESSION_H
#define WEFT_HOST_SERVER_SESSION_H

#include "base/control_command.h"
#include "base/map.h"
#include "console/action.h"
#include "host/mad/mad_layer.h"
#include "host/server/attach.h"
#include "host/verbs/verbs.h"

struct session;

struct clients {
    struct fabric *fabric;
    struct mad_layer *mads;
    struct verbs *verbs;
    struct attachment attachment; /* default */
    struct addresses addresses;   /* IP addresses of hosts */
    struct session *first, *last; /* in order of arrival */
    uint64_t served;              /* sessions since the start */
    struct map by_handle;         /* of opened ports, to their number in `opened` */
    VEC(struct session *) opened;
    const char *directory; /* private to the server, or NULL */
    const char *pace;      /* for the status */
    uint64_t now;          /* wall clock since the start */
    bool stop;             /* a client sent `stop` */
    const struct traffic *traffics;
    size_t traffic_count;
    VEC(unsigned)
    sending; /* the numbers of these traffics in the fabric; empty: they are stopped */
};

enum session_state {
    SESSION_NEW,     /* waits for the request */
    SESSION_DONE,    /* closes when the answer is sent */
    SESSION_OPEN,    /* carries MADs */
    SESSION_MANAGER, /* keeps IsSM set */
    SESSION_VERBS,   /* an opened device of libibverbs */
};

struct session {
    struct clients *clients;
    struct session *before, *after;
    void *owner;
    enum session_state state;
    uint32_t handle; /* number of the client's address plus one; 0: none */
    uint32_t pid;
    uint32_t port; /* of an opened port or a manager */
    uint32_t slot; /* of an opened port, in clients->opened */
    struct mad_file *file;
    struct verbs_client *verbs;
    struct text answer;
    size_t answered; /* bytes of it that were sent */
};

void clients_init(struct clients *clients, struct fabric *fabric,
                  const struct attachment *attachment);
void clients_release(struct clients *clients); /* ends all sessions */

struct session *session_begin(struct clients *clients, void *owner, uint32_t handle, uint32_t pid);
void session_end(struct session *session);
/* Handles a packet of SESSION_VERBS; takes the descriptor over. */
int session_receive_verbs(struct session *session, const void *packet, size_t bytes,
                          int descriptor);
/* Handles any other packet; `message` is the whole message if it is a long one, else NULL. Returns
 * 0, or -errno if the packet is invalid and the connection must be closed. */
int session_receive(struct session *session, const void *packet, size_t bytes,
                    const uint8_t *message, size_t message_bytes);
/* The next packet of the answer; false: none. */
bool session_next_answer(const struct session *session, const char **packet, size_t *bytes);
void session_answer_sent(struct session *session, size_t bytes);

/* data_traffic.c. Fails if the traffics are sending already, or are stopped, or if there are none.
 */
int data_traffic_start(struct clients *clients, struct err *err);
int data_traffic_stop(struct clients *clients, struct err *err);

/* clients_control.c: applies an action to the fabric or its traffic. */
int clients_apply(struct clients *clients, const struct action *action, struct err *err);
/* Runs a command of `weft ctl`. 0, or -errno; the answer has the reason. */
int clients_control_run(struct clients *clients, const char *text, struct control_answer *answer);
/* clients_report.c: the name of a process, "?" if it has ended. */
enum { CLIENT_PROGRAM_BYTES = 24 };
void client_program(uint32_t pid, char program[CLIENT_PROGRAM_BYTES]);
extern const struct control_command client_commands[];
/* All commands that answer, of `weft fabric`. */
extern const struct control_command *const fabric_control_tables[];

#endif
