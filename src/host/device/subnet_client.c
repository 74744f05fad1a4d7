/* Synchronous MAD requests over umad: SubnAdmGetTable with RMPP to the SA, and SubnGet by LID to
 * the SMAs of nodes, with a window of outstanding requests. Time-outs, retries and the reassembly
 * of RMPP answers are left to the kernel; only a query that the SA answers with busy status is
 * repeated here. */
#include "host/device/subnet_client.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/device/port_search.h"
#include "wire/packet.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    QUERY_TIMEOUT_MS = 2000,
    READ_TIMEOUT_MS = 500,
    RETRIES = 3, /* by the kernel */
    ANSWER_BYTES = 128 << 20,
    WINDOW = 32,     /* reads outstanding */
    BUSY_TRIES = 50, /* how often a query is sent to a busy SA */
    BUSY_MS = 20,
};

struct subnet_client {
    int smi, gsi; /* umad port ids; the same if one device has both */
    int smi_agent, gsi_agent;
    uint16_t sm_lid;
    uint8_t sm_sl;
    uint32_t tid;
    uint8_t *in, *out; /* umad buffers */
    int in_bytes;      /* size of `in`, without the header */
};

static int open_failed(const char *name, unsigned number, struct err *err)
{
    int error = errno ? errno : EIO;
    return err_set(err, error, "cannot open %s port %u: %s", name, number, strerror(error));
}

static int open_devices(struct subnet_client *client, const umad_port_t *info, struct err *err)
{
    struct device_pair pair = port_search_pair(info);
    client->gsi = umad_open_port(pair.gsi_name, (int)pair.gsi_preferred_port);
    if (client->gsi < 0)
        return open_failed(pair.gsi_name, pair.gsi_preferred_port, err);
    client->smi = client->gsi;
    if (strcmp(pair.smi_name, pair.gsi_name) != 0)
        client->smi = umad_open_port(pair.smi_name, (int)pair.smi_preferred_port);
    if (client->smi < 0)
        return open_failed(pair.smi_name, pair.smi_preferred_port, err);
    client->smi_agent = umad_register(client->smi, CLASS_SUBN_LID, 1, 0, NULL);
    client->gsi_agent = umad_register(client->gsi, CLASS_SUBN_ADM, 2, RMPP_THIS_VERSION, NULL);
    if (client->smi_agent < 0 || client->gsi_agent < 0)
        return err_set(err, EACCES, "%s port %d refuses clients of subnet management",
                       info->ca_name, info->portnum);
    return 0;
}

int subnet_client_open(struct subnet_client **result, const struct port_choice *choice,
                       struct err *err)
{
    umad_port_t info;
    int status = port_search(&info, choice, false, err);
    if (status < 0)
        return status;
    if (!info.sm_lid)
        return err_set(err, ENOTCONN, "%s port %d has no subnet manager yet", info.ca_name,
                       info.portnum);
    struct subnet_client *client = mem_zalloc(1, sizeof *client);
    client->smi = client->gsi = -1;
    client->sm_lid = (uint16_t)info.sm_lid;
    client->sm_sl = (uint8_t)info.sm_sl;
    client->in_bytes = MAD_BYTES;
    client->in = mem_zalloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    client->out = mem_zalloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    status = open_devices(client, &info, err);
    if (status < 0) {
        subnet_client_close(client);
        return status;
    }
    *result = client;
    return 0;
}

void subnet_client_close(struct subnet_client *client)
{
    if (!client)
        return;
    if (client->smi >= 0 && client->smi != client->gsi)
        umad_close_port(client->smi);
    if (client->gsi >= 0)
        umad_close_port(client->gsi);
    umad_done();
    mem_free(client->in);
    mem_free(client->out);
    mem_free(client);
}

uint16_t subnet_client_sm_lid(const struct subnet_client *client)
{
    return client->sm_lid;
}

/* ---- MADs ---- */

static uint8_t *make_request(struct subnet_client *client, unsigned class, unsigned version,
                             unsigned method, enum wire_attribute attribute)
{
    uint8_t *mad = umad_get_mad(client->out);
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, class);
    wire_set(mad, MAD_CLASS_VERSION, version);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, ++client->tid);
    wire_set(mad, MAD_ATTRIBUTE_ID, wire_attributes[attribute].id);
    return mad;
}

static int device_failed(struct err *err)
{
    int error = errno ? errno : EIO;
    return err_set(err, error, "the InfiniBand port failed: %s", strerror(error));
}

/* Waits for the next answer, or for a request that the kernel returns: then *bytes is 0. Returns
 * -EAGAIN if nothing arrived. */
static int receive(struct subnet_client *client, int id, int wait_ms, size_t *bytes)
{
    for (;;) {
        int length = client->in_bytes;
        if (umad_recv(id, client->in, &length, wait_ms) >= 0) {
            bool answered = umad_status(client->in) == 0 && length >= MAD_HEADER_BYTES;
            *bytes = answered ? (size_t)length : 0;
            return 0;
        }
        if (errno != ENOSPC || length <= client->in_bytes || length > ANSWER_BYTES)
            return -EAGAIN;
        client->in = mem_realloc(client->in, 1, sizeof(struct ib_user_mad) + (size_t)length);
        client->in_bytes = length;
    }
}

