/* The file of addresses: what is accepted are LIDs of ports, and the same after writing and
 * reading. */
#include "host/files/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/store_fuzz.XXXXXX";

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void path_of(const char *name, char path[64])
{
    snprintf(path, 64, "%s/%s", directory, name);
}

static void remove_directory(void)
{
    char path[64];
    path_of("guid2lid", path);
    unlink(path);
    path_of("lock", path);
    unlink(path);
    rmdir(directory);
}

/* The file's bytes are nowhere but in memory, which is much quicker. */
static void put_file(const void *data, size_t size)
{
    static int fd = -1;
    char path[64], target[64];
    if (fd < 0) {
        fd = memfd_create("guid2lid", MFD_CLOEXEC);
        require(fd >= 0 && mkdtemp(directory) && atexit(remove_directory) == 0);
        path_of("guid2lid", path);
        snprintf(target, sizeof target, "/proc/self/fd/%d", fd);
        require(symlink(target, path) == 0);
    }
    require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void check_facts(const struct store *store)
{
    for (size_t i = 0; i < store->facts.count; i++) {
        const struct sm_lid_fact *fact = &store->facts.items[i];
        require(fact->guid && fact->lid && fact->lmc <= 7);
        require(fact->lid + (1u << fact->lmc) - 1 <= LID_UNICAST_LAST);
        require(map_get(&store->by_guid, fact->guid) == i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store store;
    struct err err = {0};
    struct text first = {0}, second = {0};
    put_file(data, size);
    require(store_open(&store, directory, &err) == 0);
    bool valid = store_read_lids(&store, &err) == 0;
    require(valid || (err.message[0] && err.file[0]));
    require(!valid || !memchr(data, 0, size)); /* nothing behind one may be lost in silence */
    check_facts(&store);
    store_print(&store, &first);
    store_close(&store);
    put_file(first.length ? first.data : "", first.length);
    require(store_open(&store, directory, &err) == 0 && store_read_lids(&store, &err) == 0);
    store_print(&store, &second);
    require(first.length == second.length &&
            (!first.length || memcmp(first.data, second.data, first.length) == 0));
    store_close(&store);
    text_release(&first);
    text_release(&second);
    return 0;
}
