/* The state directory after a power failure at any moment.
 *
 * The linker replaces open(2), write(2), fsync(2), rename(2), unlink(2) and close(2) of the daemon
 * by wrappers that record them. The test then cuts the record at every operation and builds the
 * directories that the disk may hold at that time: names up to any operation since the last
 * fsync(2) of the directory, and what was not synchronized of the files complete, missing, as
 * zeroes, in part, or with a line of other content. A manager that starts on any of them must find
 * a state that was valid once: none older than the last dump that was written completely, and none
 * that never was. */
#include "host/files/store.h"
#include "life.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* ---- the record ---- */

enum kind { CREATE, WRITE, SYNC, RENAME, UNLINK, SYNC_DIRECTORY };
struct operation {
    enum kind kind;
    unsigned file; /* CREATE, WRITE, SYNC */
    char name[64], to[64];
    struct text data;
};
enum { DESCRIPTORS = 256, NONE = 255, DIRECTORY = 254 };

static VEC(struct operation) record;
static const char *recorded; /* the directory, or NULL: nothing is recorded */
static unsigned char file_of[DESCRIPTORS];
static unsigned files;

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *data, size_t bytes);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_close(int fd);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_close(int fd);

static const char *name_in(const char *path)
{
    size_t length = recorded ? strlen(recorded) : 0;
    return length && strncmp(path, recorded, length) == 0 && path[length] == '/' ? path + length + 1
                                                                                 : NULL;
}

static void note(enum kind kind, unsigned file, const char *name, const char *to)
{
    struct operation operation = {.kind = kind, .file = file};
    snprintf(operation.name, sizeof operation.name, "%s", name ? name : "");
    snprintf(operation.to, sizeof operation.to, "%s", to ? to : "");
    vec_push(&record, operation);
}

/* The names of the directory after the first `names` operations. Returns their number. */
struct entry {
    char name[64];
    unsigned file;
};
enum { ENTRIES = 16 };

static unsigned list_names(struct entry entries[ENTRIES], size_t names)
{
    unsigned count = 0;
    for (size_t i = 0; i < names; i++) {
        const struct operation *operation = &record.items[i];
        if (operation->kind != CREATE && operation->kind != RENAME && operation->kind != UNLINK)
            continue;
        const char *name = operation->kind == RENAME ? operation->to : operation->name;
        unsigned file = operation->file;
        for (unsigned e = 0; e < count; e++)
            if (operation->kind == RENAME && strcmp(entries[e].name, operation->name) == 0)
                file = entries[e].file;
        for (unsigned e = 0; e < count; e++)
            if (strcmp(entries[e].name, operation->name) == 0 || strcmp(entries[e].name, name) == 0)
                entries[e--] = entries[--count];
        if (operation->kind == UNLINK)
            continue;
        assert_true(count < ENTRIES);
        snprintf(entries[count].name, sizeof entries[count].name, "%s", name);
        entries[count++].file = file;
    }
    return count;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    int fd = __real_open(path, flags, mode);
    if (fd < 0 || fd >= DESCRIPTORS)
        return fd;
    file_of[fd] = NONE;
    struct entry entries[ENTRIES];
    unsigned count = name_in(path) ? list_names(entries, record.count) : 0;
    for (unsigned e = 0; e < count; e++)
        if (strcmp(entries[e].name, name_in(path)) == 0)
            file_of[fd] = (unsigned char)entries[e].file;
    if (recorded && strcmp(path, recorded) == 0)
        file_of[fd] = DIRECTORY;
    if (name_in(path) && flags & O_CREAT) {
        file_of[fd] = (unsigned char)files++;
        assert_true(files < DIRECTORY && flags & O_TRUNC);
        note(CREATE, file_of[fd], name_in(path), NULL);
    }
    return fd;
}

/* The name of open(2) with 64-bit offsets. */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));

