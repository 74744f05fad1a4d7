/* libibumad's functions on a fabric server instead of /dev/infiniband and /sys.
 *
 * A port ID is the descriptor of a connection, so that poll(2), select(2), fork(2) and close(2)
 * work as with the descriptor of the device, and no other state is needed. Results and errno are
 * those of libibumad 44 on a Linux kernel. Functions that only access memory of the program (dumps,
 * strings, addresses) remain those of the real library, except for four accessors that there depend
 * on the opened device.
 *
 * One difference: the kernel checks a MAD in write(2), but here umad_send() does not wait for the
 * server. Errors in the arguments are returned as by the kernel. Errors that depend on the server's
 * state (an unknown agent, a transaction ID in use) are not reported: the server drops the MAD. */
#include "client.h"
#include "host/socket/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

_Static_assert(sizeof(struct mad_head) == sizeof(struct ib_user_mad), "the kernel's ABI");

enum {
    OPENIB_OUI = 0x001405,
    RMPP_HEADER_END = 36, /* the kernel refuses shorter MADs */
    SPINS_LEAST = 2,      /* reads before sleeping: an answer usually arrives within microseconds */
    SPINS_MOST = 64,
    DEAD_SERVER_PAUSE_MS = 100,
};

/* ---- adapters and ports ---- */

/* Ends the strings of an answer, whatever the server sent. */
#define END_STRING(field) ((field)[sizeof(field) - 1] = 0)

static int query_ca(const char *ca_name, struct answer_ca *ca)
{
    struct request request;
    client_prepare(&request, REQUEST_CA);
    int result = client_request(&request, ca, sizeof *ca);
    if (result < 0)
        return result;
    END_STRING(ca->name);
    END_STRING(ca->firmware);
    END_STRING(ca->hardware);
    END_STRING(ca->type);
    END_STRING(ca->description);
    return ca_name && strcmp(ca_name, ca->name) != 0 ? -ENOENT : 0;
}

static int query_port(int number, struct answer_port *port)
{
    struct request request;
    client_prepare(&request, REQUEST_PORT);
    request.port = number;
    int result = client_request(&request, port, sizeof *port);
    END_STRING(port->ca_name);
    return result;
}

static int fill_port(const struct answer_port *from, umad_port_t *port)
{
    memset(port, 0, sizeof *port);
    snprintf(port->ca_name, sizeof port->ca_name, "%s", from->ca_name);
    port->portnum = (int)from->number;
    port->base_lid = from->base_lid;
    port->lmc = from->lmc;
    port->sm_lid = from->sm_lid;
    port->sm_sl = from->sm_sl;
    port->state = from->state;
    port->phys_state = from->physical_state;
    port->rate = from->rate;
    port->capmask = htobe32(from->capability_mask);
    port->gid_prefix = htobe64(from->gid_prefix);
    port->port_guid = htobe64(from->port_guid);
    snprintf(port->link_layer, sizeof port->link_layer, "InfiniBand");
    unsigned count = from->p_key_count < PORT_P_KEYS ? from->p_key_count : PORT_P_KEYS;
    port->pkeys = calloc(count ? count : 1, sizeof *port->pkeys);
    if (!port->pkeys)
        return -EIO;
    memcpy(port->pkeys, from->p_keys, count * sizeof *port->pkeys);
    port->pkeys_size = count;
    return 0;
}

/* Finds a port; number 0 and negative numbers mean the best one. */
static int find_port(const char *ca_name, int number, struct answer_port *port)
{
    struct answer_ca ca;
    int result = query_ca(ca_name, &ca);
    if (result < 0)
        return -ENODEV;
    return query_port(number > 0 ? number : 0, port) < 0 ? -EINVAL : 0;
}

WEFT_EXPORT int umad_init(void)
{
    return 0;
}

WEFT_EXPORT int umad_done(void)
{
    return 0;
}

WEFT_EXPORT int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
    struct answer_ca ca;
    if (max < 1 || query_ca(NULL, &ca) < 0)
        return 0;
    snprintf(cas[0], UMAD_CA_NAME_LEN, "%s", ca.name);
    return 1;
}

