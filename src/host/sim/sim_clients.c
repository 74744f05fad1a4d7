/* The client side of SA queries on simulated hosts: where to send a request, when to repeat it and
 * when to give up. The transaction ID of an answer gives its request; the MAD layer does timeouts
 * and RMPP. */
#include "host/sim/sim_clients.h"

#include "base/map.h"
#include "base/time.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 50, TIMEOUT_MS = 200 };
static const uint64_t busy_pause = 50 * TIME_MS;

struct host {
    uint32_t port;
    struct mad_file *file;
    uint32_t agent;
    uint64_t reports;
    uint8_t notice[WIRE_BYTES_NOTICE]; /* of the last report */
    struct redirect
        redirection; /* redirection to the administration; LID 0: none, it is at the master */
    uint16_t redirecting_master; /* LID of the master that redirected */
};

struct sim_clients {
    struct sim *sim;
    struct fabric *fabric;
    VEC(struct host) hosts;
    struct map by_port;
    VEC(struct sim_query) questions;
    VEC(uint64_t)
    again_at; /* by question, when to repeat it; TIME_NEVER: outstanding or finished */
    VEC(uint32_t) repeated; /* questions that have a time there, in ascending order */
    VEC(uint32_t) finished; /* questions in the order in which they were finished */
    VEC(uint32_t) ready;    /* hosts with received messages, in ascending order */
    size_t open;
};

static uint64_t run_clients(void *context, uint64_t now);
static void note_ready(void *context, struct mad_file *file);

struct sim_clients *sim_clients_new(struct sim *sim, struct fabric *fabric)
{
    struct sim_clients *clients = mem_zalloc(1, sizeof *clients);
    clients->sim = sim;
    clients->fabric = fabric;
    sim_add_hook(sim, &(struct sim_hook){clients, run_clients, note_ready});
    return clients;
}

void sim_clients_free(struct sim_clients *clients)
{
    if (!clients)
        return;
    sim_remove_hook(clients->sim, clients);
    for (size_t i = 0; i < clients->hosts.count; i++)
        mad_file_close(clients->hosts.items[i].file);
    for (size_t i = 0; i < clients->questions.count; i++) {
        mem_free(clients->questions.items[i].answer);
        mem_free(clients->questions.items[i].trouble);
    }
    vec_release(&clients->hosts);
    vec_release(&clients->questions);
    vec_release(&clients->again_at);
    vec_release(&clients->repeated);
    vec_release(&clients->finished);
    vec_release(&clients->ready);
    map_release(&clients->by_port);
    mem_free(clients);
}

static uint32_t find_host(struct sim_clients *clients, uint32_t port)
{
    uint32_t index = map_get(&clients->by_port, port);
    if (index != MAP_NONE)
        return index;
    struct registration wanted = {
        .class = CLASS_SUBN_ADM, .class_version = 2, .rmpp_version = RMPP_THIS_VERSION};
    wanted.method_mask[METHOD_REPORT / 32] |= UINT32_C(1) << METHOD_REPORT % 32;
    struct host host = {.port = port};
    host.file = mad_file_open(sim_mads(clients->sim), port, clients);
    int agent = mad_file_register(host.file, &wanted);
    if (agent < 0)
        abort(); /* a second struct sim_clients: an error of the caller */
    host.agent = (uint32_t)agent;
    index = (uint32_t)clients->hosts.count;
    vec_push(&clients->hosts, host);
    map_set(&clients->by_port, port, index);
    return index;
}

/* ---- out ---- */

/* run_clients() drops questions whose time is TIME_NEVER from the list. */
static void set_again(struct sim_clients *clients, uint32_t number, uint64_t at)
{
    size_t place;
    clients->again_at.items[number] = at;
    if (at == TIME_NEVER)
        return;
    lower_bound(place, clients->repeated.count, clients->repeated.items[place] < number);
    if (place == clients->repeated.count || clients->repeated.items[place] != number)
        vec_insert(&clients->repeated, place, number);
}

static void send_question(struct sim_clients *clients, uint32_t number, uint64_t now)
{
    assert(number < clients->questions.count);
    struct sim_query *question = &clients->questions.items[number];
    uint32_t index = find_host(clients, question->port); /* may reallocate the hosts */
    struct host *host = &clients->hosts.items[index];
    const uint8_t *info = fabric_port_info(clients->fabric, question->port);
    if (!question->trail.count) { /* begin at the master, or at the last redirection */
        struct redirect master = redirect_to((uint16_t)wire_get(info, PORT_INFO_MASTER_SM_LID),
                                             (uint8_t)wire_get(info, PORT_INFO_MASTER_SM_SL));
        if (host->redirecting_master != master.lid)
            host->redirection.lid = 0;
        redirect_begin(&question->trail, host->redirection.lid ? &host->redirection : &master);
    }
    const struct redirect *to = redirect_target(&question->trail);
    struct mad_head head = {
        .agent = host->agent,
        .timeout_ms = TIMEOUT_MS,
        .qpn = htonl(to->qp),
        .q_key = htonl(to->q_key),
        .lid = htons(to->lid),
        .sl = to->sl,
        .p_key_index = (uint16_t)fabric_p_key_index(clients->fabric, question->port, to->p_key)};
    wire_set(question->mad, MAD_TID, number + 1);
    bool sent = head.lid && wire_get(info, PORT_INFO_LID) &&
                mad_file_send(host->file, now, &head, question->mad, MAD_BYTES) == 0;
    question->tries++;
    if (!sent)
        question->trail.count = 0;
    set_again(clients, number, sent ? TIME_NEVER : now + busy_pause);
}

