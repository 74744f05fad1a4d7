/* The protocol between a fabric server and its clients, the preload library and `weft ctl`.
 *
 * A client opens one SOCK_SEQPACKET connection for each request. Its first packet is a `struct
 * request`. The server answers with one packet: a `struct answer` and `answer.bytes` bytes of data
 * (after REQUEST_CTL, further packets carry more text). Then it closes the connection. After
 * REQUEST_OPEN, REQUEST_MANAGER and REQUEST_VERBS the connection stays open: an opened port carries
 * MADs in both directions, a manager's connection carries nothing, and verbs_protocol.h describes
 * that of an opened device. When such a connection closes, for example
 * because the process died, the server closes the port or clears IsSM. Requests share no state, so
 * clients may use threads and fork.
 *
 * An opened port is identified by its descriptor: the client binds the socket to an address that
 * the kernel chooses before it connects (unix(7), "autobind"). Any holder of the descriptor can
 * read that address and register agents under it. The address survives fork, dup and exec.
 *
 * A MAD is sent as the `struct ib_user_mad` of the kernel's ABI, with the header defined below,
 * followed by its bytes: the data of umad_send() and umad_recv() is passed unchanged. A message of
 * more than MESSAGE_INLINE bytes (RMPP) comes with a descriptor of memory that holds the whole
 * message; the packet has its first MESSAGE_INLINE bytes. All fields are in host order, since both
 * ends are on one machine, unless stated otherwise. */
#ifndef WEFT_HOST_SOCKET_PROTOCOL_H
#define WEFT_HOST_SOCKET_PROTOCOL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROTOCOL_MAGIC        0x77656674u /* "weft" */
#define PROTOCOL_VERSION      1
#define WEFT_SOCKET_VARIABLE  "WEFT_SOCKET"    /* path of the fabric server's socket */
#define WEFT_MANAGER_VARIABLE "WEFT_SM_SOCKET" /* path of a manager's control socket */
#define WEFT_ATTACH_VARIABLE  "WEFT_ATTACH"    /* NODE or NODE:PORT, by name, description or GUID */

enum {
    ATTACH_BYTES = 192,
    CTL_BYTES = 1024,
    MESSAGE_INLINE = 256,
    MESSAGE_LIMIT = 64 * 1024 * 1024, /* longest message, RMPP reassembled */
    PORT_P_KEYS = 128,
    FILE_AGENTS = 32, /* at most, for one opened port */
};

enum request_kind {
    REQUEST_CA = 1,     /* → struct answer_ca: the adapter (or switch) at the attachment */
    REQUEST_PORT,       /* `port` → struct answer_port */
    REQUEST_OPEN,       /* `port`; then MADs */
    REQUEST_REGISTER,   /* `handle`, `registration` → `result` is the agent's number */
    REQUEST_UNREGISTER, /* `handle`, `agent` */
    REQUEST_MANAGER,    /* `port`: IsSM while this connection lives; -EBUSY if it is set already */
    REQUEST_CTL, /* `text` (words, each ended by NUL), `json` → text; -EINVAL: an error message */
    REQUEST_SYSFS, /* → path of the directory that replaces /sys/class */
    REQUEST_VERBS, /* → the reason of an error; then verbs_protocol.h */
};

struct registration {
    uint8_t class, class_version, rmpp_version;
    uint8_t user_rmpp; /* the program does RMPP itself */
    uint8_t oui[3];
    uint8_t reserved;
    uint32_t method_mask[4]; /* unsolicited methods to receive, one bit for each method number */
};

struct request {
    uint32_t magic, version;
    uint32_t kind;             /* enum request_kind */
    int32_t port;              /* 0: the best port of the attachment */
    char attach[ATTACH_BYTES]; /* "": the server's default */
    uint32_t handle;           /* number in the autobound address of an opened port's socket */
    uint32_t agent;
    uint32_t json;
    struct registration registration;
    char text[CTL_BYTES];
};

enum { CTL_PENDING = 1 }; /* a result: the work takes time, the client has to ask again */
struct answer {
    int32_t result; /* >= 0, or -errno */
    uint32_t bytes; /* of the struct or text that follows in the same packet */
};

struct answer_ca {
    char name[20]; /* "weft0" */
    uint32_t node_type;
    uint32_t port_count; /* the highest port number; 0 for a switch, which has port 0 only */
    uint32_t pad;
    uint64_t node_guid, system_guid;
    char firmware[20], hardware[20], type[40], description[68];
};

struct answer_port {
    char ca_name[20];
    uint32_t number, base_lid, lmc, sm_lid, sm_sl, state, physical_state, rate, capability_mask;
    uint64_t gid_prefix, port_guid;
    uint32_t p_key_count;
    uint16_t p_keys[PORT_P_KEYS];
};

/* struct ib_user_mad without its data. The server ignores `status` and `length`. Towards the
 * client, `status` is 0, or ETIMEDOUT if this is the client's own request that was not answered,
 * and `length` is the size of this head and the whole message. */
struct mad_head {
    uint32_t agent;
    uint32_t status;
    uint32_t timeout_ms; /* 0: expect no answer */
    uint32_t retries;
    uint32_t length;
    uint32_t qpn, q_key; /* these, and lid and flow_label, in network order */
    uint16_t lid;
    uint8_t sl, path_bits, grh_present, gid_index, hop_limit, traffic_class;
    uint8_t gid[16];
    uint32_t flow_label;
    uint16_t p_key_index;
    uint8_t reserved[6];
};

/* The longest packet of an opened port. */
enum { MESSAGE_PACKET_BYTES = sizeof(struct mad_head) + MESSAGE_INLINE };

/* The path of a socket in the user's runtime directory. Returns as snprintf() does. */
static inline int protocol_runtime_path(char *path, size_t size, const char *name)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    return runtime && *runtime ? snprintf(path, size, "%s/weft/%s", runtime, name)
                               : snprintf(path, size, "/tmp/weft-%u/%s", (unsigned)getuid(), name);
}

/* The path of the server's socket: from the environment, or the default of a server without
 * --socket. Returns its length, which is `size` or more if the path was truncated. */
static inline int protocol_socket_path(char *path, size_t size)
{
    const char *given = getenv(WEFT_SOCKET_VARIABLE);
    return given && *given ? snprintf(path, size, "%s", given)
                           : protocol_runtime_path(path, size, "fabric");
}

/* The path of the control socket of `weft live`, if no option names it. */
static inline int protocol_live_path(char *path, size_t size)
{
    return protocol_runtime_path(path, size, "live");
}

/* The path of a manager's control socket, if no option names it: from the environment; beside the
 * socket of the fabric in WEFT_SOCKET; in /run/weft for the superuser, else in the user's runtime
 * directory. */
static inline int protocol_manager_path(char *path, size_t size)
{
    const char *given = getenv(WEFT_MANAGER_VARIABLE), *fabric = getenv(WEFT_SOCKET_VARIABLE);
    if (given && *given)
        return snprintf(path, size, "%s", given);
    if (fabric && *fabric)
        return snprintf(path, size, "%s.sm", fabric);
    return getuid() == 0 ? snprintf(path, size, "/run/weft/sm.sock")
                         : protocol_runtime_path(path, size, "sm.sock");
}

#endif
