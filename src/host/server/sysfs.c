/* The files of /sys/class/infiniband and infiniband_mad.
 *
 * Each node has its own directory. Its files are written at each request, so that scripts read the
 * present state. A file is replaced atomically. */
#include "host/server/sysfs.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

/* The directory that is being written. `result` is the first error. */
struct sysfs_dir {
    char path[PATH_MAX];
    size_t length;
    int result;
};

static void enter_dir(struct sysfs_dir *dir, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_file(struct sysfs_dir *dir, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Makes and enters a directory below `dir`; leave_dir() with the previous `length` returns. */
static void enter_dir(struct sysfs_dir *dir, const char *format, ...)
{
    va_list arguments;
    dir->path[dir->length] = '/';
    va_start(arguments, format);
    int written = vsnprintf(dir->path + dir->length + 1, sizeof dir->path - dir->length - 1, format,
                            arguments);
    va_end(arguments);
    if (written < 0 || dir->length + 1 + (size_t)written >= sizeof dir->path) {
        dir->result = -ENAMETOOLONG;
        return;
    }
    dir->length += 1 + (size_t)written;
    if (mkdir(dir->path, 0755) < 0 && errno != EEXIST)
        dir->result = -errno;
}

static void leave_dir(struct sysfs_dir *dir, size_t length)
{
    assert(length <= dir->length);
    dir->length = length;
    dir->path[length] = 0;
}

static void put_file(struct sysfs_dir *dir, const char *name, const char *format, ...)
{
    char path[PATH_MAX + 64], fresh[PATH_MAX + 64];
    va_list arguments;
    if (dir->result < 0)
        return;
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    snprintf(fresh, sizeof fresh, "%s/.%s", dir->path, name);
    FILE *file = fopen(fresh, "we");
    if (!file) {
        dir->result = -errno;
        return;
    }
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
    if (fclose(file) != 0 || rename(fresh, path) < 0)
        dir->result = -errno;
}

/* "0002:c903:0000:0001" */
static const char *guid_text(uint64_t guid, char *text, size_t size)
{
    snprintf(text, size, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48) & 0xffff,
             (unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
             (unsigned)guid & 0xffff);
    return text;
}

static void write_port(struct sysfs_dir *dir, const struct fabric *fabric, uint32_t port)
{
    static const char *const states[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
    static const char *const physical[] = {
        "<unknown>",        "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
        "LinkErrorRecovery"};
    struct answer_port answer;
    char link[32], prefix[32], guid[32], name[16];
    size_t here = dir->length;
    attach_describe_port(fabric, port, &answer);
    attach_describe_link(fabric_topology(fabric), port, link, sizeof link);
    enter_dir(dir, "%u", answer.number);
    put_file(dir, "state", "%u: %s", answer.state, answer.state < 5 ? states[answer.state] : "?");
    put_file(dir, "phys_state", "%u: %s", answer.physical_state,
             answer.physical_state < 7 ? physical[answer.physical_state] : "?");
    put_file(dir, "rate", "%u Gb/sec (%s)", answer.rate, link);
    put_file(dir, "lid", "0x%x", answer.base_lid);
    put_file(dir, "lid_mask_count", "%u", answer.lmc);
    put_file(dir, "sm_lid", "0x%x", answer.sm_lid);
    put_file(dir, "sm_sl", "%u", answer.sm_sl);
    put_file(dir, "cap_mask", "0x%08x", answer.capability_mask);
    put_file(dir, "link_layer", "InfiniBand");
    size_t port_dir = dir->length;
    enter_dir(dir, "gids");
    put_file(dir, "0", "%s:%s", guid_text(answer.gid_prefix, prefix, sizeof prefix),
             guid_text(answer.port_guid, guid, sizeof guid));
    leave_dir(dir, port_dir);
    enter_dir(dir, "pkeys");
    for (unsigned i = 0; i < answer.p_key_count; i++) {
        snprintf(name, sizeof name, "%u", i);
        put_file(dir, name, "0x%04x", answer.p_keys[i]);
    }
    leave_dir(dir, here);
}

static void write_tree(struct sysfs_dir *dir, const struct fabric *fabric, uint32_t node)
{
    static const char *const types[] = {"?", "CA", "switch", "router"};
    const struct topology_node *described = &fabric_topology(fabric)->nodes.items[node];
    unsigned first = described->kind == NODE_SWITCH ? 0 : 1;
    unsigned last = described->kind == NODE_SWITCH ? 0 : described->port_count;
    size_t root = dir->length;
    struct answer_ca ca;
    char guid[32];
    attach_describe_ca(fabric, node, &ca);
    enter_dir(dir, "infiniband");
    enter_dir(dir, "%s", ca.name);
    put_file(dir, "node_type", "%u: %s", ca.node_type,
             ca.node_type < 4 ? types[ca.node_type] : "?");
    put_file(dir, "node_guid", "%s", guid_text(ca.node_guid, guid, sizeof guid));
    put_file(dir, "sys_image_guid", "%s", guid_text(ca.system_guid, guid, sizeof guid));
    put_file(dir, "node_desc", "%s", ca.description);
    put_file(dir, "fw_ver", "%s", ca.firmware);
    put_file(dir, "hw_rev", "%s", ca.hardware);
    put_file(dir, "hca_type", "%s", ca.type);
    enter_dir(dir, "ports");
    for (unsigned i = first; i <= last; i++)
        write_port(dir, fabric, described->first_port + i);
    leave_dir(dir, root);
    enter_dir(dir, "infiniband_mad");
    put_file(dir, "abi_version", "5");
    size_t here = dir->length;
    for (unsigned i = first; i <= last; i++) {
        enter_dir(dir, "umad%u", i);
        put_file(dir, "ibdev", "%s", ca.name);
        put_file(dir, "port", "%u", i);
        leave_dir(dir, here);
    }
}

int sysfs_write(const char *directory, const struct fabric *fabric, uint32_t node,
                struct text *path)
{
    struct sysfs_dir dir = {.result = 0};
    if (!directory)
        return -ENOENT;
    dir.length = (size_t)snprintf(dir.path, sizeof dir.path, "%s", directory);
    enter_dir(&dir, "sys");
    enter_dir(&dir, "%u", node);
    text_puts(path, dir.path);
    write_tree(&dir, fabric, node);
    return dir.result;
}
