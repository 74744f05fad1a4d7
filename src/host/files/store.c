/* The state directory of a manager: its lock, atomic replacement of files with fsync(2), and the
 * texts of the files for LIDs, M_Keys and links. When files are written is decided in
 * daemon_files.c. */
#include "host/files/store.h"

#include "base/file.h"
#include "base/line_reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 64 * 1024 * 1024, PATH_ROOM = 4096 };

/* Adds the LIDs of a line. 0, or -EINVAL with the reason in the reader's error. */
static int read_lid_line(struct store *store, struct line_reader *lines)
{
    uint64_t guid;
    unsigned first, last;
    int end = 0;
    const char *line = lines->copy;
    if (line[strspn(line, " \t")] == 0 || line[0] == '#')
        return 0;
    if (sscanf(line, "%" SCNx64 " %x %x %n", &guid, &first, &last, &end) != 3 || line[end] != 0)
        return line_reader_error(lines, "expected 'GUID FIRST-LID LAST-LID'");
    unsigned span = last - first + 1;
    if (guid == 0 || first == 0 || last < first || last > LID_UNICAST_LAST || span > 128 ||
        (span & (span - 1)) != 0)
        return line_reader_error(lines,
                                 "0x%x to 0x%x are not LIDs of one port: expected a power of two, "
                                 "up to 128, within 0x1 to 0xbfff",
                                 first, last);
    store_add(store, &(struct sm_lid_fact){guid, (uint16_t)first, (uint8_t)__builtin_ctz(span)});
    return 0;
}

/* A read-only file system may still have the lock file, and flock(2) needs no write access. */
int store_open(struct store *store, const char *directory, struct err *err)
{
    char path[PATH_ROOM];
    *store = (struct store){.directory = directory, .lock = -1};
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return err_set(err, errno, "cannot make '%s': %s", directory, strerror(errno));
    snprintf(path, sizeof path, "%s/lock", directory);
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int error = store->lock < 0 ? errno : 0;
    if (error)
        store->lock = open(path, O_RDONLY | O_CLOEXEC);
    if (store->lock >= 0 && flock(store->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        store_close(store);
        return err_set(err, EBUSY, "'%s' is in use by another manager", directory);
    }
    return error ? err_set(err, error, "cannot write to '%s': %s", directory, strerror(error)) : 0;
}

int store_read_lids(struct store *store, struct err *err)
{
    char path[PATH_ROOM];
    struct err reason = {0};
    struct line_reader *lines = from_file(path, &reason);
    snprintf(path, sizeof path, "%s/%s", store->directory, STORE_LIDS_FILE);
    int status = 0;
    while (line_reader_next_line(lines)) {
        if (read_lid_line(store, lines) == 0)
            continue;
        if (status == 0)
            *err = reason;
        status = lines->status;
        lines->status = 0; /* the other lines are still useful */
    }
    if (status == 0 && lines->status < 0 && lines->status != -ENOENT) {
        status = lines->status;
        *err = reason;
    }
    return status;
}

void store_close(struct store *store)
{
    if (store->lock >= 0)
        close(store->lock);
    vec_release(&store->facts);
    map_release(&store->by_guid);
    *store = (struct store){.lock = -1};
}

void store_add(struct store *store, const struct sm_lid_fact *fact)
{
    assert(fact->guid && fact->lid && fact->lmc <= 7);
    uint32_t at = map_add(&store->by_guid, fact->guid, (uint32_t)store->facts.count);
    if (at == store->facts.count)
        vec_push(&store->facts, *fact);
    else
        store->facts.items[at] = *fact;
}

void store_print(const struct store *store, struct text *out)
{
    for (size_t i = 0; i < store->facts.count; i++) {
        const struct sm_lid_fact *fact = &store->facts.items[i];
        assert(fact->lid + (1u << fact->lmc) - 1 <= LID_UNICAST_LAST);
        text_printf(out, "0x%016" PRIx64 " 0x%04x 0x%04x\n\n", fact->guid, fact->lid,
                    fact->lid + (1u << fact->lmc) - 1);
    }
}

int store_read(const char *directory, const char *name, struct text *content)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = file_open(path);
    if (!file)
        return errno == ENOENT ? 0 : -errno;
    int status = text_read(content, file, FILE_LIMIT);
    fclose(file);
    return status;
}

