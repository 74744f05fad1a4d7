/* Selects a port from the devices that libibumad lists: by device name, port number or port GUID if
 * they are given, never a port with Ethernet as its link layer, and the first one whose physical
 * state is LinkUp. A single port whose link is down is selected only if the caller allows it. */
#include "host/device/port_search.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PHYSICALLY_UP = 5 };

/* The search for a port, with counts of unusable ports for the error message. Ports are stored
 * without their P_Keys. */
struct search {
    const struct port_choice *choice;
    unsigned ports, ethernet, down;
    bool found;
    umad_port_t port;
    umad_port_t first_down; /* if there are ports whose link is down */
};

static void consider_port(struct search *search, const umad_port_t *port)
{
    const struct port_choice *choice = search->choice;
    if (search->found || (choice->guid && be64toh(port->port_guid) != choice->guid) ||
        (choice->ca && strcmp(port->ca_name, choice->ca) != 0) ||
        (choice->number != PORT_ANY && port->portnum != choice->number))
        return;
    search->ports++;
    /* Kernels without this attribute support InfiniBand only. */
    if (port->link_layer[0] && strcmp(port->link_layer, "InfiniBand") != 0 &&
        strcmp(port->link_layer, "IB") != 0) {
        search->ethernet++;
        return;
    }
    bool up = port->phys_state == PHYSICALLY_UP;
    umad_port_t *stored = up ? &search->port : &search->first_down;
    search->down += !up;
    if (!up && search->down > 1)
        return;
    *stored = *port;
    stored->pkeys = NULL;
    search->found = up;
}

static int no_port_error(const struct search *search, struct err *err)
{
    const struct port_choice *choice = search->choice;
    char meant[96] = "";
    if (choice->guid)
        snprintf(meant, sizeof meant, " with GUID 0x%016" PRIx64, choice->guid);
    else if (choice->ca || choice->number != PORT_ANY)
        snprintf(meant, sizeof meant, " '%s:%s'", choice->ca ? choice->ca : "*",
                 choice->number == PORT_ANY ? "*" : (char[]){(char)('0' + choice->number), 0});
    if (search->ethernet)
        return err_set(err, ENODEV, "no InfiniBand port%s is up: %u of %u ports carry Ethernet",
                       meant, search->ethernet, search->ports);
    if (search->down)
        return err_set(err, ENODEV, "no InfiniBand port%s is up: all %u links are down", meant,
                       search->down);
    return err_set(err, ENODEV, "this machine has no InfiniBand port%s", meant);
}

int port_search(umad_port_t *found, const struct port_choice *choice, bool may_be_down,
                struct err *err)
{
    struct search search = {.choice = choice};
    if (umad_init() < 0)
        return err_set(err, ENODEV, "this machine has no InfiniBand driver");
    char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
    int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);
    for (int i = 0; i < count && !search.found; i++) {
        umad_ca_t ca;
        if (umad_get_ca(names[i], &ca) < 0)
            continue;
        for (int number = 0; number <= ca.numports && number < UMAD_CA_MAX_PORTS; number++)
            if (ca.ports[number])
                consider_port(&search, ca.ports[number]);
        umad_release_ca(&ca);
    }
    *found = search.found ? search.port : search.first_down;
    if (search.found || (may_be_down && search.down == 1))
        return 0;
    int status = no_port_error(&search, err);
    return may_be_down && search.down > 1 ? -ENETDOWN : status;
}

typedef int find_pair_function(const char *name, uint8_t number, struct device_pair *pair,
                               unsigned enforce_smi);

struct device_pair port_search_pair(const umad_port_t *info)
{
    struct device_pair same = {.smi_preferred_port = (uint32_t)info->portnum,
                               .gsi_preferred_port = (uint32_t)info->portnum};
    find_pair_function *find;
    memcpy(same.smi_name, info->ca_name, sizeof same.smi_name);
    memcpy(same.gsi_name, info->ca_name, sizeof same.gsi_name);
    void *symbol = dlsym(RTLD_DEFAULT, "umad_get_smi_gsi_pair_by_ca_name");
    memcpy(&find, &symbol, sizeof find);
    struct device_pair pair = same;
    if (!find || find(info->ca_name, (uint8_t)info->portnum, &pair, 1) != 0 ||
        strcmp(pair.smi_name, pair.gsi_name) == 0)
        return same; /* one device for both: the chosen port */
    return pair;
}
