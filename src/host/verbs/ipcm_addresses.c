/* The addresses and port numbers of IDs: binding, resolution and listening. */
#include "host/verbs/ipcm.h"

#include "host/verbs/addresses.h"

#include <errno.h>
#include <string.h>

static bool is_loopback(uint32_t address)
{
    return address >> 24 == 127;
}

static bool is_group(uint32_t address)
{
    return address >> 28 == 14;
}

/* Whether another ID of the node keeps its port number from this one: their addresses overlap. */
static bool is_rival(const struct ipcm_id *id, uint32_t address, const struct ipcm_id *other)
{
    return other->client && other != id && !other->passive && other->space == id->space &&
           other->from.port && other->client->adapter == id->client->adapter &&
           (!other->from.address || !address || other->from.address == address) &&
           !(other->reuse && id->reuse && other->state != IPCM_LISTENING);
}

static int take_port(struct ipcm *ipcm, struct ipcm_id *id, uint32_t address, uint16_t wanted)
{
    bool taken[UINT16_MAX + 1] = {false}; /* the IDs are looked at once, however many there are */
    for (size_t i = 0; i < ipcm->ids.count; i++)
        if (is_rival(id, address, &ipcm->ids.items[i]))
            taken[ipcm->ids.items[i].from.port] = true;
    if (wanted && taken[wanted])
        return -EADDRINUSE;
    for (unsigned tries = 0; !wanted && tries <= UINT16_MAX - IPCM_FIRST_PORT; tries++) {
        uint16_t port = ipcm->next_port;
        ipcm->next_port = port == UINT16_MAX ? IPCM_FIRST_PORT : (uint16_t)(port + 1);
        if (!taken[port])
            wanted = port;
    }
    if (!wanted)
        return -EADDRINUSE;
    id->from.port = wanted;
    return 0;
}

/* The port of the client's adapter with an address; 0: none. Without an address: the first active
 * one. */
static uint8_t own_port(const struct verbs_client *client, uint32_t address)
{
    const struct adapter *adapter = client->adapter;
    const struct addresses *addresses = ipcm_of(client)->addresses;
    uint8_t found = 0;
    for (unsigned number = 1; number <= adapter->ports; number++) {
        uint32_t own = addresses_of_port(addresses, adapter_port(adapter, number));
        if (!own || (address && own != address))
            continue;
        if (adapter->memory[number].active)
            return (uint8_t)number;
        found = found ? found : (uint8_t)number;
    }
    return found;
}

static void take_address(struct ipcm_id *id, uint8_t port)
{
    id->port = port;
    id->from.family = 4;
    id->from.address =
        addresses_of_port(ipcm_of(id->client)->addresses, adapter_port(id->client->adapter, port));
}

int ipcm_bind(struct verbs_client *client, struct ipcm_id *id, const struct ipcm_address *from)
{
    uint32_t address = is_loopback(from->address) ? 0 : from->address;
    uint8_t port = own_port(client, address);
    if (id->state != IPCM_IDLE)
        return -EINVAL;
    if (!port)
        return -ENODEV; /* as for an address of another interface */
    int result = take_port(ipcm_of(client), id, address, from->port);
    if (result)
        return result;
    id->from.family = 4;
    if (from->address)
        take_address(id, port);
    id->state = IPCM_BOUND;
    return 0;
}

int ipcm_resolve(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                 const struct ipcm_request *request)
{
    struct ipcm *ipcm = ipcm_of(client);
    struct ipcm_address to = request->to;
    if (id->state == IPCM_IDLE) {
        int result = ipcm_bind(client, id, &request->from);
        if (result)
            return result;
    }
    if (id->state != IPCM_BOUND || !to.address)
        return -EINVAL;
    if (!id->port)
        take_address(id, own_port(client, 0));
    if (is_loopback(to.address))
        to.address = id->from.address;
    id->to = to;
    id->to_port = is_group(to.address) ? MAP_NONE : addresses_find(ipcm->addresses, to.address);
    bool found = is_group(to.address) || id->to_port != MAP_NONE;
    if (found)
        id->state = IPCM_RESOLVED_ADDRESS;
    ipcm_report_status(ipcm, number, found ? IPCM_ADDRESS_RESOLVED : IPCM_ADDRESS_ERROR,
                       found ? 0 : -EHOSTUNREACH);
    return 0;
}

static int begin_service(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service)
{
    (void)ipcm;
    int result = cm_listen(port->cm, service);
    return result == -EEXIST ? 0 : result;
}

int ipcm_listen(struct verbs_client *client, struct ipcm_id *id, uint32_t backlog)
{
    if (id->state == IPCM_IDLE) {
        int result = ipcm_bind(client, id, &(struct ipcm_address){0});
        if (result)
            return result;
    }
    if (id->state != IPCM_BOUND)
        return -EINVAL;
    id->state = IPCM_LISTENING;
    id->backlog = backlog >= 1 && backlog <= 1024 ? backlog : 1024;
    int result = ipcm_for_ports(ipcm_of(client), id, begin_service);
    if (result)
        id->state = IPCM_BOUND;
    return result;
}

int ipcm_find_host(struct verbs_client *client, const struct ipcm_request *request)
{
    const struct topology *topology = fabric_topology(client->verbs->fabric);
    char name[sizeof request->name];
    memcpy(name, request->name, sizeof name);
    name[sizeof name - 1] = 0;
    uint32_t node = topology_find(topology, name);
    if (node == TOPOLOGY_NONE)
        return -ENOENT;
    const struct topology_node *place = &topology->nodes.items[node];
    for (uint32_t port = 1; port <= place->port_count; port++) {
        uint32_t address = addresses_of_port(ipcm_of(client)->addresses, place->first_port + port);
        if (!address)
            continue;
        client->answer.view.to = (struct ipcm_address){.address = address, .family = 4};
        return 0;
    }
    return -ENOENT;
}