int store_set_aside(const char *directory, const char *name)
{
    char path[PATH_ROOM], bad[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(bad, sizeof bad, "%s/%s.bad", directory, name);
    return rename(path, bad) < 0 ? -errno : 0;
}

/* Without this a power failure can undo a rename that a later unlink(2) relies on. Some file
 * systems cannot synchronize directories. */
static int sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP ? -errno : 0;
    close(fd);
    return status;
}

int store_replace(const char *directory, const char *name, const struct text *content)
{
    char path[PATH_ROOM], temporary[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(temporary, sizeof temporary, "%s/.%s.new", directory, name);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int status = file_write_all(fd, content);
    if (status == 0 && fsync(fd) < 0)
        status = -errno;
    if (close(fd) < 0 && status == 0)
        status = -errno;
    if (status == 0 && rename(temporary, path) < 0)
        status = -errno;
    if (status < 0)
        unlink(temporary);
    return status < 0 ? status : sync_directory(directory);
}

/* ---- M_Keys of ports ---- */

void port_keys_print(const struct sm *sm, struct text *out)
{
    const struct subnet *subnet = sm_subnet(sm);
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        if (subnet->ports.items[port].guid && subnet_is_end_port(subnet, port))
            text_printf(out, "0x%016" PRIx64 " 0x%016" PRIx64 "\n", subnet->ports.items[port].guid,
                        sm_port_key(sm, port));
}

void neighbours_print(const struct sm *sm, struct text *out)
{
    const struct sm_neighbour *neighbours;
    size_t count = sm_neighbours(sm, &neighbours);
    for (size_t i = 0; i < count; i++)
        text_printf(out, "0x%016" PRIx64 ":%u 0x%016" PRIx64 ":%u\n", neighbours[i].guid,
                    neighbours[i].number, neighbours[i].peer_guid, neighbours[i].peer_number);
}

typedef void restore_link(struct sm *sm, const struct sm_neighbour *link);

static void read_lines_of_links(struct sm *sm, const char *content, restore_link *restore)
{
    for (const char *line = content; line; line = strchr(line, '\n')) {
        struct sm_neighbour neighbour;
        line += *line == '\n';
        if (sscanf(line, "%" SCNx64 ":%" SCNu8 " %" SCNx64 ":%" SCNu8, &neighbour.guid,
                   &neighbour.number, &neighbour.peer_guid, &neighbour.peer_number) == 4)
            restore(sm, &neighbour);
    }
}

void neighbours_read(struct sm *sm, const char *content)
{
    read_lines_of_links(sm, content, sm_restore_neighbour);
}

/* ---- links between switches ---- */

void links_print(const struct subnet *subnet, struct text *out)
{
    text_puts(out, "# GUID:port of both ends\n"); /* an empty text would keep the old file */
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        uint32_t peer = subnet_last_neighbor(subnet, port);
        if (peer == SUBNET_NONE || peer < port)
            continue;
        const struct subnet_port *a = &subnet->ports.items[port], *b = &subnet->ports.items[peer];
        const struct subnet_node *from = &subnet->nodes.items[a->node];
        const struct subnet_node *to = &subnet->nodes.items[b->node];
        if (from->kind == SUBNET_SWITCH && to->kind == SUBNET_SWITCH && !from->vswitch &&
            !to->vswitch)
            text_printf(out, "0x%016" PRIx64 ":%u 0x%016" PRIx64 ":%u\n", from->guid, a->number,
                        to->guid, b->number);
    }
}

void links_read(struct sm *sm, const char *content)
{
    read_lines_of_links(sm, content, sm_restore_link);
}
