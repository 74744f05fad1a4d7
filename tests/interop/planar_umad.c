/* A stand-in for a newer libibumad on an adapter of several planes, for speeds.sh.
 *
 * It is preloaded before weft's library and adds the device "smi1" to the adapter "weft0". As with
 * such adapters, only smi1 accepts agents of subnet management and has an issm device, and only
 * weft0 accepts other agents. umad_get_smi_gsi_pair_by_ca_name() tells that they belong together.
 * With PLANAR_ALONE=1 that call finds no pair. */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char gsi[] = "weft0", smi[] = "smi1";
enum { DESCRIPTORS = 1024 };
static bool is_smi[DESCRIPTORS];

struct device_pair {
    char smi_name[UMAD_CA_NAME_LEN];
    uint32_t smi_preferred_port;
    char gsi_name[UMAD_CA_NAME_LEN];
    uint32_t gsi_preferred_port;
};
int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t number, struct device_pair *pair,
                                     unsigned enforce_smi);

/* The same function of the next library. */
#define NEXT(name)                                                                                 \
    static __typeof__(&(name)) next;                                                               \
    if (!next)                                                                                     \
    next = (__typeof__(next))dlsym(RTLD_NEXT, #name)

static bool names_smi(const char *name)
{
    return name && strcmp(name, smi) == 0;
}

int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t number, struct device_pair *pair,
                                     unsigned enforce_smi)
{
    (void)enforce_smi;
    if (getenv("PLANAR_ALONE") || (name && strcmp(name, gsi) != 0 && !names_smi(name)))
        return 1;
    memset(pair, 0, sizeof *pair);
    snprintf(pair->smi_name, sizeof pair->smi_name, "%s", smi);
    snprintf(pair->gsi_name, sizeof pair->gsi_name, "%s", gsi);
    pair->smi_preferred_port = pair->gsi_preferred_port = number;
    return 0;
}

int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int max)
{
    NEXT(umad_get_cas_names);
    int count = next(names, max);
    if (count > 0 && count < max)
        snprintf(names[count++], UMAD_CA_NAME_LEN, "%s", smi);
    return count;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
    NEXT(umad_get_ca);
    int result = next(names_smi(name) ? gsi : name, ca);
    if (result < 0 || !names_smi(name))
        return result;
    snprintf(ca->ca_name, sizeof ca->ca_name, "%s", smi);
    for (int i = 0; i <= ca->numports; i++)
        if (ca->ports[i])
            snprintf(ca->ports[i]->ca_name, sizeof ca->ports[i]->ca_name, "%s", smi);
    return result;
}

int umad_get_issm_path(const char *name, int number, char path[], int max)
{
    NEXT(umad_get_issm_path);
    return names_smi(name) ? next(gsi, number, path, max) : -EINVAL;
}

int umad_open_port(const char *name, int number)
{
    NEXT(umad_open_port);
    int fd = next(names_smi(name) ? gsi : name, number);
    if (fd >= 0 && fd < DESCRIPTORS)
        is_smi[fd] = names_smi(name);
    return fd;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp,
                  long methods[16 / sizeof(long)])
{
    NEXT(umad_register);
    bool management = mgmt_class == 0x01 || mgmt_class == 0x81;
    if (fd < 0 || fd >= DESCRIPTORS || is_smi[fd] != management) {
        errno = EPROTONOSUPPORT;
        return -EPERM;
    }
    return next(fd, mgmt_class, version, rmpp, methods);
}