WEFT_EXPORT int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
    struct answer_ca answer;
    struct answer_port port;
    int result = query_ca(ca_name, &answer);
    if (result < 0)
        return result == -ENOENT ? result : -ENODEV;
    memset(ca, 0, sizeof *ca);
    snprintf(ca->ca_name, sizeof ca->ca_name, "%s", answer.name);
    ca->node_type = answer.node_type;
    snprintf(ca->fw_ver, sizeof ca->fw_ver, "%s", answer.firmware);
    snprintf(ca->ca_type, sizeof ca->ca_type, "%s", answer.type);
    snprintf(ca->hw_ver, sizeof ca->hw_ver, "%s", answer.hardware);
    ca->node_guid = htobe64(answer.node_guid);
    ca->system_guid = htobe64(answer.system_guid);
    /* umad_ca_t has at most UMAD_CA_MAX_PORTS ports; further ports are not shown. */
    int last =
        answer.port_count < UMAD_CA_MAX_PORTS ? (int)answer.port_count : UMAD_CA_MAX_PORTS - 1;
    for (int i = last == 0 ? 0 : 1; i <= last; i++) {
        ca->ports[i] = calloc(1, sizeof *ca->ports[i]);
        ca->numports = i;
        if (!ca->ports[i] || query_port(i, &port) < 0 || fill_port(&port, ca->ports[i]) < 0) {
            umad_release_ca(ca);
            return -EIO;
        }
    }
    return 0;
}

WEFT_EXPORT int umad_release_ca(umad_ca_t *ca)
{
    if (!ca)
        return -ENODEV;
    for (int i = 0; i <= ca->numports && i < UMAD_CA_MAX_PORTS; i++) {
        if (ca->ports[i])
            umad_release_port(ca->ports[i]);
        free(ca->ports[i]);
        ca->ports[i] = NULL;
    }
    return 0;
}

WEFT_EXPORT int umad_get_ca_portguids(const char *ca_name, __be64 *guids, int max)
{
    umad_ca_t ca;
    int result = umad_get_ca(ca_name, &ca);
    if (result < 0)
        return result == -ENODEV ? result : -1;
    int count = guids ? ca.numports + 1 : 0;
    if (count > max)
        count = -ENOMEM;
    for (int i = 0; i < count; i++)
        guids[i] = ca.ports[i] ? ca.ports[i]->port_guid : 0;
    umad_release_ca(&ca);
    return count;
}

WEFT_EXPORT int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
    struct answer_port answer;
    int result = find_port(ca_name, portnum, &answer);
    if (result < 0)
        return result == -ENODEV ? result : -EIO;
    return fill_port(&answer, port);
}

WEFT_EXPORT int umad_release_port(umad_port_t *port)
{
    if (!port)
        return -ENODEV;
    free(port->pkeys);
    port->pkeys = NULL;
    port->pkeys_size = 0;
    return 0;
}

WEFT_EXPORT int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
    struct answer_port answer;
    int result = find_port(ca_name, portnum, &answer);
    if (result < 0)
        return result;
    snprintf(path, (size_t)max, "/dev/infiniband/issm%u", answer.number);
    return 0;
}

WEFT_EXPORT struct umad_device_node *umad_get_ca_device_list(void)
{
    struct answer_ca ca;
    int result = query_ca(NULL, &ca);
    if (result < 0) {
        errno = -result;
        return NULL;
    }
    struct umad_device_node *node = calloc(1, sizeof *node);
    char *name = strdup(ca.name);
    if (!node || !name) {
        free(node);
        free(name);
        errno = ENOMEM;
        return NULL;
    }
    node->ca_name = name;
    return node;
}

WEFT_EXPORT void umad_free_ca_device_list(struct umad_device_node *head)
{
    while (head) {
        struct umad_device_node *next = head->next;
        free((void *)head->ca_name);
        free(head);
        head = next;
    }
}

/* Newer libraries distinguish the devices for SMPs and for other MADs (planes of one adapter). Here
 * both are the same. This is the layout of the library's struct, which the installed header may
 * lack. */
struct device_pair {
    char smi_name[UMAD_CA_NAME_LEN];
    uint32_t smi_preferred_port;
    char gsi_name[UMAD_CA_NAME_LEN];
    uint32_t gsi_preferred_port;
};
WEFT_EXPORT int umad_get_smi_gsi_pairs(struct device_pair *pairs, size_t max);
WEFT_EXPORT int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t portnum,
                                                 struct device_pair *pair, unsigned enforce_smi);

static int fill_pair(const char *name, int portnum, struct device_pair *pair)
{
    struct answer_port port;
    int result = find_port(name, portnum, &port);
    if (result < 0)
        return result;
    memset(pair, 0, sizeof *pair);
    snprintf(pair->smi_name, sizeof pair->smi_name, "%s", port.ca_name);
    snprintf(pair->gsi_name, sizeof pair->gsi_name, "%s", port.ca_name);
    pair->smi_preferred_port = pair->gsi_preferred_port = port.number;
    return 0;
}

int umad_get_smi_gsi_pairs(struct device_pair *pairs, size_t max)
{
    if (max < 1)
        return 0;
    return fill_pair(NULL, 0, &pairs[0]) < 0 ? -1 : 1;
}

int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t portnum, struct device_pair *pair,
                                     unsigned enforce_smi)
{
    (void)enforce_smi;
    return fill_pair(name, portnum, pair) < 0 ? 1 : 0;
}

