/* Opens and uses a port through libibumad.
 *
 * Requests are sent with a time-out, since otherwise the kernel does not match answers with them.
 * It is slightly shorter than the core's time-out: the kernel refuses a request whose transaction
 * ID is still outstanding, and must have expired the first transmission before the core repeats it.
 * Requests that the kernel returns as timed out are dropped, since the core has its own timers.
 *
 * A library that replaces the device may return descriptors that are unknown to the kernel. ibsim's
 * does, and its poll() ignores all other descriptors if one of them is its own. Such a port is
 * polled in short intervals, alternating with the other descriptors.
 *
 * Traps, the queries of the administration and the counters of ports have files of their own if
 * possible, and therefore queues of their own in the kernel: a flood of traps or queries neither
 * delays other SMPs nor fills their queue. The manager's file is read first, and again after every
 * OTHERS_IN_A_ROW MADs of the others, which take turns. */
#undef _FILE_OFFSET_BITS /* ibsim's library replaces open(), but not open64() */

#include "host/daemon/device_port.h"

#include "base/time.h"
#include "host/device/port_search.h"
#include "host/manager/administration.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    INTERVAL_MS = 5,
    QUIET_MS = 20,
    QUIET_ROUNDS = 100,
    KERNEL_EARLY_MS = 10, /* the kernel's time-out is this much shorter than the core's */
    QUERY_BYTES = 8192,   /* at most; answers may be longer */
    ANSWER_BYTES = 128 << 20,
    OTHERS_IN_A_ROW = 16, /* before the manager's file is read again */
};

/* Files beside the manager's. A file that is shared with another one has its id, and no descriptor.
 */
enum { FILE_TRAPS, FILE_QUERIES, FILE_COUNTERS, FILES };
struct umad_file {
    int id, fd;
    bool empty; /* it was, or it is shared */
};

struct device_port {
    int id, fd, manager_fd;
    struct umad_file files[FILES];
    unsigned others; /* MADs of these files received in a row */
    unsigned turn;   /* the file to read next */
    int directed_agent, lid_agent, administration_agent;
    int performance_agent; /* -1: none */
    bool unpollable, gone;
    uint64_t guid;
    char name[192];
    uint8_t *in, *out; /* umad buffers */
    int in_bytes;      /* size of `in`, without the header */
    size_t out_bytes;  /* the same of `out` */
};

/* ---- open and close ---- */

static int port_busy(const struct device_port *port, struct err *err)
{
    return err_set(err, EBUSY, "another subnet manager runs at %s already", port->name);
}

static int claim_manager(struct device_port *port, const char *name, int number, struct err *err)
{
    char path[256];
    if (umad_get_issm_path(name, number, path, sizeof path) < 0)
        return err_set(err, ENODEV, "%s has no issm device", port->name);
    port->manager_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (port->manager_fd >= 0)
        return 0;
    if (errno == EAGAIN || errno == EBUSY)
        return port_busy(port, err);
    return err_set(err, errno, "cannot open %s: %s", path, strerror(errno));
}

/* Registers for requests to our SMInfo, or for traps. Answers are delivered by transaction ID. */
static int register_agent(int id, int class, long wanted)
{
    long methods[16 / sizeof(long)] = {wanted};
    return umad_register(id, class, 1, 0, methods);
}

/* A second file for traps. Without it the manager's file gets them. */
static void register_agents(struct device_port *port, const char *name, int number)
{
    const long requests = 1L << METHOD_GET | 1L << METHOD_SET;
    const long traps = 1L << METHOD_TRAP | 1L << METHOD_TRAP_REPRESS;
    struct umad_file *file = &port->files[FILE_TRAPS];
    file->id = port->unpollable ? -1 : umad_open_port(name, number);
    if (file->id >= 0 && (register_agent(file->id, CLASS_SUBN_DIRECTED, traps) < 0 ||
                          register_agent(file->id, CLASS_SUBN_LID, traps) < 0)) {
        umad_close_port(file->id);
        file->id = -1;
    }
    bool own_traps = file->id < 0;
    if (own_traps)
        file->id = port->id;
    else
        file->fd = umad_get_fd(file->id);
    port->directed_agent =
        register_agent(port->id, CLASS_SUBN_DIRECTED, requests | (own_traps ? traps : 0));
    port->lid_agent = register_agent(port->id, CLASS_SUBN_LID, requests | (own_traps ? traps : 0));
}

