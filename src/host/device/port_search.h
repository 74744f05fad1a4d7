/* Finds the port of this machine that a program on libibumad uses.
 *
 * Adapters of several planes have separate devices for SMPs and for all other MADs (SMI and GSI);
 * libraries that know them tell which belong together. Debian 12's library does not, so that call
 * is looked up at run time. */
#ifndef WEFT_HOST_DEVICE_PORT_SEARCH_H
#define WEFT_HOST_DEVICE_PORT_SEARCH_H

#include "base/err.h"
#include "host/device/port_choice.h"

#include <infiniband/umad.h>
#include <stdbool.h>

/* Initializes libibumad and finds the chosen port, or the first InfiniBand port whose link is up;
 * without its P_Keys. `may_be_down`: if there is only one such port, its link need not be up;
 * -ENETDOWN: there are several, and no link is up yet. */
int port_search(umad_port_t *found, const struct port_choice *choice, bool may_be_down,
                struct err *err);

/* The layout of the library's struct, which the installed header may lack. */
struct device_pair {
    char smi_name[UMAD_CA_NAME_LEN];
    uint32_t smi_preferred_port;
    char gsi_name[UMAD_CA_NAME_LEN];
    uint32_t gsi_preferred_port;
};
/* The devices for SMPs and for other MADs that the port belongs to. */
struct device_pair port_search_pair(const umad_port_t *info);

#endif
