/* Attachments: finds a port by name, and describes it as /sys does.
 *
 * A program sees one adapter, the node that it is attached to, under one name. The description has
 * the present values in the port's agent. */
#include "host/server/attach.h"

#include "console/names.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define CA_NAME "weft0"

int attach_find(const struct topology *topology, const char *text, struct attachment *attachment,
                struct err *err)
{
    struct named_place place;
    const struct word word = {.text = text};
    struct cursor cursor = {.file = "", .err = err};
    if (!text || !*text) {
        uint32_t first = 0;
        while (first < topology->nodes.count && topology->nodes.items[first].kind != NODE_ADAPTER)
            first++;
        *attachment = (struct attachment){.node = first < topology->nodes.count ? first : 0};
        return topology->nodes.count ? 0
                                     : err_set(err, ENODEV, "the fabric has no node to attach to");
    }
    if (bind_place(&word, topology, &cursor, 1, &place))
        return -ENODEV;
    const struct topology_node *node = &topology->nodes.items[place.node];
    uint64_t port = place.numbers[0];
    if (node->kind == NODE_SWITCH && port != 0)
        return err_set(err, ENODEV, "programs attach to a switch at port 0 only, not '%s'", text);
    if (node->kind != NODE_SWITCH && place.count && (port == 0 || port > node->port_count))
        return err_set(err, ENODEV, "'%s': %s has ports 1 to %u", text, node->name,
                       node->port_count);
    *attachment = (struct attachment){.node = place.node, .port = (unsigned)port};
    return 0;
}

static unsigned port_field(const struct fabric *fabric, uint32_t port, enum wire_field field)
{
    return (unsigned)wire_get(fabric_port_info(fabric, port), field);
}

/* The port of an adapter that libibumad chooses by default. */
static uint32_t best_port(const struct fabric *fabric, const struct topology_node *node)
{
    uint32_t up = TOPOLOGY_NONE, enabled = TOPOLOGY_NONE;
    for (uint32_t port = node->first_port + 1; port <= node->first_port + node->port_count;
         port++) {
        if (port_field(fabric, port, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE)
            return port;
        unsigned physical = port_field(fabric, port, PORT_INFO_PORT_PHYSICAL_STATE);
        if (up == TOPOLOGY_NONE && physical == PHYSICAL_LINK_UP)
            up = port;
        if (enabled == TOPOLOGY_NONE && physical != PHYSICAL_DISABLED)
            enabled = port;
    }
    return up != TOPOLOGY_NONE ? up : enabled;
}

uint32_t attach_port(const struct fabric *fabric, const struct attachment *attachment,
                     unsigned number)
{
    const struct topology *topology = fabric_topology(fabric);
    assert(attachment->node < topology->nodes.count);
    const struct topology_node *node = &topology->nodes.items[attachment->node];
    if (node->kind == NODE_SWITCH)
        return number == 0 ? node->first_port : TOPOLOGY_NONE;
    if (number == 0)
        number = attachment->port;
    if (number == 0)
        return best_port(fabric, node);
    return number <= node->port_count ? node->first_port + number : TOPOLOGY_NONE;
}

void attach_describe_ca(const struct fabric *fabric, uint32_t node, struct answer_ca *answer)
{
    const struct topology_node *described = &fabric_topology(fabric)->nodes.items[node];
    const uint8_t *info = fabric_node_info(fabric, node);
    memset(answer, 0, sizeof *answer);
    snprintf(answer->name, sizeof answer->name, CA_NAME);
    answer->node_type = (uint32_t)wire_get(info, NODE_INFO_NODE_TYPE);
    answer->port_count = described->kind == NODE_SWITCH ? 0 : described->port_count;
    answer->node_guid = wire_get(info, NODE_INFO_NODE_GUID);
    answer->system_guid = wire_get(info, NODE_INFO_SYSTEM_IMAGE_GUID);
    snprintf(answer->firmware, sizeof answer->firmware, "%s", WEFT_VERSION);
    snprintf(answer->hardware, sizeof answer->hardware, "0x%x",
             (unsigned)wire_get(info, NODE_INFO_REVISION));
    snprintf(answer->type, sizeof answer->type, "weft");
    snprintf(answer->description, sizeof answer->description, "%.64s",
             described->description ? described->description : described->name);
}

/* Signalling rate of one physical lane (1X) in tenths of Gb/s. */
static const unsigned rate_1x_tenths[SPEED_COUNT] = {
    [SPEED_SDR] = 25,    [SPEED_DDR] = 50,   [SPEED_QDR] = 100,
    [SPEED_FDR10] = 100, [SPEED_FDR] = 140,  [SPEED_EDR] = 250,
    [SPEED_HDR] = 500,   [SPEED_NDR] = 1000, [SPEED_XDR] = 2000,
};

/* Port 0 of a switch has no link: sysfs shows 1X SDR for it. */
static void get_link(const struct topology *topology, uint32_t port, enum link_width *width,
                     enum link_speed *speed)
{
    bool linked = topology->ports.items[port].peer != TOPOLOGY_NONE;
    *width = linked ? topology->ports.items[port].width : WIDTH_1X;
    *speed = linked ? topology->ports.items[port].speed : SPEED_SDR;
}

void attach_describe_link(const struct topology *topology, uint32_t port, char *text, size_t size)
{
    enum link_width width;
    enum link_speed speed;
    get_link(topology, port, &width, &speed);
    snprintf(text, size, "%s %s", link_width_name(width), link_speed_name(speed));
}

void attach_describe_port(const struct fabric *fabric, uint32_t port, struct answer_port *answer)
{
    const struct topology *topology = fabric_topology(fabric);
    enum link_width width;
    enum link_speed speed;
    assert(port < topology->ports.count);
    get_link(topology, port, &width, &speed);
    memset(answer, 0, sizeof *answer);
    snprintf(answer->ca_name, sizeof answer->ca_name, CA_NAME);
    answer->number = topology_port_number(topology, port);
    answer->base_lid = port_field(fabric, port, PORT_INFO_LID);
    answer->lmc = port_field(fabric, port, PORT_INFO_LMC);
    answer->sm_lid = port_field(fabric, port, PORT_INFO_MASTER_SM_LID);
    answer->sm_sl = port_field(fabric, port, PORT_INFO_MASTER_SM_SL);
    answer->state = port_field(fabric, port, PORT_INFO_PORT_STATE);
    answer->physical_state = port_field(fabric, port, PORT_INFO_PORT_PHYSICAL_STATE);
    answer->rate = link_width_multiple(width) * rate_1x_tenths[speed] / 10;
    answer->capability_mask = port_field(fabric, port, PORT_INFO_CAPABILITY_MASK);
    answer->gid_prefix = wire_get(fabric_port_info(fabric, port), PORT_INFO_GID_PREFIX);
    answer->port_guid = fabric_port_guid(fabric, port, 0);
    answer->p_key_count = fabric_p_keys(fabric, port, answer->p_keys, PORT_P_KEYS);
}
