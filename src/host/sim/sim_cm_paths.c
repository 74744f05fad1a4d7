/* Requests of hosts for paths: a PathRecord, or, where an alternate path is wanted, the paths
 * between all ports of both adapters by MultiPathRecord. While there is no path, a host asks again.
 */
#include "host/sim/sim_cm_internal.h"

static const uint64_t pause_without_path = 100 * TIME_MS;

/* The active ports of an adapter, `first` before the others. */
static unsigned active_ports(const struct sim_connections *connections, uint32_t adapter,
                             uint32_t first, uint32_t *ports)
{
    const struct adapter *at = &connections->adapters.items[adapter];
    unsigned count = 0;
    ports[count++] = first;
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && at->ports[i] != MAP_NONE; i++)
        if (at->ports[i] != first && wire_get(fabric_port_info(connections->fabric, at->ports[i]),
                                              PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE)
            ports[count++] = at->ports[i];
    return count;
}

void sim_cm_ask(struct sim_cm *cm, uint32_t number)
{
    enum { PATHS_MOST = 127 };
    struct sim_connections *connections = cm->connections;
    const struct connection *connection = &connections->connections.items[number];
    const struct connection_config *config = &connection->view.config;
    bool established = connection->view.stage == CONNECTION_ESTABLISHED;
    uint32_t ports[] = {config->from, config->to}, query;
    if (established) {
        struct sim_path_pair present = connection_present_pair(connections, connection);
        ports[REQUESTER] = present.ports[REQUESTER];
        ports[RESPONDER] = present.ports[RESPONDER];
    }
    if (established || config->has_alternate) {
        struct sim_multi_path wanted = {.most = PATHS_MOST, .p_key = config->p_key};
        wanted.sources = active_ports(connections, connection->adapters[REQUESTER],
                                      ports[REQUESTER], wanted.ports);
        wanted.destinations = active_ports(connections, connection->adapters[RESPONDER],
                                           ports[RESPONDER], wanted.ports + wanted.sources);
        query = sim_clients_multi_path(connections->clients, ports[REQUESTER], &wanted);
    } else {
        query = sim_clients_path(connections->clients, config->from, config->to, config->p_key);
    }
    *vec_at(&cm->by_query, query) = number + 1;
}

/* There is no path at present; STATUS_SA_BAD_GID: the host is not in the subnet. */
static bool may_come_later(unsigned status)
{
    return status == STATUS_OK || status == STATUS_SA_NO_RECORDS || status == STATUS_SA_BAD_GID;
}

static struct path_answer read_answer(const struct sim_query *query)
{
    struct path_answer answer = {0};
    bool table = wire_get(query->mad, MAD_METHOD) != METHOD_GET;
    if (query->state != SIM_ANSWERED || query->status != STATUS_OK ||
        query->bytes < SA_DATA_OFFSET + WIRE_BYTES_PATH_RECORD)
        return answer;
    answer.records = query->answer + SA_DATA_OFFSET;
    answer.bytes_each = table ? 8 * (size_t)wire_get(query->answer, SA_ATTRIBUTE_OFFSET)
                              : query->bytes - SA_DATA_OFFSET;
    if (answer.bytes_each >= WIRE_BYTES_PATH_RECORD)
        answer.count = (query->bytes - SA_DATA_OFFSET) / answer.bytes_each;
    return answer;
}

static void take_answer(struct sim_cm *cm, uint32_t number, const struct sim_query *query)
{
    const struct connection *connection = &cm->connections->connections.items[number];
    struct path_answer answer = read_answer(query);
    if (connection->view.stage != CONNECTION_RESOLVING && answer.count)
        sim_cm_request_load(cm, number, &answer);
    else if (connection->view.stage != CONNECTION_RESOLVING)
        sim_cm_not_loaded(cm, number);
    else if (answer.count)
        sim_cm_request(cm, number, &answer);
    else if (query->state == SIM_ANSWERED && may_come_later(query->status))
        vec_push(&cm->pauses, ((struct cm_pause){query->answered + pause_without_path, number}));
    else
        sim_cm_refuse(cm, number, 0);
}

uint64_t sim_cm_resolve(struct sim_cm *cm, uint64_t now)
{
    const struct sim_clients *clients = cm->connections->clients;
    for (uint32_t query; (query = sim_clients_finished(clients, cm->queries_seen)) != UINT32_MAX;
         cm->queries_seen++)
        if (query < cm->by_query.count && cm->by_query.items[query])
            take_answer(cm, cm->by_query.items[query] - 1, sim_clients_query(clients, query));
    while (cm->pauses_taken < cm->pauses.count && cm->pauses.items[cm->pauses_taken].until <= now)
        sim_cm_ask(cm, cm->pauses.items[cm->pauses_taken++].number);
    cm->pauses_taken = vec_drop_taken(&cm->pauses, cm->pauses_taken);
    return cm->pauses_taken < cm->pauses.count ? cm->pauses.items[cm->pauses_taken].until
                                               : TIME_NEVER;
}
