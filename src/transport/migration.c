/* Automatic path migration (17.2.8).
 *
 * Migrated is the state without an alternate path in readiness; packets carry MigReq. A QP that got
 * an alternate path is set to Rearm and sends packets without MigReq; a packet without MigReq from
 * the other end makes it Armed. An armed QP moves to the alternate path when its retries are used
 * up, when its port goes down, when its owner asks for it, or when a packet with MigReq arrives on
 * the alternate path: then the other end has moved. Its alternate path becomes the primary one, on
 * which it has all its retries. */
#include "transport/internal.h"

bool migration_migrate(struct transport *transport, struct qp *qp)
{
    struct transport_qp_attributes *attributes = &qp->attributes;
    if (attributes->migration != MIGRATION_ARMED)
        return false;
    attributes->path = attributes->alternate;
    attributes->port = attributes->alternate.port;
    attributes->p_key_index = attributes->alternate.p_key_index;
    attributes->timeout = attributes->alternate.timeout;
    attributes->migration = MIGRATION_MIGRATED;
    qp->retries_left = attributes->retry_count;
    qp->migrations++;
    transport->counters.migrations++;
    report_event(transport, EVENT_MIGRATED, qp_number(transport, qp));
    qp_wake(transport, qp);
    return true;
}

static bool comes_from(const struct transport_packet *packet, const struct transport_path *path)
{
    return packet->slid == path->dlid &&
           (!path->global ||
            (packet->global && memcmp(packet->route.sgid, path->route.dgid, 16) == 0));
}

bool migration_admit(struct transport *transport, struct qp *qp, unsigned port,
                     const struct transport_packet *packet)
{
    const struct transport_qp_attributes *attributes = &qp->attributes;
    if (attributes->migration == MIGRATION_ARMED && packet->migrated) {
        if (port != attributes->alternate.port || !comes_from(packet, &attributes->alternate)) {
            report_event(transport, EVENT_MIGRATION_FAILED, qp_number(transport, qp));
            return false;
        }
        return migration_migrate(transport, qp);
    }
    if (port != attributes->port || !comes_from(packet, &attributes->path))
        return false;
    if (attributes->migration == MIGRATION_REARM && !packet->migrated)
        qp->attributes.migration = MIGRATION_ARMED;
    return true;
}
