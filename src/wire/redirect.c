/* Reads and writes the redirection in a ClassPortInfo, and rejects one without LID or queue pair,
 * one back to an address of the trail, and the one after REDIRECT_STEPS. */
#include "wire/redirect.h"

#include "wire/packet.h"

#include <assert.h>
#include <errno.h>

struct redirect redirect_to(uint16_t lid, uint8_t sl)
{
    return (struct redirect){
        .lid = lid, .p_key = P_KEY_DEFAULT, .sl = sl, .qp = QP_GSI, .q_key = Q_KEY_GSI};
}

void redirect_begin(struct redirect_trail *trail, const struct redirect *first)
{
    trail->steps[0] = *first;
    trail->count = 1;
}

int redirect_follow(struct redirect_trail *trail, const uint8_t *answer, size_t bytes, size_t at,
                    struct err *err)
{
    const unsigned by = redirect_target(trail)->lid;
    assert(trail->count >= 1 && trail->count <= REDIRECT_STEPS + 1);
    const uint8_t *info = answer + at;
    if (bytes < at + WIRE_BYTES_CLASS_PORT_INFO ||
        wire_get(answer, MAD_ATTRIBUTE_ID) != ATTRIBUTE_CLASS_PORT_INFO)
        return err_set(err, EPROTO, "LID %u redirects the request without a ClassPortInfo", by);
    struct redirect to = {.lid = (uint16_t)wire_get(info, CLASS_PORT_INFO_REDIRECT_LID),
                          .p_key = (uint16_t)wire_get(info, CLASS_PORT_INFO_REDIRECT_P_KEY),
                          .sl = (uint8_t)wire_get(info, CLASS_PORT_INFO_REDIRECT_SL),
                          .qp = (uint32_t)wire_get(info, CLASS_PORT_INFO_REDIRECT_QP),
                          .q_key = (uint32_t)wire_get(info, CLASS_PORT_INFO_REDIRECT_Q_KEY)};
    if (!to.lid || to.lid > LID_UNICAST_LAST)
        return err_set(err, EPROTO, "LID %u redirects the request without a LID", by);
    if (!to.qp)
        return err_set(err, EPROTO, "LID %u redirects the request to LID %u without a queue pair",
                       by, to.lid);
    for (unsigned i = 0; i < trail->count; i++)
        if (trail->steps[i].lid == to.lid && trail->steps[i].qp == to.qp)
            return err_set(err, ELOOP,
                           "LID %u redirects the request to LID %u, which has redirected it before",
                           by, to.lid);
    if (trail->count > REDIRECT_STEPS)
        return err_set(err, ELOOP,
                       "LID %u redirects the request to LID %u: too many steps from LID %u", by,
                       to.lid, trail->steps[0].lid);
    trail->steps[trail->count++] = to;
    return 0;
}

void redirect_write(const struct redirect *to, uint8_t *class_port_info)
{
    wire_set(class_port_info, CLASS_PORT_INFO_REDIRECT_LID, to->lid);
    wire_set(class_port_info, CLASS_PORT_INFO_REDIRECT_SL, to->sl);
    wire_set(class_port_info, CLASS_PORT_INFO_REDIRECT_P_KEY, to->p_key);
    wire_set(class_port_info, CLASS_PORT_INFO_REDIRECT_QP, to->qp);
    wire_set(class_port_info, CLASS_PORT_INFO_REDIRECT_Q_KEY, to->q_key);
}