static bool is_recorded(int fd)
{
    return recorded && fd >= 0 && fd < DESCRIPTORS && file_of[fd] != NONE;
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    ssize_t n = __real_write(fd, data, bytes);
    if (is_recorded(fd) && n > 0) {
        note(WRITE, file_of[fd], NULL, NULL);
        text_append(&record.items[record.count - 1].data, data, (size_t)n);
    }
    return n;
}

/* Only recorded: the test does not depend on the disk of this machine. */
int __wrap_fsync(int fd)
{
    if (is_recorded(fd))
        note(file_of[fd] == DIRECTORY ? SYNC_DIRECTORY : SYNC, file_of[fd], NULL, NULL);
    return 0;
}

int __wrap_rename(const char *from, const char *to)
{
    if (name_in(from))
        note(RENAME, 0, name_in(from), name_in(to));
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    int status = __real_unlink(path);
    if (status == 0 && name_in(path))
        note(UNLINK, 0, name_in(path), NULL);
    return status;
}

int __wrap_close(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        file_of[fd] = NONE;
    return __real_close(fd);
}

/* ---- what the disk may hold ---- */

/* What remains of data that was not synchronized. From OTHER_LINE on, one line of it has other
 * content (of a block that was used before): the first, the second and so on. */
enum remains { ALL, NOTHING, ZEROES, FIRST_HALF, SECOND_HALF, OTHER_LINE, REMAINS = 25 };

static void change_line(char *data, size_t length, unsigned line)
{
    char *end = memchr(data, '\n', length);
    for (; end && line; line--) {
        length -= (size_t)(end + 1 - data);
        data = end + 1;
        end = memchr(data, '\n', length);
    }
    for (; end && data < end; data++)
        if (*data >= '1' && *data <= '9')
            *data = '0';
}

static void write_remains(const char *directory, const char *name, unsigned file, size_t cut,
                          enum remains remains)
{
    struct text data = {0};
    size_t synced = 0;
    for (size_t i = 0; i < cut; i++) {
        const struct operation *operation = &record.items[i];
        if (operation->file != file)
            continue;
        if (operation->kind == WRITE)
            text_append(&data, operation->data.data, operation->data.length);
        else if (operation->kind == SYNC)
            synced = data.length;
    }
    text_append(&data, "", 0); /* never without memory */
    size_t lost = data.length - synced, half = synced + lost / 2;
    if (remains == NOTHING || remains == FIRST_HALF)
        data.length = remains == NOTHING ? synced : half;
    else if (remains == ZEROES || remains == SECOND_HALF)
        memset(data.data + synced, 0, remains == ZEROES ? lost : lost / 2);
    else if (remains >= OTHER_LINE && lost)
        change_line(data.data + synced, lost, remains - OTHER_LINE);
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(data.data, 1, data.length, out), data.length);
    assert_int_equal(fclose(out), 0);
    text_release(&data);
}

/* The names after the first `names` operations, the data after the first `cut`. */
static void make_disk(const char *directory, size_t names, size_t cut, enum remains remains)
{
    struct entry entries[ENTRIES];
    unsigned count = list_names(entries, names);
    for (unsigned e = 0; e < count; e++)
        write_remains(directory, entries[e].name, entries[e].file, cut, remains);
}

static void empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    char name[512];
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(name);
    }
    closedir(directory);
}

/* ---- the states ---- */

/* States in their order, with the operations between which they come. */
struct version {
    unsigned value;
    size_t begun, durable; /* operations before the first write, and after the last fsync(2) */
};
typedef VEC(struct version) version_list;
static version_list groups_kept, lids_kept;

static void begin(version_list *versions, unsigned value)
{
    vec_push(versions, ((struct version){value, record.count, SIZE_MAX}));
}

static void is_durable(version_list *versions)
{
    for (size_t i = 0; i < versions->count; i++)
        if (versions->items[i].durable == SIZE_MAX)
            versions->items[i].durable = record.count;
}

static void check_version(const version_list *versions, unsigned found, size_t cut)
{
    size_t at = 0, least = 0;
    while (at < versions->count && versions->items[at].value != found)
        at++;
    for (size_t i = 0; i < versions->count; i++)
        if (versions->items[i].durable <= cut)
            least = i;
    if (at == versions->count || at < least || versions->items[at].begun > cut)
        fail_msg("after %zu operations: state 0x%x, not older than 0x%x expected", cut, found,
                 versions->items[least].value);
}