uint32_t sim_clients_send(struct sim_clients *clients, uint32_t port, const uint8_t mad[MAD_BYTES])
{
    uint32_t number = (uint32_t)clients->questions.count;
    struct sim_query question = {.port = port, .asked = sim_now(clients->sim)};
    memcpy(question.mad, mad, MAD_BYTES);
    wire_set(question.mad, MAD_BASE_VERSION, 1);
    wire_set(question.mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(question.mad, MAD_CLASS_VERSION, 2);
    wire_set(question.mad, RMPP_VERSION, RMPP_THIS_VERSION);
    vec_push(&clients->questions, question);
    vec_push(&clients->again_at, TIME_NEVER);
    clients->open++;
    send_question(clients, number, question.asked);
    return number;
}

/* ---- in ---- */

static void close_question(struct sim_clients *clients, uint32_t number, uint64_t now, int state)
{
    struct sim_query *question = &clients->questions.items[number];
    assert(clients->open > 0 && question->state == SIM_OPEN && state != SIM_OPEN);
    question->state = state;
    question->answered = now;
    set_again(clients, number, TIME_NEVER);
    vec_push(&clients->finished, number);
    clients->open--;
}

/* Follows a redirection: this question and later ones of the host go to the new address. */
static void follow_redirection(struct sim_clients *clients, uint32_t number,
                               const struct mad_received *received, uint64_t now)
{
    struct sim_query *question = &clients->questions.items[number];
    const uint8_t *info = fabric_port_info(clients->fabric, question->port);
    struct host *host = &clients->hosts.items[map_get(&clients->by_port, question->port)];
    struct err err = {0};
    if (redirect_follow(&question->trail, received->data,
                        received->head.length - sizeof(struct mad_head), SA_DATA_OFFSET,
                        &err) < 0) {
        host->redirection.lid = 0;
        question->status = STATUS_REDIRECT;
        question->trouble = mem_strdup(err.message);
        close_question(clients, number, now, SIM_UNANSWERED);
        return;
    }
    host->redirection = *redirect_target(&question->trail);
    host->redirecting_master = (uint16_t)wire_get(info, PORT_INFO_MASTER_SM_LID);
    set_again(clients, number, now);
}

/* A question is repeated without an answer, and after BUSY or a redirection. */
static void receive_answer(struct sim_clients *clients, const struct mad_received *received,
                           uint64_t now)
{
    enum { STATUS_NO_AGENT = 0x0C }; /* of the MAD layer of a host without a manager */
    uint32_t number = (uint32_t)wire_get(received->data, MAD_TID) - 1;
    if (number >= clients->questions.count || clients->questions.items[number].state != SIM_OPEN)
        return;
    struct sim_query *question = &clients->questions.items[number];
    unsigned status =
        received->head.status ? STATUS_BUSY : (unsigned)wire_get(received->data, MAD_STATUS);
    question->busy += !received->head.status && status == STATUS_BUSY;
    if (status == STATUS_REDIRECT && question->tries < TRIES) {
        follow_redirection(clients, number, received, now);
        return;
    }
    if ((status == STATUS_BUSY || status == STATUS_NO_AGENT) && question->tries < TRIES) {
        if (received->head.status ||
            status == STATUS_NO_AGENT) { /* no administration at this address */
            clients->hosts.items[map_get(&clients->by_port, question->port)].redirection.lid = 0;
            question->trail.count = 0;
        }
        set_again(clients, number, received->head.status ? now : now + busy_pause);
        return;
    }
    question->status = status;
    question->bytes = received->head.length - sizeof received->head;
    question->answer = mem_alloc(question->bytes);
    memcpy(question->answer, received->data, question->bytes);
    close_question(clients, number, now, status == STATUS_BUSY ? SIM_UNANSWERED : SIM_ANSWERED);
}

static void receive_report(struct host *host, const struct mad_received *received, uint64_t now)
{
    uint8_t mad[MAD_BYTES] = {0};
    struct mad_head head = received->head;
    memcpy(mad, received->data, MAD_BYTES);
    wire_set(mad, MAD_METHOD, METHOD_REPORT_RESP);
    head.agent = host->agent;
    head.timeout_ms = head.retries = 0;
    host->reports++;
    memcpy(host->notice, received->data + SA_DATA_OFFSET, sizeof host->notice);
    mad_file_send(host->file, now, &head, mad, MAD_BYTES);
}

static void note_ready(void *context, struct mad_file *file)
{
    struct sim_clients *clients = context;
    vec_push(&clients->ready, map_get(&clients->by_port, mad_file_port(file)));
}

static void receive(struct sim_clients *clients, struct host *host, uint64_t now)
{
    for (const struct mad_received *received; (received = mad_file_next(host->file)) != NULL;) {
        if (wire_get(received->data, MAD_METHOD) == METHOD_REPORT)
            receive_report(host, received, now);
        else
            receive_answer(clients, received, now);
        mad_file_taken(host->file);
    }
}

static uint64_t run_clients(void *context, uint64_t now)
{
    struct sim_clients *clients = context;
    uint64_t next = TIME_NEVER;
    sort_u32(clients->ready.items, clients->ready.count);
    for (size_t i = 0; i < clients->ready.count; i++)
        receive(clients, &clients->hosts.items[clients->ready.items[i]], now);
    clients->ready.count = 0;
    size_t left = 0;
    for (size_t i = 0; i < clients->repeated.count; i++) {
        uint32_t number = clients->repeated.items[i];
        const uint64_t *again_at = &clients->again_at.items[number];
        if (*again_at <= now && clients->questions.items[number].tries >= TRIES)
            close_question(clients, number, now, SIM_UNANSWERED);
        else if (*again_at <= now)
            send_question(clients, number, now);
        if (*again_at == TIME_NEVER)
            continue;
        clients->repeated.items[left++] = number;
        next = *again_at < next ? *again_at : next;
    }
    clients->repeated.count = left;
    return next;
}

uint32_t sim_clients_finished(const struct sim_clients *clients, size_t index)
{
    return index < clients->finished.count ? clients->finished.items[index] : UINT32_MAX;
}

const struct sim_query *sim_clients_query(const struct sim_clients *clients, uint32_t number)
{
    assert(number < clients->questions.count);
    return &clients->questions.items[number];
}

bool sim_clients_run(struct sim_clients *clients, uint64_t limit)
{
    while (clients->open && sim_step(clients->sim, limit))
        ;
    return clients->open == 0;
}

uint64_t sim_clients_reports(const struct sim_clients *clients, uint32_t port)
{
    uint32_t index = map_get(&clients->by_port, port);
    return index == MAP_NONE ? 0 : clients->hosts.items[index].reports;
}

const uint8_t *sim_clients_last_notice(const struct sim_clients *clients, uint32_t port)
{
    uint32_t index = map_get(&clients->by_port, port);
    const struct host *host = index == MAP_NONE ? NULL : &clients->hosts.items[index];
    return host && host->reports ? host->notice : NULL;
}

/* ---- questions ---- */

static void put_gid(const struct sim_clients *clients, uint32_t port, uint8_t gid[16])
{
    const uint8_t *info = fabric_port_info(clients->fabric, port);
    wire_set_bits(gid, 0, 64, wire_get(info, PORT_INFO_GID_PREFIX));
    wire_set_bits(gid, 64, 64, fabric_port_guid(clients->fabric, port, 0));
}

uint32_t sim_clients_path(struct sim_clients *clients, uint32_t port, uint32_t to, uint16_t p_key)
{
    enum { DGID = 1 << 2, SGID = 1 << 3, NUMBER = 1 << 12, P_KEY = 1 << 13 };
    uint8_t mad[MAD_BYTES] = {0};
    uint8_t *path = mad + SA_DATA_OFFSET;
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_PATH_RECORD);
    wire_set(mad, SA_COMPONENT_MASK, DGID | SGID | NUMBER | (p_key ? P_KEY : 0));
    put_gid(clients, port, wire_bytes(path, PATH_RECORD_SGID));
    put_gid(clients, to, wire_bytes(path, PATH_RECORD_DGID));
    wire_set(path, PATH_RECORD_NUMB_PATH, 1);
    wire_set(path, PATH_RECORD_P_KEY, p_key);
    return sim_clients_send(clients, port, mad);
}

