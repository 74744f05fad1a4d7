/* Sessions: requests, opened ports, managers.
 *
 * All input is checked here. The connection of a client that sends an invalid packet is closed; its
 * agents and IsSM end with it. */
#include "host/server/session.h"
#include "host/server/sysfs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { ANSWER_PACKET = 4096 };

void clients_init(struct clients *clients, struct fabric *fabric,
                  const struct attachment *attachment)
{
    *clients = (struct clients){.fabric = fabric, .attachment = *attachment, .pace = "fast"};
    clients->mads = mad_layer_new(fabric);
    clients->verbs = verbs_new(fabric);
    verbs_serve_connections(clients->verbs, clients->mads, &clients->addresses);
}

void clients_release(struct clients *clients)
{
    while (clients->first)
        session_end(clients->first);
    verbs_free(clients->verbs);
    mad_layer_free(clients->mads);
    addresses_release(&clients->addresses);
    map_release(&clients->by_handle);
    vec_release(&clients->opened);
    vec_release(&clients->sending);
}

struct session *session_begin(struct clients *clients, void *owner, uint32_t handle, uint32_t pid)
{
    struct session *session = mem_zalloc(1, sizeof *session);
    session->clients = clients;
    session->owner = owner;
    session->handle = handle;
    session->pid = pid;
    session->before = clients->last;
    if (clients->last)
        clients->last->after = session;
    else
        clients->first = session;
    clients->last = session;
    clients->served++;
    return session;
}

void session_end(struct session *session)
{
    struct clients *clients = session->clients;
    if (session->state == SESSION_OPEN) {
        assert(clients->opened.items[session->slot] == session);
        struct session *last = clients->opened.items[--clients->opened.count];
        clients->opened.items[session->slot] = last;
        last->slot = session->slot;
        map_set(&clients->by_handle, last->handle, last->slot);
        map_remove(&clients->by_handle, session->handle);
        mad_file_close(session->file);
    } else if (session->state == SESSION_MANAGER) {
        fabric_set_manager(clients->fabric, session->port, false);
    } else if (session->state == SESSION_VERBS) {
        verbs_detach(session->verbs);
    }
    if (session->before)
        session->before->after = session->after;
    else
        clients->first = session->after;
    if (session->after)
        session->after->before = session->before;
    else
        clients->last = session->before;
    text_release(&session->answer);
    mem_free(session);
}

/* ---- answers ---- */

static void put_answer(struct session *session, int result, const void *data, size_t bytes)
{
    struct answer head = {.result = result, .bytes = (uint32_t)bytes};
    assert(session->state == SESSION_NEW && session->answer.length == 0);
    text_append(&session->answer, (const char *)&head, sizeof head);
    text_append(&session->answer, data ? data : "", bytes);
    session->state = SESSION_DONE;
}

/* The first packet has the struct answer and the beginning of the text. */
bool session_next_answer(const struct session *session, const char **packet, size_t *bytes)
{
    size_t left = session->answer.length - session->answered;
    if (left == 0)
        return false;
    *packet = session->answer.data + session->answered;
    *bytes = left < ANSWER_PACKET ? left : ANSWER_PACKET;
    return true;
}

void session_answer_sent(struct session *session, size_t bytes)
{
    session->answered += bytes;
    assert(session->answered <= session->answer.length);
    if (session->answered < session->answer.length)
        return;
    text_release(&session->answer);
    session->answered = 0;
}

/* ---- requests ---- */

/* The attachment that the request names, or the default; answers with an error if there is none. */
static bool find_attachment(struct session *session, const struct request *request,
                            struct attachment *attachment)
{
    struct err err;
    *attachment = session->clients->attachment;
    if (!request->attach[0])
        return true;
    int result =
        attach_find(fabric_topology(session->clients->fabric), request->attach, attachment, &err);
    if (result < 0)
        put_answer(session, result, NULL, 0);
    return result == 0;
}

static bool find_port(struct session *session, const struct request *request, uint32_t *port)
{
    struct attachment attachment;
    if (!find_attachment(session, request, &attachment))
        return false;
    *port = request->port < 0
                ? TOPOLOGY_NONE
                : attach_port(session->clients->fabric, &attachment, (unsigned)request->port);
    if (*port == TOPOLOGY_NONE)
        put_answer(session, -ENODEV, NULL, 0);
    return *port != TOPOLOGY_NONE;
}

static void answer_ca(struct session *session, const struct request *request)
{
    struct attachment attachment;
    struct answer_ca ca;
    if (!find_attachment(session, request, &attachment))
        return;
    attach_describe_ca(session->clients->fabric, attachment.node, &ca);
    put_answer(session, 0, &ca, sizeof ca);
}

static void answer_port_query(struct session *session, const struct request *request)
{
    struct answer_port described;
    uint32_t port;
    if (!find_port(session, request, &port))
        return;
    attach_describe_port(session->clients->fabric, port, &described);
    put_answer(session, 0, &described, sizeof described);
}

