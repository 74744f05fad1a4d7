/* The part of the protocol of opened devices (verbs_protocol.h) that serves librdmacm.
 *
 * A `struct ipcm_request` is sent and answered as a `struct verbs_request` is. The server is the
 * connection manager of the node: it resolves IP addresses of hosts, asks the subnet
 * administration for paths, and exchanges messages of class 0x07 with the managers of other hosts.
 *
 * An ID is an end of a connection, a listener, or an end of a datagram service. Its events wait in
 * the channel that it belongs to: the pipe of a channel has one byte for each of them, and
 * IPCM_NEXT_EVENT takes the oldest. Service IDs and the head of private data are those of the IP CM
 * service (annex A11). Addresses and port numbers are in host order. */
#ifndef WEFT_HOST_SOCKET_IPCM_PROTOCOL_H
#define WEFT_HOST_SOCKET_IPCM_PROTOCOL_H

#include <stdint.h>

enum {
    IPCM_IDS = 4096,    /* of a connection, at most */
    IPCM_CHANNELS = 64, /* each is a descriptor of the server */
    IPCM_EVENTS = 4096, /* of a channel that the program has not taken; then requests are refused */
    IPCM_DATA = 256,    /* bytes of private data */
    IPCM_GROUPS = 64,   /* that an ID may join */
};

enum ipcm_kind {
    IPCM_ADD_CHANNEL = 64, /* → object, + pipe */
    IPCM_REMOVE_CHANNEL,
    IPCM_NEXT_EVENT, /* of a channel → event; -EAGAIN: none */
    IPCM_ADD_ID,     /* channel, space → object */
    IPCM_REMOVE_ID,
    IPCM_VIEW,          /* → view */
    IPCM_BIND,          /* from → view */
    IPCM_RESOLVE,       /* from (or none), to → view; event */
    IPCM_ROUTE,         /* timeout_ms; event */
    IPCM_LISTEN,        /* value: backlog */
    IPCM_CONNECT,       /* parameters; event */
    IPCM_ACCEPT,        /* parameters */
    IPCM_CONFIRM,       /* after IPCM_RESPONSE */
    IPCM_REJECT,        /* parameters.data */
    IPCM_ESTABLISHED,   /* a packet arrived before the confirmation */
    IPCM_DISCONNECT,    /* event */
    IPCM_QP_ATTRIBUTES, /* value: state → qp */
    IPCM_MIGRATE,       /* channel: takes the events of the ID over */
    IPCM_SET_OPTION,    /* option, value */
    IPCM_JOIN,          /* to, or mgid; value: join state; event */
    IPCM_LEAVE,         /* to, or mgid */
    IPCM_FIND_HOST,     /* name → view.to */
};

enum ipcm_space { /* as rdma_port_space */
                  IPCM_SPACE_IPOIB = 0x0002,
                  IPCM_SPACE_TCP = 0x0106,
                  IPCM_SPACE_UDP = 0x0111,
};
enum ipcm_option {
    IPCM_OPTION_TOS,
    IPCM_OPTION_REUSE,
    IPCM_OPTION_AF_ONLY,
    IPCM_OPTION_ACK_TIMEOUT
};

enum ipcm_event_kind { /* as rdma_cm_event_type */
                       IPCM_ADDRESS_RESOLVED,
                       IPCM_ADDRESS_ERROR,
                       IPCM_ROUTE_RESOLVED,
                       IPCM_ROUTE_ERROR,
                       IPCM_CONNECT_REQUEST,
                       IPCM_RESPONSE,
                       IPCM_CONNECT_ERROR,
                       IPCM_UNREACHABLE,
                       IPCM_REJECTED,
                       IPCM_CONNECTED,
                       IPCM_DISCONNECTED,
                       IPCM_DEVICE_REMOVAL,
                       IPCM_JOINED,
                       IPCM_JOIN_ERROR,
                       IPCM_ADDRESS_CHANGE,
                       IPCM_TIMEWAIT_EXIT,
};

struct ipcm_address {
    uint32_t address; /* 0: none, or any */
    uint16_t port;
    uint16_t family; /* 0: none given; 4 */
};

struct ipcm_parameters {
    uint32_t qp_number, q_key;
    uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry, srq;
    uint8_t service; /* enum verbs_service */
    uint8_t bytes;   /* of `data` */
    uint8_t data[IPCM_DATA];
};

struct ipcm_request {
    uint32_t kind, object; /* as of a struct verbs_request */
    uint32_t channel, space, value, option, timeout_ms;
    struct ipcm_address from, to;
    uint8_t mgid[16]; /* unless `to` is given */
    union {
        struct ipcm_parameters parameters;
        char name[192];
    };
};

/* What an ID has resolved. */
struct ipcm_view {
    struct ipcm_address from, to;
    uint8_t port; /* of the adapter; 0: not known yet */
    uint8_t routed;
    uint8_t sl, mtu, rate, packet_life, hop_limit, traffic_class; /* of the path, as in records */
    uint16_t p_key, slid, dlid;
    uint32_t flow_label;
    uint8_t sgid[16], dgid[16];
};

struct ipcm_event {
    uint32_t kind; /* enum ipcm_event_kind */
    uint32_t id, listener;
    int32_t status;
    uint64_t group; /* IPCM_JOINED, IPCM_JOIN_ERROR: number of the join */
    struct ipcm_parameters parameters;
    /* Of datagram services and groups: the address of the other end. */
    uint16_t dlid;
    uint8_t sl, global, traffic_class, hop_limit, port, path_bits;
    uint32_t flow_label;
    uint8_t dgid[16];
};

#endif
