/* Addresses of the stand-in for libibverbs: address handles, paths, MTUs, multicast. */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

uint32_t mtu_bytes(enum ibv_mtu mtu)
{
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

enum ibv_mtu mtu_code(uint32_t bytes)
{
    unsigned code = IBV_MTU_256;
    while (code < IBV_MTU_4096 && 128u << code < bytes)
        code++;
    return (enum ibv_mtu)code;
}

int address_to_path(const struct ibv_ah_attr *from, struct verbs_path *path)
{
    *path = (struct verbs_path){.dlid = from->dlid,
                                .sl = from->sl,
                                .path_bits = from->src_path_bits,
                                .global = from->is_global != 0,
                                .port = from->port_num};
    if (from->is_global) {
        path->sgid_index = from->grh.sgid_index;
        path->traffic_class = from->grh.traffic_class;
        path->hop_limit = from->grh.hop_limit;
        path->flow_label = from->grh.flow_label;
        memcpy(path->dgid, from->grh.dgid.raw, sizeof path->dgid);
    }
    return from->sl < 16 ? 0 : -EINVAL;
}

void address_from_path(const struct verbs_path *from, unsigned port, struct ibv_ah_attr *to)
{
    *to = (struct ibv_ah_attr){.dlid = from->dlid,
                               .sl = from->sl,
                               .src_path_bits = from->path_bits,
                               .is_global = from->global,
                               .port_num = (uint8_t)port};
    to->grh.flow_label = from->flow_label;
    to->grh.sgid_index = from->sgid_index;
    to->grh.hop_limit = from->hop_limit;
    to->grh.traffic_class = from->traffic_class;
    memcpy(to->grh.dgid.raw, from->dgid, sizeof from->dgid);
}

/* ---- address handles ---- */

WEFT_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes)
{
    struct ah *ah;
    if (attributes->port_num < 1 || attributes->port_num > context_of(pd->context)->ports ||
        attributes->dlid == 0)
        return fail(EINVAL);
    if (attributes->dlid >= 0xC000) /* multicast has no packets here yet */
        return fail(EOPNOTSUPP);
    ah = calloc(1, sizeof *ah);
    if (!ah)
        return fail(ENOMEM);
    ah->ah.context = pd->context;
    ah->ah.pd = pd;
    if (address_to_path(attributes, &ah->path) == 0)
        return &ah->ah;
    free(ah);
    return fail(EINVAL);
}

WEFT_EXPORT int ibv_destroy_ah(struct ibv_ah *of)
{
    free(CONTAINER(of, struct ah, ah));
    return 0;
}

static int find_gid(struct ibv_context *context, unsigned number, const uint8_t gid[16])
{
    struct verbs_port port;
    if (verbs_query_port(context, number, &port))
        return -1;
    for (uint32_t i = 0; i < port.gid_count; i++)
        if (memcmp(port.gids[i], gid, 16) == 0)
            return (int)i;
    errno = EINVAL;
    return -1;
}

WEFT_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
                                    struct ibv_grh *grh, struct ibv_ah_attr *attributes)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->dlid = wc->slid;
    attributes->sl = wc->sl;
    attributes->src_path_bits = wc->dlid_path_bits;
    attributes->port_num = port;
    if (!(wc->wc_flags & IBV_WC_GRH))
        return 0;
    int index = find_gid(context, port, grh->dgid.raw);
    if (index < 0)
        return -1;
    uint32_t flow = ntohl(grh->version_tclass_flow);
    attributes->is_global = 1;
    attributes->grh.dgid = grh->sgid;
    attributes->grh.sgid_index = (uint8_t)index;
    attributes->grh.flow_label = flow & 0xFFFFF;
    attributes->grh.traffic_class = (uint8_t)(flow >> 20);
    attributes->grh.hop_limit = 0xFF;
    return 0;
}

WEFT_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
                                                 struct ibv_grh *grh, uint8_t port)
{
    struct ibv_ah_attr attributes;
    if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attributes))
        return NULL;
    return ibv_create_ah(pd, &attributes);
}

/* ---- multicast ---- */

static int change_group(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid,
                        enum verbs_kind kind)
{
    struct verbs_request request = {.kind = kind, .object = qp_of(qp)->object};
    struct verbs_answer answer;
    request.group.mlid = lid;
    memcpy(request.group.mgid, gid->raw, sizeof request.group.mgid);
    return -verbs_call(context_of(qp->context), &request, sizeof request, &answer, NULL);
}

WEFT_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return change_group(qp, gid, lid, VERBS_ATTACH_GROUP);
}

WEFT_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return change_group(qp, gid, lid, VERBS_DETACH_GROUP);
}
