/* Finds settings of end ports that another manager or a host has changed.
 *
 * A sweep reads SwitchInfo only, which does not show that another manager has written the LID, the
 * master's LID or the M_Key of a port. While no change is under way, the master reads PortInfo of
 * `watch_ports` end ports every poll interval, in turn. If the settings of a port differ from the
 * wanted ones, discovery reads the port again, and its settings are written again. The read carries
 * the M_Key: it also stops a lease that a violation has started. If MasterSMLID differs, there may
 * be another master, behind a link that this manager does not know: a full sweep looks for it. The
 * port of a manager that started or ended is read again, too. */
#include "sm/discovery/discovery.h"
#include "sm/discovery/sweeps.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"
#include "subnet/names.h"

struct watch {
    uint64_t next;   /* time of the next reads; 0: now */
    uint32_t cursor; /* the port to be read next */
};

static request_outcome watched_port_read;
static const struct request_kind watch_port = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .answered = watched_port_read,
    .effort = request_try_once,
};

static uint64_t watch_deadline(const struct sm *sm)
{
    return sm->config.watch_ports && sm_state(sm) == SM_MASTER ? sm->watch->next : TIME_NEVER;
}

static bool is_watched(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    return p->known && p->lid && subnet_is_end_port(&sm->subnet, port) &&
           node_at(sm, p->node)->present && !node_at(sm, p->node)->vswitch &&
           !node_at(sm, p->node)->virtual_function && !sm_is_avoiding_port(sm, port);
}

static void watch_expire(struct sm *sm)
{
    struct watch *watch = sm->watch;
    uint32_t count = (uint32_t)sm->subnet.ports.count;
    if (sm_state(sm) != SM_MASTER || !sm->config.watch_ports) {
        watch->next = 0;
        return;
    }
    if (sm->now < watch->next)
        return;
    watch->next = sm->now + sm->config.poll_ns;
    if (!sm_is_settled(sm))
        return;
    for (uint32_t looked = 0, read = 0; looked < count && read < sm->config.watch_ports; looked++) {
        uint32_t port = watch->cursor++ % count;
        watch->cursor %= count;
        if (!is_watched(sm, port))
            continue;
        read++;
        sm_send(sm, &watch_port, (union request_subject){.port = port}, port,
                sm_port_info_modifier(sm, port), NULL);
    }
}

static void watched_port_read(struct sm *sm, const struct request *request)
{
    static const struct {
        enum wire_field field;
        const char *name;
    } fields[] = {
        {PORT_INFO_MASTER_SM_LID, "MasterSMLID"},
        {PORT_INFO_LID, "LID"},
        {PORT_INFO_LMC, "LMC"},
        {PORT_INFO_GID_PREFIX, "GidPrefix"},
        {PORT_INFO_MASTER_SM_SL, "MasterSMSL"},
        {PORT_INFO_M_KEY_PROTECT_BITS, "M_KeyProtectBits"},
        {PORT_INFO_M_KEY_LEASE_PERIOD, "M_KeyLeasePeriod"},
        {PORT_INFO_M_KEY, "M_Key"},
    };
    uint32_t port = request->about.port;
    if (!is_watched(sm, port) || sm_state(sm) != SM_MASTER || !reconfigure_is_idle(sm) ||
        sm_is_writing_port(sm, port))
        return;
    const uint8_t *known = port_at(sm, port)->info;
    if ((wire_get(known, PORT_INFO_CAPABILITY_MASK) ^
         wire_get(request->answer, PORT_INFO_CAPABILITY_MASK)) &
        CAPABILITY_IS_SM)
        discovery_read_port(sm, port); /* its trap went to another master, or was lost */
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (wire_get(known, fields[i].field) == wire_get(request->answer, fields[i].field))
            continue;
        sm_log_at(sm, SM_EVENT_WARNING, port,
                  "another manager or host changed %s of %s; this manager restores it",
                  fields[i].name, subnet_link_name(&sm->subnet, port).text);
        discovery_read_port(sm, port);
        if (fields[i].field == PORT_INFO_MASTER_SM_LID)
            sweep_for_unknown_master(sm);
        return;
    }
}

SM_PART(watch, .expire = watch_expire, .deadline = watch_deadline);