static int open_failed(const char *name, int number, struct err *err)
{
    int error = errno ? errno : EIO;
    return err_set(err, error, "cannot open %s port %d: %s", name, number, strerror(error));
}

static void open_file(struct umad_file *file, const char *name, int number)
{
    file->id = umad_open_port(name, number);
    if (file->id >= 0)
        file->fd = umad_get_fd(file->id);
}

static int open_port(struct device_port *port, const umad_port_t *info, struct err *err)
{
    struct device_pair pair = port_search_pair(info);
    int smi = (int)pair.smi_preferred_port, gsi = (int)pair.gsi_preferred_port;
    bool same = strcmp(pair.smi_name, pair.gsi_name) == 0;
    port->id = umad_open_port(pair.smi_name, smi);
    if (port->id < 0)
        return open_failed(pair.smi_name, smi, err);
    port->fd = umad_get_fd(port->id);
    port->unpollable = fcntl(port->fd, F_GETFD) < 0;
    register_agents(port, pair.smi_name, smi);
    struct umad_file *queries = &port->files[FILE_QUERIES], *counters = &port->files[FILE_COUNTERS];
    if (!port->unpollable || !same)
        open_file(queries, pair.gsi_name, gsi);
    if (queries->fd < 0 && !same)
        return open_failed(pair.gsi_name, gsi, err);
    if (queries->fd < 0)
        queries->id = port->id;
    if (!port->unpollable)
        open_file(counters, pair.gsi_name, gsi);
    if (counters->fd < 0)
        counters->id = queries->id;
    port->administration_agent = umad_register(queries->id, CLASS_SUBN_ADM, 2, RMPP_THIS_VERSION,
                                               (long[16 / sizeof(long)]){ADMINISTRATION_METHODS});
    port->performance_agent = umad_register(counters->id, CLASS_PERFORMANCE, 1, 0, NULL);
    size_t length = strlen(port->name);
    if (!same)
        snprintf(port->name + length, sizeof port->name - length,
                 "; SMPs at %s port %d, queries at %s port %d", pair.smi_name, smi, pair.gsi_name,
                 gsi);
    if (port->directed_agent < 0 || port->lid_agent < 0 || port->administration_agent < 0)
        return port_busy(port, err);
    return claim_manager(port, pair.smi_name, smi, err);
}

int device_port_open(struct device_port **result, const struct port_choice *choice,
                     bool may_be_down, struct err *err)
{
    umad_port_t found;
    int status = port_search(&found, choice, may_be_down, err);
    if (status < 0)
        return status;
    struct device_port *port = mem_zalloc(1, sizeof *port);
    port->id = port->manager_fd = -1;
    for (unsigned i = 0; i < FILES; i++)
        port->files[i] = (struct umad_file){.id = -1, .fd = -1};
    port->guid = be64toh(found.port_guid);
    /* Only values that do not change while the port is open. */
    snprintf(port->name, sizeof port->name, "%s port %d (0x%016" PRIx64 "), %u Gb/s", found.ca_name,
             found.portnum, port->guid, found.rate);
    /* umad_size() is not valid before the port is open; sizeof(struct ib_user_mad) is its maximum.
     */
    port->in = mem_zalloc(1, sizeof(struct ib_user_mad) + QUERY_BYTES);
    port->in_bytes = QUERY_BYTES;
    port->out = mem_zalloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    port->out_bytes = MAD_BYTES;
    status = open_port(port, &found, err);
    if (status < 0) {
        device_port_close(port);
        return status;
    }
    *result = port;
    return 0;
}

