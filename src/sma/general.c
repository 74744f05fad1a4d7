/* The general service agents of a node (13.4, chapter 16): the steps that requests of all classes
 * share, and their ClassPortInfo.
 *
 * Every node has a performance agent (performance.c, samples.c). A target adapter, one with I/O
 * controllers, has a device management agent, too (device_management.c). No node has agents for
 * baseboard management or SNMP tunnelling: the owner of the node answers these requests as for any
 * class without an agent. The agents send no traps, hence ClassPortInfo cannot be set.
 *
 * With the option `service_port`, one port of an adapter serves all: the others redirect requests
 * to it (13.5.2) by LID, as long as it has one. */
#include "sma/internal.h"

#include "wire/redirect.h"

#include <string.h>

enum { CAPABILITY_ALL_PORTS = 1 << 8 }; /* of the performance agent: PortSelect 255 */

static bool every_node(const struct sma *sma)
{
    (void)sma;
    return true;
}

static bool is_target(const struct sma *sma)
{
    return sma->options.io_controllers > 0 && sma->kind != KIND_SWITCH;
}

static const struct general_class {
    uint8_t class;
    bool (*present)(const struct sma *sma);
    sma_general_access *access;
    uint16_t capabilities;
    uint32_t capabilities2;
} classes[] = {
    {CLASS_PERFORMANCE, every_node, sma_access_performance, CAPABILITY_ALL_PORTS | COUNTERS_ALL,
     COUNTERS2_ALL},
    {CLASS_DEVICE, is_target, sma_access_device, 0, 0},
};

static const struct general_class *find_class(const struct sma *sma, const uint8_t *mad)
{
    uint64_t class = wire_get(mad, MAD_CLASS);
    for (unsigned i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].class == class && classes[i].present(sma))
            return &classes[i];
    return NULL;
}

bool sma_has_general_agent(const struct sma *sma, const uint8_t *mad)
{
    return find_class(sma, mad) != NULL;
}

/* LID of the port that serves instead of this one, or 0. */
static uint16_t find_service_lid(const struct sma *sma, unsigned port)
{
    unsigned at = sma->options.service_port;
    if (!at || at > sma->port_count || at == port || sma->kind == KIND_SWITCH)
        return 0;
    return (uint16_t)wire_get(sma->ports[at].info, PORT_INFO_LID);
}

static uint16_t get_class_port_info(const struct sma *sma, const struct general_class *class,
                                    uint16_t service_lid, uint8_t *data)
{
    struct redirect to = redirect_to(service_lid, 0);
    memset(data, 0, GMP_DATA_BYTES);
    wire_set(data, CLASS_PORT_INFO_BASE_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CLASS_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK, class->capabilities);
    wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK2, class->capabilities2);
    wire_set(data, CLASS_PORT_INFO_RESP_TIME_VALUE, sma->options.response_time);
    if (service_lid)
        redirect_write(&to, data);
    return STATUS_OK;
}

static uint16_t access_class(struct sma *sma, const struct general_class *class, uint64_t now,
                             unsigned port, uint8_t *mad)
{
    uint64_t method = wire_get(mad, MAD_METHOD);
    if (wire_get(mad, MAD_BASE_VERSION) != 1 || wire_get(mad, MAD_CLASS_VERSION) != 1)
        return STATUS_BAD_VERSION;
    if (method != METHOD_GET && method != METHOD_SET)
        return STATUS_BAD_METHOD;
    uint16_t service_lid = find_service_lid(sma, port);
    bool of_class = wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_CLASS_PORT_INFO;
    if (of_class && method == METHOD_SET)
        return STATUS_BAD_ATTRIBUTE;
    if (of_class || service_lid) {
        uint16_t status = get_class_port_info(sma, class, service_lid, mad + GMP_DATA_OFFSET);
        wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_CLASS_PORT_INFO);
        return of_class ? status : STATUS_REDIRECT;
    }
    return class->access(sma, now, port, mad);
}

enum sma_verdict sma_answer_general(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad)
{
    uint16_t status = access_class(sma, find_class(sma, mad), now, port, mad);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, status);
    return SMA_REPLY;
}