/* ---- opened ports and agents ---- */

WEFT_EXPORT int umad_open_port(const char *ca_name, int portnum)
{
    struct answer_port port;
    struct request request;
    int result = find_port(ca_name, portnum, &port);
    if (result < 0)
        return result;
    client_prepare(&request, REQUEST_OPEN);
    request.port = (int32_t)port.number;
    int fd = client_connect(&request, 0);
    if (fd >= 0)
        return fd;
    errno = -fd;
    return -EIO;
}

WEFT_EXPORT int umad_close_port(int fd)
{
    close(fd);
    return 0;
}

WEFT_EXPORT int umad_get_fd(int fd)
{
    return fd;
}

/* Sends a request about an opened port. Returns the result, or -errno with errno set. */
static int request_for_port(int fd, struct request *request)
{
    int result = client_handle(fd, &request->handle);
    if (result == 0)
        result = client_request(request, NULL, 0);
    if (result < 0)
        errno = -result;
    return result;
}

/* Returns the agent's number, or -errno with errno set. */
static int register_agent(int fd, const struct registration *registration)
{
    struct request request;
    client_prepare(&request, REQUEST_REGISTER);
    request.registration = *registration;
    return request_for_port(fd, &request);
}

static int register_class(int fd, int class, int version, uint8_t rmpp_version,
                          const uint8_t oui[3], const long *method_mask)
{
    struct registration registration = {.class = (uint8_t) class,
                                        .class_version = (uint8_t)version,
                                        .rmpp_version = rmpp_version,
                                        .oui = {oui[0], oui[1], oui[2]}};
    if (method_mask)
        memcpy(registration.method_mask, method_mask, sizeof registration.method_mask);
    int agent = register_agent(fd, &registration);
    return agent < 0 ? -EPERM : agent;
}

WEFT_EXPORT int umad_register_oui(int fd, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
                                  long method_mask[16 / sizeof(long)])
{
    if (mgmt_class < 0x30 || mgmt_class > 0x4f)
        return -EINVAL;
    return register_class(fd, mgmt_class, 1, rmpp_version, oui, method_mask);
}

WEFT_EXPORT int umad_register(int fd, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
                              long method_mask[16 / sizeof(long)])
{
    static const uint8_t oui[] = {OPENIB_OUI >> 16, OPENIB_OUI >> 8 & 0xff, OPENIB_OUI & 0xff};
    return register_class(fd, mgmt_class, mgmt_version, rmpp_version, oui, method_mask);
}

WEFT_EXPORT int umad_register2(int fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
    if (!attr || !agent_id)
        return EINVAL;
    if (attr->mgmt_class >= 0x30 && attr->mgmt_class <= 0x4f &&
        ((attr->oui & 0x00ffffff) == 0 || (attr->oui & 0xff000000) != 0))
        return EINVAL;
    if (attr->flags & ~(uint32_t)UMAD_USER_RMPP) {
        attr->flags = UMAD_USER_RMPP;
        errno = EINVAL;
        return EINVAL;
    }
    struct registration registration = {
        .class = attr->mgmt_class,
        .class_version = attr->mgmt_class_version,
        .rmpp_version = attr->rmpp_version,
        .user_rmpp = (attr->flags & UMAD_USER_RMPP) != 0,
        .oui = {(uint8_t)(attr->oui >> 16), (uint8_t)(attr->oui >> 8), (uint8_t)attr->oui}};
    memcpy(registration.method_mask, attr->method_mask, sizeof registration.method_mask);
    int agent = register_agent(fd, &registration);
    if (agent < 0)
        return -agent;
    *agent_id = (uint32_t)agent;
    return 0;
}

WEFT_EXPORT int umad_unregister(int fd, int agentid)
{
    struct request request;
    client_prepare(&request, REQUEST_UNREGISTER);
    request.agent = (uint32_t)agentid;
    return request_for_port(fd, &request) < 0 ? -1 : 0;
}

/* ---- accessors of the buffer that depend on the ABI of the device ---- */

WEFT_EXPORT void *umad_get_mad(void *umad)
{
    return ((struct ib_user_mad *)umad)->data;
}

WEFT_EXPORT size_t umad_size(void)
{
    return sizeof(struct ib_user_mad);
}

WEFT_EXPORT int umad_set_pkey(void *umad, int pkey_index)
{
    ((struct ib_user_mad *)umad)->addr.pkey_index = (uint16_t)pkey_index;
    return 0;
}

WEFT_EXPORT int umad_get_pkey(void *umad)
{
    return ((struct ib_user_mad *)umad)->addr.pkey_index;
}

/* ---- sending and receiving ---- */

