/* One client's connection to the server, without the socket: packets in, packets out.
 *
 * A session begins with a question. Most are answered at once and done; an opened port goes on with
 * MADs, a manager's just stays. Whoever owns the socket feeds what came and pulls what is to go
 * out. All sessions of a server meet in a `struct clients`: the fabric and what its clients share.
 */
#ifndef WEFT_HOST_SERVER_SESSION_H
#define WEFT_HOST_SERVER_SESSION_H

#include "base/map.h"
#include "base/text.h"
#include "host/mad/mad_layer.h"
#include "host/server/attach.h"

struct session;

struct clients {
    struct fabric *fabric;
    struct mad_layer *mads;
    struct attachment attachment; /* of clients that name none */
    struct session *first, *last; /* in order of arrival */
    uint64_t served;              /* sessions since the start */
    struct map by_handle;         /* of opened ports, to their number in `opened` */
    VEC(struct session *) opened;
    const char *directory; /* private to the server, or NULL */
    const char *pace;      /* for the status */
    uint64_t now;          /* wall clock since the start */
    bool stop;             /* a client asked for the end */
};

enum session_state {
    SESSION_ASKING,  /* nothing came yet */
    SESSION_DONE,    /* close it when all has gone out */
    SESSION_OPEN,    /* carries MADs */
    SESSION_MANAGER, /* keeps IsSM set */
};

struct session {
    struct clients *clients;
    struct session *before, *after;
    void *owner;
    enum session_state state;
    uint32_t handle; /* number of the client's socket plus one; 0: it has none */
    uint32_t pid;
    uint32_t port; /* of an opened port or a manager */
    uint32_t slot; /* of an opened port, in lobby.opened */
    struct mad_file *file;
    struct text answer; /* packets of text, of which `answered` bytes went out */
    size_t answered;
};

void clients_init(struct clients *clients, struct fabric *fabric,
                  const struct attachment *attachment);
void clients_release(struct clients *clients); /* ends all sessions */

struct session *session_begin(struct clients *clients, void *owner, uint32_t handle, uint32_t pid);
void session_end(struct session *session);
/* A packet came, with the whole of its message in `message` if it was a long one. 0, or -errno when
 * this client has lost its senses and must be cut off. */
int session_receive(struct session *session, const void *packet, size_t bytes,
                    const uint8_t *message, size_t message_bytes);
/* The next packet of an answer to go out, or false. */
bool session_next_answer(const struct session *session, const char **packet, size_t *bytes);
void session_answer_sent(struct session *session, size_t bytes);

/* control.c: carries out a command of `weft ctl`; 0, or -EINVAL with the reason in `out`. */
int control_run(struct clients *clients, const char *command, bool json, struct text *out);

#endif
