/* Paths of connections: of both directions, alternate ones, and the partition of the packets. */
#include "host/sim/sim_connections_internal.h"

#include <errno.h>
#include <string.h>

/* ---- partitions ---- */

enum { P_KEY_FULL = 0x8000, P_KEY_PARTITION = 0x7FFF };

static bool same_partition(unsigned one, unsigned other)
{
    return (one & P_KEY_PARTITION) && ((one ^ other) & P_KEY_PARTITION) == 0;
}

unsigned connection_p_key_index(const struct sim_connections *connections, uint32_t port,
                                unsigned p_key)
{
    uint16_t keys[PORT_P_KEYS];
    unsigned found = PORT_P_KEYS,
             count = fabric_p_keys(connections->fabric, port, keys, PORT_P_KEYS);
    for (unsigned i = 0; i < count; i++)
        if (same_partition(keys[i], p_key) && (found == PORT_P_KEYS || keys[i] & P_KEY_FULL))
            found = i;
    return found;
}

/* The P_Key of a partition that two ports share, of which one is a full member: the default
 * partition, or the first one of the sender's table. 0: none. */
static unsigned shared_p_key(const struct sim_connections *connections, const uint32_t ports[2])
{
    uint16_t keys[2][PORT_P_KEYS];
    unsigned counts[2], found = 0;
    for (unsigned end = 0; end < 2; end++)
        counts[end] = fabric_p_keys(connections->fabric, ports[end], keys[end], PORT_P_KEYS);
    for (unsigned i = 0; i < counts[0]; i++)
        for (unsigned j = 0; j < counts[1]; j++)
            if (same_partition(keys[0][i], keys[1][j]) && (keys[0][i] | keys[1][j]) & P_KEY_FULL &&
                (!found || same_partition(keys[0][i], P_KEY_DEFAULT)))
                found = keys[0][i];
    return found;
}

/* Chooses the P_Keys of both ends of a connection that is given. */
static int choose_p_keys(const struct sim_connections *connections, const uint32_t ports[2],
                         struct connection *connection, struct err *err)
{
    unsigned p_key = connection->view.config.p_key;
    if (!p_key)
        p_key = shared_p_key(connections, ports);
    if (!p_key)
        return err_set(err, EHOSTUNREACH, "the two ports share no partition");
    for (unsigned end = 0; end < 2; end++) {
        unsigned index = connection_p_key_index(connections, ports[end], p_key);
        if (index == PORT_P_KEYS && end == 0)
            return err_set(err, EHOSTUNREACH, "the sender is not a member of partition 0x%04x",
                           p_key & P_KEY_PARTITION);
        /* A receiver that is not a member drops the packets. */
        connection->p_key_indexes[end] = index == PORT_P_KEYS ? 0 : (uint16_t)index;
    }
    return 0;
}

/* ---- paths ---- */

static void put_gid(const struct sim_connections *connections, uint32_t port, uint8_t gid[16])
{
    const uint8_t *info = fabric_port_info(connections->fabric, port);
    wire_set_bits(gid, 0, 64, wire_get(info, PORT_INFO_GID_PREFIX));
    wire_set_bits(gid, 64, 64, fabric_port_guid(connections->fabric, port, 0));
}

/* The path that one end takes: to the other subnet by a router, with a global route header. */
struct transport_path connection_path(const struct sim_connections *connections,
                                      const struct sim_path_pair *pair, unsigned end,
                                      uint8_t timeout)
{
    const uint8_t *info = fabric_port_info(connections->fabric, pair->ports[end]);
    unsigned lids = 1u << wire_get(info, PORT_INFO_LMC);
    bool global = pair->paths[end].hop_limit != 0;
    struct transport_path path = {
        .dlid = pair->paths[end].dlid,
        .sl = pair->paths[end].sl,
        .path_bits = global ? 0 : (uint8_t)(pair->paths[!end].dlid & (lids - 1)),
        .global = global,
        .route.hop_limit = pair->paths[end].hop_limit,
        .port = (uint8_t)number_in_adapter(connections, pair->ports[end]),
        .timeout = timeout,
    };
    if (global) {
        put_gid(connections, pair->ports[end], path.route.sgid);
        put_gid(connections, pair->ports[!end], path.route.dgid);
    }
    return path;
}

/* ---- alternate paths ---- */

struct sim_path_pair connection_present_pair(const struct sim_connections *connections,
                                             const struct connection *connection)
{
    struct transport_qp_view qps[2];
    struct sim_path_pair pair = {0};
    for (unsigned end = 0; end < 2; end++) {
        const struct adapter *adapter = &connections->adapters.items[connection->adapters[end]];
        transport_query_qp(adapter->transport, connection->qps[end], &qps[end]);
        pair.ports[end] = adapter->ports[qps[end].attributes.port - 1];
        pair.paths[end].dlid = qps[end].attributes.path.dlid;
    }
    return pair;
}

