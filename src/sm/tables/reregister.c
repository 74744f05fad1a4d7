/* Requests clients to register again with subnet administration (ClientReregister, 14.2.5.6).
 *
 * The owner keeps registrations (sm_set_registry_master()). A port needs ClientReregister if it was
 * active under a master whose registrations the owner does not have: MasterSMLID tells which one.
 * It is checked whenever a port is written, because another master may have written it at any time:
 * while the link of this manager was down, or its process was stopped.
 *
 * If another master was in the subnet, LIDs do not tell whose registrations are complete: two
 * masters may have had the same LID, or a port may have changed between them. Then every port
 * needs ClientReregister.
 *
 * ClientReregister is sent when the owner is ready. */
#include "sm/tables/reregister.h"
#include "sm/internal.h"
#include "sm/mastership/mastership.h"
#include "sm/reconfigure.h"
#include "sm/tables/program.h"
#include "sm/tables/program_ports.h"

struct reregistration {
    uint32_t checked_in; /* mastership of the last check; 0: none */
    uint32_t doubt;      /* reregister.doubt at the last check */
    bool ours;           /* the port had the LID of this master in this mastership */
    bool needed;         /* ClientReregister has to be sent */
};

enum { ABSENCE_LIMIT_S = 60, CLIENT_REREGISTRATION = 1 << 25 /* of CapabilityMask */ };

struct reregister {
    VEC(struct reregistration) ports; /* by port of the subnet */
    uint32_t needed;                  /* ports that need ClientReregister */
    uint32_t served_in;               /* mastership in which the owner is ready */
    uint64_t served_at;               /* when it was */
    uint16_t known_master; /* LID of the master whose registrations the owner has; 0: none */
    uint32_t doubt;        /* how often another master was in the subnet */
    uint32_t doubted_in;   /* mastership in which this happened last */
};

SM_PART(reregister, .vectors = {VECTOR(reregister, ports)});

static struct reregistration *client_at(struct sm *sm, uint32_t port)
{
    return vec_at(&sm->reregister->ports, port);
}

static void set_needed(struct sm *sm, uint32_t port, bool needed)
{
    struct reregistration *client = client_at(sm, port);
    sm->reregister->needed += (uint32_t)needed - (uint32_t)client->needed;
    client->needed = needed;
}

/* Whether the owner may lack registrations of the clients of this port. Clients of a port that this
 * manager activates register by themselves. */
static bool is_doubtful(struct sm *sm, uint32_t port)
{
    const struct reregister *r = sm->reregister;
    struct reregistration *client = client_at(sm, port);
    uint64_t before = wire_get(port_at(sm, port)->info, PORT_INFO_MASTER_SM_LID);
    bool active = wire_get(port_at(sm, port)->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
    bool own = before == port_at(sm, sm->subnet.own_port)->lid;
    bool doubtful;
    if (client->checked_in != mastership_number(sm)) {
        set_needed(sm, port, false);
        *client = (struct reregistration){.checked_in = mastership_number(sm)};
        doubtful = before != r->known_master || r->doubted_in == mastership_number(sm);
    } else {
        doubtful = client->doubt != r->doubt || (client->ours && !own);
    }
    client->doubt = r->doubt;
    client->ours = own;
    return doubtful && before && active;
}

void reregister_set_port(struct sm *sm, uint32_t port, uint8_t *info)
{
    const struct reregistration *client = client_at(sm, port);
    assert(subnet_is_end_port(&sm->subnet, port) && sm_state(sm) == SM_MASTER);
    if (is_doubtful(sm, port))
        set_needed(sm, port, wire_get(info, PORT_INFO_CAPABILITY_MASK) & CLIENT_REREGISTRATION);
    wire_set(info, PORT_INFO_CLIENT_REREGISTER,
             client->needed && sm->reregister->served_in == mastership_number(sm));
}

void reregister_doubt(struct sm *sm)
{
    struct reregister *r = sm->reregister;
    r->doubt++;
    r->doubted_in = mastership_number(sm);
    r->served_in = 0; /* until the subnet is up again */
}

void reregister_sent(struct sm *sm, uint32_t port)
{
    set_needed(sm, port, false);
}

/* A host that is absent for longer was switched off: its clients register when its link is up. */
bool sm_has_asked_clients(const struct sm *sm, uint64_t now)
{
    const struct reregister *r = sm->reregister;
    return r->served_in == mastership_number(sm) &&
           (!r->needed || now >= r->served_at + ABSENCE_LIMIT_S * NS_PER_S);
}

void sm_set_registry_master(struct sm *sm, uint16_t master_lid)
{
    sm->reregister->known_master = master_lid;
}

bool reregister_all(struct sm *sm)
{
    struct reregister *reregister = sm->reregister;
    unsigned count = 0;
    if (reregister->served_in == mastership_number(sm) ||
        (reregister->doubted_in == mastership_number(sm) && !reconfigure_is_at_rest(sm)))
        return false;
    reregister->served_in = mastership_number(sm);
    reregister->served_at = sm->now;
    for (size_t port = 0; port < reregister->ports.count; port++)
        count += reregister->ports.items[port].needed &&
                 reregister->ports.items[port].checked_in == mastership_number(sm);
    if (count)
        sm_log(sm, SM_EVENT_STATE, "clients of %u ports have to register again", count);
    program_schedule(sm);
    return true;
}

void reregister_port(struct sm *sm, uint64_t guid)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (port_at(sm, port)->guid == guid && subnet_is_end_port(&sm->subnet, port)) {
            client_at(sm, port)->checked_in = mastership_number(sm);
            set_needed(sm, port,
                       wire_get(port_at(sm, port)->info, PORT_INFO_CAPABILITY_MASK) &
                           CLIENT_REREGISTRATION);
            program_port(sm, port);
        }
}
