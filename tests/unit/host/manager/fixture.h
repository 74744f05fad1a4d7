/* A configuration, and a file for it. */
#ifndef WEFT_TESTS_HOST_MANAGER_FIXTURE_H
#define WEFT_TESTS_HOST_MANAGER_FIXTURE_H

#include "host/manager/config.h"
#include "test.h"

#define CONFIG_TEST(test) cmocka_unit_test_setup_teardown(test, make, end)

struct fixture {
    struct config config;
    struct err err;
    char path[64];
};

static inline int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    config_init(&fixture->config);
    make_path(fixture->path);
    *state = fixture;
    return 0;
}

static inline int end(void **state)
{
    struct fixture *fixture = *state;
    config_release(&fixture->config);
    unlink(fixture->path);
    mem_free(fixture);
    return 0;
}

static inline int read_text(struct fixture *fixture, const char *text)
{
    write_file(fixture->path, text);
    return config_read(&fixture->config, fixture->path, &fixture->err);
}

struct told {
    unsigned live, fixed;
    char last[64];
};

static inline void note(void *context, const char *key, const char *from, const char *to, bool live)
{
    struct told *told = context;
    (*(live ? &told->live : &told->fixed))++;
    snprintf(told->last, sizeof told->last, "%s %s %s", key, from, to);
}

#endif
