/* What does not move messages: whether a connection is possible, and what it has measured. */
#include "host/sim/sim_connections_internal.h"

#include <errno.h>

const char *const connection_stage_names[CONNECTION_STAGES] = {
    "resolving", "requesting", "established", "releasing", "released", "refused"};

int sim_connections_check(const struct fabric *fabric, const struct connection_config *config,
                          struct err *err)
{
    unsigned mtu = fabric_transport_mtu(fabric);
    if (mtu == 0)
        return err_set(err, EINVAL,
                       "packets of 256 bytes do not fit into the buffers of all nodes");
    if (config->from == config->to)
        return err_set(err, EINVAL, "a connection needs two ports");
    if (config->service == TRANSPORT_UD && config->message_bytes > mtu)
        return err_set(err, EINVAL, "a datagram has at most %u bytes, the MTU", mtu);
    bool atomic = config->operation >= CONNECTION_COMPARE_SWAP;
    if (config->service == TRANSPORT_UD && config->operation != CONNECTION_SEND)
        return err_set(err, EINVAL, "UD has only the operation send");
    if (config->service == TRANSPORT_UC && config->operation == CONNECTION_READ)
        return err_set(err, EINVAL, "UC has no operation read");
    if (config->service == TRANSPORT_UC && atomic)
        return err_set(err, EINVAL, "UC has no atomic operations");
    if (atomic && config->message_bytes != 8)
        return err_set(err, EINVAL, "an atomic operation has 8 bytes");
    if (config->service != TRANSPORT_UD && config->q_key)
        return err_set(err, EINVAL, "only UD has Q_Keys");
    if (config->reconnect_ps && (config->service != TRANSPORT_RC || config->by_cm))
        return err_set(err, EINVAL, "only RC that is not set up by CM reconnects");
    if (config->service != TRANSPORT_RC && config->has_alternate)
        return err_set(err, EINVAL, "only RC has alternate paths here");
    if (config->message_bytes == 0 || config->message_bytes > TRANSPORT_MESSAGE_MAX)
        return err_set(err, EINVAL, "a message has 1 to %u bytes", (unsigned)TRANSPORT_MESSAGE_MAX);
    if (config->outstanding == 0 || config->outstanding > CONNECTION_OUTSTANDING_MOST)
        return err_set(err, EINVAL, "1 to %d messages may be outstanding",
                       CONNECTION_OUTSTANDING_MOST);
    return 0;
}

uint64_t sim_connections_wire_bytes(const struct fabric *fabric,
                                    const struct connection_config *config)
{
    enum { LRH_BTH_CRCS = 26, DETH = 8, RETH = 16, AETH = 4, IMMEDIATE = 4, ATOMIC_ETH = 28 };
    unsigned mtu = fabric_transport_mtu(fabric), operation = config->operation;
    if (mtu == 0)
        return 0; /* there are no packets */
    uint64_t padded = ((uint64_t)config->message_bytes + 3) / 4 * 4;
    uint64_t packets = ((uint64_t)config->message_bytes + mtu - 1) / mtu;
    bool immediate = config->service != TRANSPORT_RC || operation == CONNECTION_SEND_IMMEDIATE ||
                     operation == CONNECTION_WRITE_IMMEDIATE;
    if (operation >= CONNECTION_COMPARE_SWAP)
        return LRH_BTH_CRCS + ATOMIC_ETH;
    uint64_t bytes = padded + packets * LRH_BTH_CRCS + (immediate ? IMMEDIATE : 0);
    if (config->service == TRANSPORT_UD)
        bytes += DETH;
    if (operation == CONNECTION_WRITE || operation == CONNECTION_WRITE_IMMEDIATE)
        bytes += RETH;
    if (operation == CONNECTION_READ) /* the first and the last response */
        bytes += packets > 1 ? 2 * AETH : AETH;
    return bytes;
}

size_t sim_connections_count(const struct sim_connections *connections)
{
    return connections->connections.count;
}

void sim_connections_view(const struct sim_connections *connections, size_t number,
                          struct connection_view *view)
{
    const struct connection *connection = &connections->connections.items[number];
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[0]];
    struct transport_qp_view qp;
    *view = connection->view;
    if (transport_query_qp(adapter->transport, connection->qps[0], &qp) == 0) {
        bool counted = connection->view.broken && connection->view.config.reconnect_ps;
        view->timeouts += counted ? 0 : qp.timeouts;
        view->sequence_naks += counted ? 0 : qp.sequence_naks;
        view->rnr_naks += counted ? 0 : qp.rnr_naks;
        view->resent_packets += counted ? 0 : qp.resent_packets;
        view->migration = qp.attributes.migration;
    }
    uint64_t now = sim_now(connections->sim);
    bool outstanding =
        connection->view.posted > connection->sent && (!view->broken || view->config.reconnect_ps);
    if (outstanding && now - connection->progress_ps > view->longest_ps)
        view->longest_ps = now - connection->progress_ps;
}

bool connection_waited(const struct connection_view *view)
{
    static const uint64_t least_ps = TIME_MS, messages = 10;
    return !connection_stood_still(view) && view->completed && view->longest_ps >= least_ps &&
           view->longest_ps / messages >= (view->last_ps - view->begun_ps) / view->completed;
}

bool connection_stood_still(const struct connection_view *view)
{
    return view->broken || view->resent_packets || view->timeouts || view->sequence_naks ||
           view->rnr_naks || view->lost;
}
