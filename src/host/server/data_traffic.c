/* Data traffic of a served fabric: starts and stops what `weft fabric --traffic` asked for.
 *
 * Its managers are other programs, so packets use the LIDs that the ports have. */
#include "fabric/data.h"
#include "host/server/session.h"

#include <errno.h>

static int check_traffics(const struct clients *clients, struct err *err)
{
    return clients->traffic_count
               ? 0
               : err_set(err, ENODATA, "this fabric has no traffic: start it with --traffic");
}

int data_traffic_start(struct clients *clients, struct err *err)
{
    uint64_t now = fabric_network_time(clients->fabric);
    int status = check_traffics(clients, err);
    if (status == 0 && clients->sending.count)
        status = err_set(err, EALREADY, "the traffic is running already");
    for (size_t i = 0; i < clients->traffic_count && status == 0; i++)
        status = fabric_check_traffic(clients->fabric, &clients->traffics[i], err);
    for (size_t i = 0; i < clients->traffic_count && status == 0; i++) {
        struct traffic traffic = clients->traffics[i]; /* the fabric makes a copy */
        traffic.start_ps += now;
        if (traffic.stop_ps != TIME_NEVER)
            traffic.stop_ps += now;
        fabric_set_paths_by_lid(clients->fabric);
        vec_push(&clients->sending, fabric_add_traffic(clients->fabric, &traffic));
    }
    return status;
}

int data_traffic_stop(struct clients *clients, struct err *err)
{
    int status = check_traffics(clients, err);
    if (status == 0 && !clients->sending.count)
        status = err_set(err, ESRCH, "the traffic is not running");
    for (size_t i = 0; i < clients->sending.count && status == 0; i++)
        fabric_stop_traffic(clients->fabric, clients->sending.items[i]);
    clients->sending.count = 0;
    return status;
}