static void open_session_port(struct session *session, const struct request *request)
{
    struct clients *clients = session->clients;
    if (!find_port(session, request, &session->port))
        return;
    if (session->handle == 0 || map_get(&clients->by_handle, session->handle) != MAP_NONE) {
        put_answer(session, -EINVAL, NULL, 0);
        return;
    }
    put_answer(session, 0, NULL, 0);
    session->state = SESSION_OPEN;
    session->file = mad_file_open(clients->mads, session->port, session);
    session->slot = (uint32_t)clients->opened.count;
    map_set(&clients->by_handle, session->handle, session->slot);
    vec_push(&clients->opened, session);
}

/* Registers or unregisters an agent of an opened port. */
static void change_registration(struct session *session, const struct request *request)
{
    uint32_t slot = map_get(&session->clients->by_handle, (uint64_t)request->handle + 1);
    int result = -EBADF;
    if (slot != MAP_NONE) {
        struct mad_file *file = session->clients->opened.items[slot]->file;
        result = request->kind == REQUEST_REGISTER ? mad_file_register(file, &request->registration)
                                                   : mad_file_unregister(file, request->agent);
    }
    put_answer(session, result, NULL, 0);
}

static void set_manager(struct session *session, const struct request *request)
{
    if (!find_port(session, request, &session->port))
        return;
    for (struct session *other = session->clients->first; other; other = other->after)
        if (other->state == SESSION_MANAGER && other->port == session->port) {
            put_answer(session, -EBUSY, NULL, 0);
            return;
        }
    fabric_set_manager(session->clients->fabric, session->port, true);
    put_answer(session, 0, NULL, 0);
    session->state = SESSION_MANAGER;
}

static void open_verbs(struct session *session, const struct request *request)
{
    struct attachment attachment;
    struct err err = {0};
    if (!find_attachment(session, request, &attachment))
        return;
    int result = verbs_attach(session->clients->verbs, attachment.node, session->owner,
                              &session->verbs, &err);
    put_answer(session, result, err.message, strlen(err.message));
    if (result)
        return;
    session->port = attach_port(session->clients->fabric, &attachment, 0);
    session->state = SESSION_VERBS;
}

int session_receive_verbs(struct session *session, const void *packet, size_t bytes, int descriptor)
{
    return verbs_receive(session->verbs, packet, bytes, descriptor);
}

static void run_control(struct session *session, const struct request *request)
{
    struct control_answer answer = {.json = request->json != 0};
    int result = clients_control_run(session->clients, request->text, &answer);
    put_answer(session, result, answer.text.data, answer.text.length);
    control_answer_release(&answer);
}

static void write_sysfs(struct session *session, const struct request *request)
{
    struct attachment attachment;
    struct text path = {0};
    if (!find_attachment(session, request, &attachment))
        return;
    int result =
        sysfs_write(session->clients->directory, session->clients->fabric, attachment.node, &path);
    put_answer(session, result, path.data, path.length);
    text_release(&path);
}

static int receive_request(struct session *session, const void *packet, size_t bytes)
{
    struct request request;
    if (bytes != sizeof request)
        return -EPROTO;
    memcpy(&request, packet, sizeof request);
    if (request.magic != PROTOCOL_MAGIC)
        return -EPROTO;
    request.attach[sizeof request.attach - 1] = 0;
    request.text[sizeof request.text - 1] = 0;
    if (request.version != PROTOCOL_VERSION) {
        put_answer(session, -EPROTONOSUPPORT, NULL, 0);
        return 0;
    }
    switch ((enum request_kind)request.kind) {
    case REQUEST_CA: answer_ca(session, &request); return 0;
    case REQUEST_PORT: answer_port_query(session, &request); return 0;
    case REQUEST_OPEN: open_session_port(session, &request); return 0;
    case REQUEST_REGISTER:
    case REQUEST_UNREGISTER: change_registration(session, &request); return 0;
    case REQUEST_MANAGER: set_manager(session, &request); return 0;
    case REQUEST_CTL: run_control(session, &request); return 0;
    case REQUEST_SYSFS: write_sysfs(session, &request); return 0;
    case REQUEST_VERBS: open_verbs(session, &request); return 0;
    }
    return -EPROTO;
}

int session_receive(struct session *session, const void *packet, size_t bytes,
                    const uint8_t *message, size_t message_bytes)
{
    struct mad_head head;
    if (session->state == SESSION_NEW)
        return receive_request(session, packet, bytes);
    if (session->state != SESSION_OPEN || bytes < sizeof head || bytes > MESSAGE_PACKET_BYTES)
        return -EPROTO;
    memcpy(&head, packet, sizeof head);
    if (!message) {
        message = (const uint8_t *)packet + sizeof head;
        message_bytes = bytes - sizeof head;
    }
    /* A MAD that the kernel would refuse is dropped; the connection stays. */
    mad_file_send(session->file, session->clients->now, &head, message, message_bytes);
    return 0;
}
