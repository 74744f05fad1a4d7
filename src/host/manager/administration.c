/* Couples the SM with its SA, which know nothing of each other: subnet, routes and mastership go to
 * the SA, requests for re-registration come back. Also converts addresses of SA messages to and
 * from `struct mad_head`, which is in network byte order. */
#include "host/manager/administration.h"

#include "base/time.h"
#include "wire/packet.h"

#include <arpa/inet.h>

enum { ANSWER_RETRIES = 3 }; /* of the segments of an RMPP answer */

struct sa_message administration_message(const struct mad_head *head, const uint8_t *data,
                                         size_t bytes)
{
    struct sa_message message = {.data = data,
                                 .bytes = bytes,
                                 .address = {.lid = ntohs(head->lid),
                                             .sl = head->sl,
                                             .path_bits = head->path_bits,
                                             .p_key_index = head->p_key_index,
                                             .qp = ntohl(head->qpn),
                                             .q_key = Q_KEY_GSI,
                                             .has_gid = head->grh_present != 0}};
    memcpy(message.address.gid, head->gid, sizeof message.address.gid);
    return message;
}

struct mad_head administration_head(const struct sa_message *message)
{
    const struct sa_address *address = &message->address;
    return (struct mad_head){.timeout_ms = (uint32_t)(message->request_timeout_ns / NS_PER_MS),
                             .retries = message->request_timeout_ns ? 0 : ANSWER_RETRIES,
                             .qpn = htonl(address->qp),
                             .q_key = htonl(address->q_key),
                             .lid = htons(address->lid),
                             .sl = address->sl,
                             .path_bits = address->path_bits,
                             .p_key_index = address->p_key_index};
}

void administration_update_view(struct sa *sa, uint64_t now, const struct sm *sm, uint8_t priority)
{
    struct sm_paths paths = sm_paths(sm);
    struct sa_view view = {
        .subnet = sm_subnet(sm),
        .network = paths.network,
        .routes = paths.routes,
        .qos = paths.qos,
        .layout = paths.layout,
        .generation = paths.generation,
        .priority = priority,
        .act_count = sm_act_count(sm),
    };
    sa_update_view(sa, now, &view);
}

void administration_sync(struct sa *sa, uint64_t now, struct sm *sm, bool reregister)
{
    struct sm_master master;
    uint64_t guid;
    bool follows = sm_state(sm) == SM_STANDBY && sm_master(sm, &master);
    if (follows)
        sa_follow(sa, now, &(struct sa_master){master.lid, master.sl, master.weft});
    else if (sm_state(sm) != SM_STANDBY)
        sa_follow(sa, now, NULL);
    sm_set_syncing(sm, follows && master.weft && sa_registry_master(sa) != master.lid);
    if (sm_state(sm) != SM_MASTER)
        sm_set_registry_master(sm, sa_registry_master(sa));
    else if (sm_paths(sm).network && reregister)
        sm_reregister_clients(sm, now);
    sa_set_incomplete(sa, reregister && !sm_has_asked_clients(sm, now));
    while (sa_next_reregistration(sa, &guid))
        if (reregister)
            sm_reregister_client(sm, now, guid);
}
