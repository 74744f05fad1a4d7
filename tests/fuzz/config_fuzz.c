/* The manager's configuration file: what is accepted makes sense, and is the same when its keys are
 * set one by one, and when it is printed and read again. Keys that name files are left out: those
 * would be read. */
#include "host/manager/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* A file that is nowhere but in memory. */
static const char *put_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("configuration", MFD_CLOEXEC);
        require(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

/* Whether it gives this key another value than "none", which may stay. */
static bool names_file(const uint8_t *data, size_t size, const char *key)
{
    static const char none[] = " none\n";
    const uint8_t *end = data + size, *at;
    while ((at = memmem(data, (size_t)(end - data), key, strlen(key)))) {
        data = at + strlen(key);
        if ((size_t)(end - data) < strlen(none) || memcmp(data, none, strlen(none)) != 0)
            return true;
    }
    return false;
}

static void ignore(void *context, const char *key, const char *from, const char *to, bool live)
{
    unsigned *told = context;
    require(key && from && to && strcmp(from, to) != 0);
    (void)live;
    ++*told;
}

static void check_values(const struct config *config)
{
    const struct sm_config *sm = &config->sm;
    require(sm->engine && sm->priority <= 15 && sm->lmc <= 7 && sm->subnet_timeout <= 31);
    require(sm->window >= 1 && sm->window <= 65536 && sm->m_key_protect <= 3);
    require(sm->timeout_ns && sm->sweep_ns && sm->poll_ns && sm->life_time <= 18);
    require(!sm->engine->renames || sm->lmc > 0);
    require(sm->engine_options.root != ROOT_LIST || sm->engine_options.root_count > 0);
}

static void check_again(const struct config *config)
{
    struct config again, fresh;
    struct err err = {0};
    unsigned told = 0;
    config_init(&again);
    for (size_t i = 0; config_key(i); i++)
        if (config->values[i])
            require(config_set(&again, config_key(i), config->values[i], &err) == 0);
    require(config_finish(&again, &err) == 0);
    config_compare(config, &again, ignore, &told);
    require(told == 0);
    config_release(&again);
    struct text printed = {0};
    config_print(config, &printed);
    config_init(&again);
    require(config_read(&again, put_file((const uint8_t *)printed.data, printed.length), &err) ==
            0);
    require(config_finish(&again, &err) == 0);
    config_compare(config, &again, ignore, &told);
    require(told == 0);
    text_release(&printed);
    config_init(&fresh);
    config_keep_fixed(config, &fresh);
    require(fresh.sm.m_key == config->sm.m_key && fresh.threads == config->threads);
    config_release(&fresh);
    config_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config;
    struct err err = {0};
    static const char *const files[] = {"user_routes", "partitions",    "root_file", "first",
                                        "weights",     "topology_plan", "_file",     "qos_policy",
                                        "node_name",   "ignore_ports"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (names_file(data, size, files[i]))
            return 0;
    config_init(&config);
    int status = config_read(&config, put_file(data, size), &err);
    bool is_compressed = size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
    bool is_text = !memchr(data, 0, size) && !is_compressed;
    require(status <= 0 && (status == 0 ? is_text : err.message[0] && err.file[0]));
    require(status == 0 || (err.line > 0) == is_text);
    if (status == 0)
        status = config_finish(&config, &err);
    if (status == 0) {
        check_values(&config);
        check_again(&config);
    }
    require(status == 0 || err.message[0]);
    config_release(&config);
    return 0;
}