WEFT_EXPORT int umad_send(int fd, int agentid, void *umad, int length, int timeout_ms, int retries)
{
    struct mad_head *head = umad;
    errno = 0;
    head->timeout_ms = (uint32_t)timeout_ms;
    head->retries = (uint32_t)retries;
    head->agent = (uint32_t)agentid;
    if (length < RMPP_HEADER_END || length > MESSAGE_LIMIT || agentid < 0 ||
        agentid >= FILE_AGENTS) {
        errno = EINVAL;
        return -EIO;
    }
    ssize_t packet = (ssize_t)sizeof *head + (length < MESSAGE_INLINE ? length : MESSAGE_INLINE);
    ssize_t sent = length <= MESSAGE_INLINE
                       ? send(fd, umad, (size_t)packet, MSG_NOSIGNAL)
                       : endpoint_send_long(fd, head, (size_t)length, MSG_NOSIGNAL);
    time_kick();
    if (sent == packet)
        return 0;
    if (!errno)
        errno = EIO;
    return -EIO;
}

WEFT_EXPORT int umad_poll(int fd, int timeout_ms)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    int count = poll(&descriptor, 1, timeout_ms);
    if (count == 1)
        return 0;
    return count == 0 ? -ETIMEDOUT : -EIO;
}

/* Copies the beginning of the next packet, which stays in the queue. Returns its full length, or
 * -errno; -EPIPE if the server closed the connection. */
static ssize_t peek_packet(int fd, void *umad, size_t room)
{
    ssize_t got = recv(fd, umad, room, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    if (got > 0)
        return got;
    return got == 0 || errno == ECONNRESET ? -EPIPE : -errno;
}

/* Reads repeatedly before it sleeps. The number of reads doubles when that succeeds and halves when
 * not, as with a server on the same processor. */
static ssize_t await_packet(int fd, void *umad, size_t room, int timeout_ms)
{
    static __thread int spins = SPINS_MOST;
    ssize_t got = peek_packet(fd, umad, room);
    if (got != -EAGAIN || timeout_ms == 0)
        return got;
    for (int i = 0; got == -EAGAIN && i < spins; i++)
        got = peek_packet(fd, umad, room);
    if (got != -EAGAIN) {
        spins = spins * 2 < SPINS_MOST ? spins * 2 : SPINS_MOST;
        return got;
    }
    spins = spins / 2 > SPINS_LEAST ? spins / 2 : SPINS_LEAST;
    int result = umad_poll(fd, timeout_ms);
    return result < 0 ? result : peek_packet(fd, umad, room);
}

/* Reads the next packet, and the memory of its descriptor if the message is a long one. */
static int read_packet(int fd, struct mad_head *head, size_t length)
{
    union descriptor_buffer control;
    struct iovec piece = {head, MESSAGE_PACKET_BYTES};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (length <= MESSAGE_INLINE)
        return recv(fd, head, sizeof *head + length, MSG_DONTWAIT) < 0 ? -errno : 0;
    if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return -errno;
    int memory = endpoint_descriptor(&message);
    bool whole = memory >= 0 && endpoint_read_memory(memory, head + 1, length);
    if (memory >= 0)
        close(memory);
    return whole ? 0 : -EIO;
}

static int fail_with(int error)
{
    errno = error;
    return -error;
}

WEFT_EXPORT int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
    struct mad_head *head = umad;
    errno = 0;
    if (!umad || !length || *length < 0)
        return fail_with(EINVAL);
    size_t room = (size_t)*length < MESSAGE_INLINE ? (size_t)*length : MESSAGE_INLINE;
    ssize_t got = await_packet(fd, umad, sizeof *head + room, timeout_ms);
    if (got == -EPIPE) {
        /* Programs that receive in a loop, such as OpenSM, would busy-wait on a closed connection.
         */
        bool longer = timeout_ms < 0 || timeout_ms > DEAD_SERVER_PAUSE_MS;
        long pause_ms = longer ? DEAD_SERVER_PAUSE_MS : timeout_ms;
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
        return fail_with(EIO);
    }
    if (got < 0)
        return fail_with((int)-got);
    if ((size_t)got < sizeof *head || head->length < sizeof *head ||
        head->length - sizeof *head > MESSAGE_LIMIT) {
        recv(fd, head, 0, MSG_DONTWAIT); /* no message: the next one can be received */
        return fail_with(EIO);
    }
    size_t needed = head->length - sizeof *head;
    if (needed > (size_t)*length) {
        bool first_fits = *length >= MESSAGE_INLINE;
        *length = (int)needed;
        return fail_with(first_fits ? ENOSPC : EINVAL);
    }
    int result = read_packet(fd, head, needed);
    if (result < 0)
        return fail_with(-result);
    *length = (int)needed;
    return (int)head->agent;
}
