/* A stand-in for libibverbs under ibsrpdm, for services.sh.
 *
 * ibsrpdm finds targets with MADs only, through libibumad, but opens the device of the same name
 * with libibverbs, too: it reads P_Keys and the port's LIDs there and prepares a queue pair that it
 * uses only as a daemon. This library is preloaded after weft's and answers these calls from
 * libibumad; the objects that ibsrpdm creates do nothing. */
#include <infiniband/umad.h>
#include <infiniband/verbs.h>

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_device device;
static struct ibv_context context;
static struct ibv_pd pd;
static struct ibv_mr mr;
static struct ibv_cq cq;
static struct ibv_qp qp;
static struct ibv_ah ah;
static struct ibv_comp_channel channel;

static int accept_receive(struct ibv_qp *to, struct ibv_recv_wr *work, struct ibv_recv_wr **bad)
{
    (void)to, (void)work, (void)bad;
    return 0;
}

static int accept_notify(struct ibv_cq *of, int solicited)
{
    (void)of, (void)solicited;
    return 0;
}

static int read_port(umad_port_t *port)
{
    return umad_get_port(device.name, 1, port);
}

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(2, sizeof *list);
    umad_ca_t ca;
    if (!list || umad_get_ca(NULL, &ca) < 0)
        return list;
    snprintf(device.name, sizeof device.name, "%s", ca.ca_name);
    umad_release_ca(&ca);
    context.device = &device;
    context.ops.post_recv = accept_receive;
    context.ops.req_notify_cq = accept_notify;
    qp.context = pd.context = cq.context = &context;
    list[0] = &device;
    if (count)
        *count = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *of)
{
    return of->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
    (void)of;
    return &context;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *of, uint8_t number, struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *attributes = (void *)compat;
    umad_port_t port;
    (void)of, (void)number;
    if (read_port(&port) < 0)
        return -1;
    attributes->lid = (uint16_t)port.base_lid;
    attributes->sm_lid = (uint16_t)port.sm_lid;
    attributes->state = (enum ibv_port_state)port.state;
    umad_release_port(&port);
    return 0;
}

int ibv_query_pkey(struct ibv_context *of, uint8_t number, int index, __be16 *p_key)
{
    umad_port_t port;
    (void)of, (void)number;
    if (read_port(&port) < 0)
        return -1;
    bool known = index < (int)port.pkeys_size;
    if (known)
        *p_key = htons(port.pkeys[index]);
    umad_release_port(&port);
    return known ? 0 : -1;
}

int ibv_get_pkey_index(struct ibv_context *of, uint8_t number, __be16 p_key)
{
    __be16 here;
    for (int i = 0; ibv_query_pkey(of, number, i, &here) == 0; i++)
        if (here == p_key)
            return i;
    return -1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *of)
{
    (void)of;
    return &pd;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of)
{
    (void)of;
    return &channel;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int entries, void *owner,
                             struct ibv_comp_channel *events, int vector)
{
    (void)of, (void)entries, (void)owner, (void)events, (void)vector;
    return &cq;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *of, void *address, size_t bytes, int access)
{
    (void)of, (void)address, (void)bytes, (void)access;
    return &mr;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *of, struct ibv_qp_init_attr *attributes)
{
    (void)of, (void)attributes;
    return &qp;
}

int ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attributes, int mask)
{
    (void)of, (void)attributes, (void)mask;
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *of, struct ibv_ah_attr *attributes)
{
    (void)of, (void)attributes;
    return &ah;
}

#define ENDS(name, type)                                                                           \
    int name(type object)                                                                          \
    {                                                                                              \
        (void)object;                                                                              \
        return 0;                                                                                  \
    }
ENDS(ibv_close_device, struct ibv_context *)
ENDS(ibv_dealloc_pd, struct ibv_pd *)
ENDS(ibv_dereg_mr, struct ibv_mr *)
ENDS(ibv_destroy_cq, struct ibv_cq *)
ENDS(ibv_destroy_qp, struct ibv_qp *)
ENDS(ibv_destroy_ah, struct ibv_ah *)
ENDS(ibv_destroy_comp_channel, struct ibv_comp_channel *)
