/* The files of /sys/class/infiniband and infiniband_mad, written on demand.
 *
 * Each attachment has its own directory; its files are written when a client asks, so that a
 * script reads the present state. A file is replaced as a whole: who has the old one open goes on
 * reading that. */
#include "host/server/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

struct sysfs {
    char root[PATH_MAX - 256];
};

struct sysfs *sysfs_new(const char *directory)
{
    struct sysfs *sysfs = mem_zalloc(1, sizeof *sysfs);
    snprintf(sysfs->root, sizeof sysfs->root, "%s/sys", directory);
    return sysfs;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void sysfs_free(struct sysfs *sysfs)
{
    if (!sysfs)
        return;
    nftw(sysfs->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    mem_free(sysfs);
}

/* A directory being filled; the first error stays. */
struct place {
    char path[PATH_MAX];
    size_t length;
    int result;
};

static void enter(struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct place *place, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Goes down into a directory below `place`; the caller restores `length` to come back. */
static void enter(struct place *place, const char *format, ...)
{
    va_list arguments;
    place->path[place->length] = '/';
    va_start(arguments, format);
    int written = vsnprintf(place->path + place->length + 1, sizeof place->path - place->length - 1,
                            format, arguments);
    va_end(arguments);
    if (written < 0 || place->length + 1 + (size_t)written >= sizeof place->path) {
        place->result = -ENAMETOOLONG;
        return;
    }
    place->length += 1 + (size_t)written;
    if (mkdir(place->path, 0755) < 0 && errno != EEXIST)
        place->result = -errno;
}

static void leave(struct place *place, size_t length)
{
    place->length = length;
    place->path[length] = 0;
}

static void put(struct place *place, const char *name, const char *format, ...)
{
    char path[PATH_MAX + 64], fresh[PATH_MAX + 64];
    va_list arguments;
    if (place->result < 0)
        return;
    snprintf(path, sizeof path, "%s/%s", place->path, name);
    snprintf(fresh, sizeof fresh, "%s/.%s", place->path, name);
    FILE *file = fopen(fresh, "we");
    if (!file) {
        place->result = -errno;
        return;
    }
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
    if (fclose(file) != 0 || rename(fresh, path) < 0)
        place->result = -errno;
}

/* "0002:c903:0000:0001" */
static const char *guid_text(uint64_t guid, char *text, size_t size)
{
    snprintf(text, size, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48) & 0xffff,
             (unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
             (unsigned)guid & 0xffff);
    return text;
}

static void write_ids(struct place *place, const struct answer_port *answer)
{
    char prefix[32], guid[32], name[16];
    size_t here = place->length;
    enter(place, "gids");
    put(place, "0", "%s:%s", guid_text(answer->gid_prefix, prefix, sizeof prefix),
        guid_text(answer->port_guid, guid, sizeof guid));
    leave(place, here);
    enter(place, "pkeys");
    for (unsigned i = 0; i < answer->p_key_count; i++) {
        snprintf(name, sizeof name, "%u", i);
        put(place, name, "0x%04x", answer->p_keys[i]);
    }
    leave(place, here);
}

static void write_port(struct place *place, const struct fabric *fabric, uint32_t port)
{
    static const char *const states[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
    static const char *const physical[] = {
        "<unknown>",        "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
        "LinkErrorRecovery"};
    struct answer_port answer;
    char link[32];
    size_t here = place->length;
    attach_describe_port(fabric, port, &answer);
    attach_describe_link(fabric_topology(fabric), port, link, sizeof link);
    enter(place, "%u", answer.number);
    put(place, "state", "%u: %s", answer.state, answer.state < 5 ? states[answer.state] : "?");
    put(place, "phys_state", "%u: %s", answer.physical_state,
        answer.physical_state < 7 ? physical[answer.physical_state] : "?");
    put(place, "rate", "%u Gb/sec (%s)", answer.rate, link);
    put(place, "lid", "0x%x", answer.base_lid);
    put(place, "lid_mask_count", "%u", answer.lmc);
    put(place, "sm_lid", "0x%x", answer.sm_lid);
    put(place, "sm_sl", "%u", answer.sm_sl);
    put(place, "cap_mask", "0x%08x", answer.capability_mask);
    put(place, "link_layer", "InfiniBand");
    write_ids(place, &answer);
    leave(place, here);
}

static void write_device(struct place *place, const struct fabric *fabric, uint32_t node)
{
    static const char *const types[] = {"?", "CA", "switch", "router"};
    const struct topology_node *described = &fabric_topology(fabric)->nodes.items[node];
    struct answer_ca ca;
    char guid[32];
    attach_describe_ca(fabric, node, &ca);
    enter(place, "infiniband");
    enter(place, "%s", ca.name);
    put(place, "node_type", "%u: %s", ca.node_type, ca.node_type < 4 ? types[ca.node_type] : "?");
    put(place, "node_guid", "%s", guid_text(ca.node_guid, guid, sizeof guid));
    put(place, "sys_image_guid", "%s", guid_text(ca.system_guid, guid, sizeof guid));
    put(place, "node_desc", "%s", ca.description);
    put(place, "fw_ver", "%s", ca.firmware);
    put(place, "hw_rev", "%s", ca.hardware);
    put(place, "hca_type", "%s", ca.type);
    enter(place, "ports");
    bool is_switch = described->kind == NODE_SWITCH;
    for (uint32_t i = is_switch ? 0 : 1; i <= (is_switch ? 0u : described->port_count); i++)
        write_port(place, fabric, described->first_port + i);
}

static void write_umad(struct place *place, const struct fabric *fabric, uint32_t node)
{
    const struct topology_node *described = &fabric_topology(fabric)->nodes.items[node];
    bool is_switch = described->kind == NODE_SWITCH;
    struct answer_ca ca;
    attach_describe_ca(fabric, node, &ca);
    enter(place, "infiniband_mad");
    put(place, "abi_version", "5");
    size_t here = place->length;
    for (unsigned i = is_switch ? 0 : 1; i <= (is_switch ? 0u : described->port_count); i++) {
        enter(place, "umad%u", i);
        put(place, "ibdev", "%s", ca.name);
        put(place, "port", "%u", i);
        leave(place, here);
    }
}

int sysfs_write(struct sysfs *sysfs, const struct fabric *fabric,
                const struct attachment *attachment, struct text *path)
{
    struct place place = {.result = 0};
    if (!sysfs)
        return -ENOENT;
    place.length = (size_t)snprintf(place.path, sizeof place.path, "%s", sysfs->root);
    if (mkdir(place.path, 0755) < 0 && errno != EEXIST)
        return -errno;
    enter(&place, "%u", attachment->node);
    size_t root = place.length;
    text_puts(path, place.path);
    write_device(&place, fabric, attachment->node);
    leave(&place, root);
    write_umad(&place, fabric, attachment->node);
    return place.result;
}