/* ibsim's library hangs at its end if a MAD arrives at that time: waits until no MAD arrives. */
static void wait_until_quiet(struct device_port *port)
{
    struct sm_message message;
    struct sa_message query;
    for (int i = 0; i < QUIET_ROUNDS && umad_poll(port->id, QUIET_MS) == 0; i++)
        while (device_port_receive(port, &message, &query) != MAD_NONE)
            continue;
}

void device_port_close(struct device_port *port)
{
    if (!port)
        return;
    if (port->unpollable)
        wait_until_quiet(port);
    if (port->manager_fd >= 0)
        close(port->manager_fd);
    for (unsigned i = 0; i < FILES; i++)
        if (port->files[i].fd >= 0)
            umad_close_port(port->files[i].id);
    if (port->id >= 0)
        umad_close_port(port->id);
    umad_done();
    mem_free(port->in);
    mem_free(port->out);
    mem_free(port);
}

uint64_t device_port_guid(const struct device_port *port)
{
    return port->guid;
}

const char *device_port_name(const struct device_port *port)
{
    return port->name;
}

bool device_port_is_gone(const struct device_port *port)
{
    return port->gone;
}

/* ---- MADs ---- */

int device_port_send(struct device_port *port, const struct sm_message *message)
{
    int agent = mad_is_directed(message->mad) ? port->directed_agent : port->lid_agent;
    int timeout = 0;
    if (!mad_is_response(message->mad)) {
        timeout = (int)(message->request_timeout_ns / NS_PER_MS) - KERNEL_EARLY_MS;
        timeout = timeout > 0 ? timeout : 1;
    }
    umad_set_addr(port->out, message->lid, 0, message->sl, 0);
    memcpy(umad_get_mad(port->out), message->mad, MAD_BYTES);
    int status = umad_send(port->id, agent, port->out, MAD_BYTES, timeout, 0);
    return status < 0 ? -(errno ? errno : EIO) : 0;
}

int device_port_answer(struct device_port *port, const struct sa_message *message)
{
    const struct mad_head head = administration_head(message);
    assert(message->bytes >= MAD_HEADER_BYTES && message->bytes <= INT_MAX);
    if (message->bytes > port->out_bytes) {
        port->out = mem_realloc(port->out, 1, sizeof(struct ib_user_mad) + message->bytes);
        port->out_bytes = message->bytes;
    }
    memcpy(port->out, &head, sizeof head);
    memcpy(umad_get_mad(port->out), message->data, message->bytes);
    int status = umad_send(port->files[FILE_QUERIES].id, port->administration_agent, port->out,
                           (int)message->bytes, (int)head.timeout_ms, (int)head.retries);
    umad_set_pkey(port->out, 0);
    umad_get_mad_addr(port->out)->path_bits = 0;
    return status < 0 ? -(errno ? errno : EIO) : 0;
}

int device_port_ask(struct device_port *port, const struct perf_request *request)
{
    if (port->performance_agent < 0)
        return -ENODEV;
    umad_set_addr(port->out, request->to.lid, (int)request->to.qp, request->to.sl,
                  (int)request->to.q_key);
    memcpy(umad_get_mad(port->out), request->mad, MAD_BYTES);
    int status = umad_send(port->files[FILE_COUNTERS].id, port->performance_agent, port->out,
                           MAD_BYTES, (int)(request->timeout_ns / NS_PER_MS), 0);
    return status < 0 ? -(errno ? errno : EIO) : 0;
}