uint32_t sim_clients_multi_path(struct sim_clients *clients, uint32_t port,
                                const struct sim_multi_path *wanted)
{
    enum { NUMBER = 1 << 6, P_KEY = 1 << 7, SGIDS = 1 << 19, DGIDS = 1 << 20, GID_BYTES = 16 };
    uint8_t mad[MAD_BYTES] = {0};
    uint8_t *data = mad + SA_DATA_OFFSET;
    wire_set(mad, MAD_METHOD, METHOD_GET_MULTI);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_MULTI_PATH_RECORD);
    wire_set(mad, SA_COMPONENT_MASK, NUMBER | SGIDS | DGIDS | (wanted->p_key ? P_KEY : 0));
    wire_set(data, MULTI_PATH_RECORD_NUMB_PATH, wanted->most);
    wire_set(data, MULTI_PATH_RECORD_P_KEY, wanted->p_key);
    wire_set(data, MULTI_PATH_RECORD_SGID_COUNT, wanted->sources);
    wire_set(data, MULTI_PATH_RECORD_DGID_COUNT, wanted->destinations);
    for (unsigned i = 0; i < wanted->sources + wanted->destinations; i++)
        put_gid(clients, wanted->ports[i],
                data + WIRE_BYTES_MULTI_PATH_RECORD + (size_t)i * GID_BYTES);
    return sim_clients_send(clients, port, mad);
}