/* Sends the request in `out` to the SA and waits for its answer: its status, or a negative error.
 */
static int ask_administrator(struct subnet_client *client, size_t *bytes, struct err *err)
{
    umad_set_addr(client->out, client->sm_lid, QP_GSI, client->sm_sl, (int)Q_KEY_GSI);
    if (umad_send(client->gsi, client->gsi_agent, client->out, MAD_BYTES, QUERY_TIMEOUT_MS,
                  RETRIES) < 0)
        return device_failed(err);
    const uint8_t *mad;
    do {
        if (receive(client, client->gsi, (RETRIES + 2) * QUERY_TIMEOUT_MS, bytes))
            *bytes = 0;
        mad = umad_get_mad(client->in);
    } while (*bytes && (uint32_t)wire_get(mad, MAD_TID) != client->tid);
    if (!*bytes)
        return err_set(err, ENOTCONN, "the SA at LID %u does not answer", client->sm_lid);
    return (int)wire_get(mad, MAD_STATUS);
}

int subnet_client_query(struct subnet_client *client, enum wire_attribute attribute, uint64_t mask,
                        const uint8_t *record, struct sa_table *table, struct err *err)
{
    size_t bytes = 0;
    int status = STATUS_BUSY;
    for (unsigned tries = 0; tries < BUSY_TRIES && status == STATUS_BUSY; tries++) {
        if (tries)
            nanosleep(&(struct timespec){.tv_nsec = BUSY_MS * NS_PER_MS}, NULL);
        uint8_t *mad = make_request(client, CLASS_SUBN_ADM, 2, METHOD_GET_TABLE, attribute);
        wire_set(mad, SA_COMPONENT_MASK, mask);
        wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
        memcpy(mad + SA_DATA_OFFSET, record, wire_attributes[attribute].bytes);
        status = ask_administrator(client, &bytes, err);
    }
    *table = (struct sa_table){0};
    if (status < 0 || status == STATUS_SA_NO_RECORDS)
        return status < 0 ? status : 0;
    if (status == STATUS_BAD_ATTRIBUTE)
        return err_set(err, ENOTCONN, "no SA runs at LID %u", client->sm_lid);
    if (status != STATUS_OK)
        return err_set(err, EIO, "the SA at LID %u refuses a query for %s: status 0x%04x",
                       client->sm_lid, wire_attributes[attribute].name, (unsigned)status);
    const uint8_t *mad = umad_get_mad(client->in);
    uint64_t flags = wire_get(mad, RMPP_FLAGS);
    if (bytes <= MAD_BYTES && flags & RMPP_FLAG_ACTIVE && !(flags & RMPP_FLAG_LAST))
        return err_set(err, EOPNOTSUPP,
                       "the port delivers only the first part of long answers: it has no RMPP, "
                       "like the ports of ibsim");
    table->stride = 8 * (size_t)wire_get(mad, SA_ATTRIBUTE_OFFSET);
    table->records = mad + SA_DATA_OFFSET;
    if (table->stride >= wire_attributes[attribute].bytes && bytes > SA_DATA_OFFSET)
        table->count = (bytes - SA_DATA_OFFSET) / table->stride;
    return 0;
}

static int send_read(struct subnet_client *client, enum wire_attribute attribute,
                     const struct agent_read *read)
{
    uint8_t *mad = make_request(client, CLASS_SUBN_LID, 1, METHOD_GET, attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, read->modifier);
    umad_set_addr(client->out, read->lid, QP_SMI, 0, 0);
    return umad_send(client->smi, client->smi_agent, client->out, MAD_BYTES, READ_TIMEOUT_MS,
                     RETRIES);
}

int subnet_client_read(struct subnet_client *client, enum wire_attribute attribute,
                       struct agent_read *reads, size_t count, struct err *err)
{
    uint32_t first_tid = client->tid + 1;
    size_t sent = 0, done = 0, bytes;
    for (size_t i = 0; i < count; i++)
        reads[i].status = -ETIMEDOUT;
    while (done < count) {
        for (; sent < count && sent - done < WINDOW; sent++)
            if (send_read(client, attribute, &reads[sent]) < 0)
                return device_failed(err);
        if (receive(client, client->smi, (RETRIES + 2) * READ_TIMEOUT_MS, &bytes))
            return device_failed(err);
        /* The kernel returns requests without an answer unchanged. */
        const uint8_t *mad = umad_get_mad(client->in);
        uint32_t index = (uint32_t)wire_get(mad, MAD_TID) - first_tid;
        if (index >= sent)
            continue; /* an answer to an earlier call */
        done++;
        if (bytes != MAD_BYTES) {
            count = sent; /* after a time-out no more requests are sent */
            continue;
        }
        reads[index].status = (int)wire_get(mad, MAD_STATUS);
        memcpy(reads[index].data, mad + SMP_DATA_OFFSET, SMP_DATA_BYTES);
    }
    return 0;
}