static bool find_overlap(struct sim_connections *connections, struct sim_path_pair *primary,
                         bool may_change, const uint16_t lids[2], struct sim_path_pair *alternate,
                         struct route_overlap *overlap)
{
    struct sim_path_ends ends;
    for (unsigned end = 0; end < 2; end++) {
        connection_find_ports(connections, primary->ports[end], ends.ports[end]);
        ends.lids[end] = lids[end];
    }
    return sim_paths_find_alternate(connections->paths, primary, may_change, &ends, alternate,
                                    overlap);
}

bool connection_compare(struct sim_connections *connections, struct sim_path_pair *with,
                        const uint16_t lids[2], struct sim_path_pair *alternate,
                        struct route_overlap *overlap)
{
    return find_overlap(connections, with, false, lids, alternate, overlap);
}

/* Finds an alternate path beside the primary one, or both. */
static int find_alternate(struct sim_connections *connections, struct sim_path_pair *primary,
                          bool may_change, const uint16_t lids[2], struct connection *connection,
                          struct err *err)
{
    struct route_overlap overlap;
    if (!find_overlap(connections, primary, may_change, lids, &connection->alternate, &overlap))
        return err_set(err, EHOSTUNREACH, "there is no such second path between the two adapters");
    connection->view.shared_cables = overlap.cables;
    connection->view.shared_switches = overlap.switches;
    return 0;
}

int connection_find_paths(struct sim_connections *connections, struct connection *connection,
                          struct sim_path_pair *pair, struct err *err)
{
    const struct connection_config *config = &connection->view.config;
    const uint32_t ports[] = {config->from, config->to};
    for (unsigned i = 0; i < 2; i++) {
        pair->ports[i] = ports[i];
        pair->paths[i] = sim_paths_find(connections->paths, ports[i], ports[!i]);
        if (!pair->paths[i].dlid)
            return err_set(err, EHOSTUNREACH, "there is no path between the two ports now");
    }
    int status = choose_p_keys(connections, ports, connection, err);
    if (config->has_alternate && status == 0)
        status = find_alternate(connections, pair, config->alternate_lid == 0,
                                (const uint16_t[]){0, config->alternate_lid}, connection, err);
    return status;
}

/* The place of the connection's P_Key in the table of another port of the same end. */
static uint16_t p_key_index_at(const struct sim_connections *connections,
                               const struct connection *connection, unsigned end, uint32_t port)
{
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[end]];
    struct transport_qp_view qp;
    uint16_t keys[PORT_P_KEYS];
    transport_query_qp(adapter->transport, connection->qps[end], &qp);
    fabric_p_keys(connections->fabric, adapter->ports[qp.attributes.port - 1], keys, PORT_P_KEYS);
    unsigned index = connection_p_key_index(connections, port, keys[qp.attributes.p_key_index]);
    return index == PORT_P_KEYS ? 0 : (uint16_t)index;
}

int connection_load_path(struct sim_connections *connections, const struct connection *connection,
                         unsigned end, const struct transport_path *path, struct err *err)
{
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[end]];
    struct transport_qp_attributes attributes = {.alternate = *path, .migration = MIGRATION_REARM};
    attributes.alternate.p_key_index =
        p_key_index_at(connections, connection, end, adapter->ports[path->port - 1]);
    return transport_modify_qp(adapter->transport, sim_now(connections->sim), connection->qps[end],
                               &attributes, ATTRIBUTE_ALTERNATE | ATTRIBUTE_MIGRATION, err);
}

int connection_load_alternate(struct sim_connections *connections,
                              const struct connection *connection, struct err *err)
{
    int status = 0;
    for (unsigned end = 0; end < 2 && !status; end++) {
        struct transport_path path = connection_path(connections, &connection->alternate, end,
                                                     connection->view.config.timeout);
        status = connection_load_path(connections, connection, end, &path, err);
    }
    return status;
}

int sim_connections_set_alternate(struct sim_connections *connections, size_t number,
                                  const uint16_t lids[2], struct err *err)
{
    struct connection *connection = &connections->connections.items[number];
    if (connection->view.config.service != TRANSPORT_RC)
        return err_set(err, EINVAL, "only RC has alternate paths here");
    if (connection->view.broken)
        return err_set(err, EINVAL, "the connection is broken");
    if (connection->view.stage != CONNECTION_ESTABLISHED)
        return err_set(err, EINVAL, "the connection is not established");
    if (connection->view.config.by_cm) {
        memcpy(connection->wanted_lids, lids, sizeof connection->wanted_lids);
        return sim_cm_load(connections->cm, (uint32_t)number, err);
    }
    struct sim_path_pair now = connection_present_pair(connections, connection);
    int status = find_alternate(connections, &now, false, lids, connection, err);
    return status ? status : connection_load_alternate(connections, connection, err);
}