static enum mad_arrival receive_from(struct device_port *port, int id, struct sm_message *message,
                                     struct sa_message *query)
{
    for (;;) {
        int length = port->in_bytes;
        if (umad_recv(id, port->in, &length, 0) < 0) {
            if (errno != ENOSPC || length <= port->in_bytes || length > ANSWER_BYTES)
                return MAD_NONE;
            port->in = mem_realloc(port->in, 1, sizeof(struct ib_user_mad) + (size_t)length);
            port->in_bytes = length;
            continue;
        }
        const uint8_t *mad = umad_get_mad(port->in);
        const ib_mad_addr_t *address = umad_get_mad_addr(port->in);
        if (umad_status(port->in) != 0 || length < MAD_HEADER_BYTES)
            continue; /* our own request, timed out */
        if (wire_get(mad, MAD_CLASS) == CLASS_SUBN_ADM) {
            struct mad_head head;
            memcpy(&head, port->in, sizeof head);
            *query = administration_message(&head, mad, (size_t)length);
            return MAD_FOR_ADMINISTRATION;
        }
        if (length != MAD_BYTES)
            continue;
        message->lid = be16toh(address->lid);
        message->sl = address->sl;
        memcpy(message->mad, mad, MAD_BYTES);
        return wire_get(mad, MAD_CLASS) == CLASS_PERFORMANCE ? MAD_FOR_COUNTERS : MAD_FOR_MANAGER;
    }
}

enum mad_arrival device_port_receive(struct device_port *port, struct sm_message *message,
                                     struct sa_message *query)
{
    enum mad_arrival arrival = MAD_NONE;
    if (port->others % OTHERS_IN_A_ROW == 0) {
        arrival = receive_from(port, port->id, message, query);
        if (arrival != MAD_NONE)
            return arrival;
        for (unsigned i = 0; i < FILES; i++)
            port->files[i].empty = port->files[i].fd < 0;
    }
    for (unsigned i = 0; i < FILES && arrival == MAD_NONE; i++) {
        struct umad_file *file = &port->files[port->turn];
        port->turn = (port->turn + 1) % FILES;
        if (file->empty)
            continue;
        arrival = receive_from(port, file->id, message, query);
        file->empty = arrival == MAD_NONE; /* until the manager's file is read again */
    }
    if (arrival != MAD_NONE) {
        port->others++;
        return arrival;
    }
    bool again = port->others % OTHERS_IN_A_ROW != 0;
    port->others = 0;
    return again ? device_port_receive(port, message, query) : MAD_NONE;
}

static void wait_in_intervals(struct device_port *port, struct pollfd *others, size_t count,
                              uint64_t timeout_ns)
{
    uint64_t left_ms = timeout_ns == TIME_NEVER ? UINT64_MAX : timeout_ns / NS_PER_MS + 1;
    do {
        uint64_t interval = left_ms < INTERVAL_MS ? left_ms : INTERVAL_MS;
        if (umad_poll(port->id, (int)interval) == 0)
            return;
        left_ms -= left_ms == UINT64_MAX ? 0 : interval;
    } while (poll(others, count, 0) == 0 && left_ms);
}

void device_port_wait(struct device_port *port, struct pollfd *others, size_t count,
                      uint64_t timeout_ns)
{
    enum { OWN = FILES + 1 };
    struct pollfd all[16] = {{.fd = port->fd, .events = POLLIN}};
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
                               .tv_nsec = (long)(timeout_ns % NS_PER_S)};
    if (port->unpollable) {
        wait_in_intervals(port, others, count, timeout_ns);
        return;
    }
    assert(count + OWN <= sizeof all / sizeof *all);
    for (unsigned i = 0; i < FILES; i++)
        all[1 + i] = (struct pollfd){.fd = port->files[i].fd, .events = POLLIN};
    memcpy(all + OWN, others, count * sizeof *others);
    if (ppoll(all, count + OWN, timeout_ns == TIME_NEVER ? NULL : &timeout, NULL) < 0)
        memset(all, 0, sizeof all); /* interrupted */
    for (size_t i = 0; i < count; i++)
        others[i].revents = all[i + OWN].revents;
    port->gone |= (all[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}
