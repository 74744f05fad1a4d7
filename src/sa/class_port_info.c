/* ClassPortInfo of the SA: capabilities and redirection (13.4.8.1, 15.2).
 *
 * The SA is usually at the port of the manager. If it is at another port, it redirects its clients.
 * saquery does not follow a redirection, so only simulations use it. */
#include "sa/internal.h"
#include "wire/packet.h"

void sa_redirect(struct sa *sa, const struct redirect *to)
{
    sa->redirection = to ? *to : (struct redirect){0};
}

uint16_t class_port_info(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum {
        NOTICES = 1 << 1,
        MULTICAST = 1 << 9,
        MULTI_PATH = 1 << 10,
        CAPABILITY_MATCH = 1 << 13,
        ADDITIONAL_GUIDS = 1 << 5,
        FULL_PORT_INFO = 1 << 6,
        EXTENDED_SPEEDS = 1 << 7,
        CAPABILITY2_MATCH = 1 << 10,
        LINK_WIDTH_2X = 1 << 12,
        SEND_ONLY_FULL = 1 << 13,
    };
    uint8_t *info = answer_add(answer);
    (void)query;
    wire_set(info, CLASS_PORT_INFO_BASE_VERSION, 1);
    wire_set(info, CLASS_PORT_INFO_CLASS_VERSION, 2);
    wire_set(info, CLASS_PORT_INFO_CAPABILITY_MASK,
             NOTICES | MULTICAST | MULTI_PATH | CAPABILITY_MATCH);
    wire_set(info, CLASS_PORT_INFO_CAPABILITY_MASK2,
             ADDITIONAL_GUIDS | FULL_PORT_INFO | EXTENDED_SPEEDS | CAPABILITY2_MATCH |
                 LINK_WIDTH_2X | SEND_ONLY_FULL);
    wire_set(info, CLASS_PORT_INFO_RESP_TIME_VALUE, sa->config.response_time);
    wire_set(info, CLASS_PORT_INFO_REDIRECT_QP, QP_GSI);
    wire_set(info, CLASS_PORT_INFO_REDIRECT_Q_KEY, Q_KEY_GSI);
    if (sa->redirection.lid)
        redirect_write(&sa->redirection, info);
    wire_set(info, CLASS_PORT_INFO_TRAP_Q_KEY, Q_KEY_GSI);
    return STATUS_OK;
}