static void keep_lids(const char *directory, unsigned lid)
{
    struct text text = {0};
    begin(&lids_kept, lid);
    for (unsigned port = 1; port <= 100; port++)
        text_printf(&text, "0x%016x 0x%04x 0x%04x\n\n", port, lid + port, lid + port);
    assert_int_equal(store_replace(directory, STORE_LIDS_FILE, &text), 0);
    is_durable(&lids_kept);
    text_release(&text);
}

static void change_group(struct life *life, const char *host, bool in, unsigned members)
{
    begin(&groups_kept, members);
    if (in)
        life_join(life, host);
    else
        life_leave(life, host);
    assert_int_equal(life_members(life), members);
}

static void dump(struct life *life, const char *directory)
{
    life_write_dump(life, directory);
    is_durable(&groups_kept);
}

/* A manager that works, ends, and starts again. */
static void record_lives(const char *directory)
{
    struct life life;
    recorded = directory;
    begin(&groups_kept, 0);
    begin(&lids_kept, 0);
    life_start(&life, directory, 1);
    is_durable(&groups_kept);
    change_group(&life, "H1", true, 0x1);
    keep_lids(directory, 100);
    dump(&life, directory);
    change_group(&life, "H2", true, 0x3);
    change_group(&life, "H3", true, 0x7);
    dump(&life, directory);
    keep_lids(directory, 300);
    life.registrations.journal_limit = 0; /* the next change begins a new journal */
    change_group(&life, "H2", false, 0x5);
    change_group(&life, "H4", true, 0xD);
    life_kill(&life);
    life_start(&life, directory, 2); /* writes what the journal has, and removes it */
    is_durable(&groups_kept);
    change_group(&life, "H5", true, 0x1D);
    dump(&life, directory);
    life_kill(&life);
    recorded = NULL;
}

static unsigned read_lids(const char *directory)
{
    struct store store;
    struct err err = {0};
    assert_int_equal(store_open(&store, directory, &err), 0);
    if (store_read_lids(&store, &err) < 0)
        fail_msg("%s", err.message);
    unsigned count = (unsigned)store.facts.count, lid = count ? store.facts.items[0].lid - 1u : 0;
    assert_true(count == 0 || count == 100);
    store_close(&store);
    return lid;
}

static void check_disk(const char *directory, size_t names, size_t cut, enum remains remains)
{
    struct life life;
    char path[160];
    struct stat status;
    make_disk(directory, names, cut, remains);
    life_start(&life, directory, 9);
    check_version(&groups_kept, life_members(&life), cut);
    life_kill(&life);
    check_version(&lids_kept, read_lids(directory), cut);
    snprintf(path, sizeof path, "%s/%s.bad", directory, REGISTRATIONS_FILE);
    assert_int_not_equal(stat(path, &status), 0);
    empty_directory(directory);
}

static void every_power_failure_leaves_a_valid_state(void **state)
{
    char directory[64], disk[64];
    size_t last_sync = 0, disks = 0;
    make_directory(directory);
    make_directory(disk);
    record_lives(directory);
    for (size_t cut = 0; cut <= record.count; cut++) {
        if (cut && record.items[cut - 1].kind == SYNC_DIRECTORY)
            last_sync = cut;
        for (size_t names = last_sync; names <= cut; names++)
            for (enum remains remains = ALL; remains < REMAINS; remains++, disks++)
                check_disk(disk, names, cut, remains);
    }
    print_message("%zu operations, %zu disks\n", record.count, disks);
    assert_true(record.count > 40);
    for (size_t i = 0; i < record.count; i++)
        text_release(&record.items[i].data);
    vec_release(&record);
    vec_release(&groups_kept);
    vec_release(&lids_kept);
    empty_directory(directory);
    rmdir(directory);
    rmdir(disk);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_power_failure_leaves_a_valid_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
