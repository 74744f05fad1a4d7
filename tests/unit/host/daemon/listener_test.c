/* A listener replaces an existing file only if it is the socket of a killed server. */
#include "host/daemon/control/manager_control.h"
#include "host/socket/listener.h"
#include "test.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct fixture {
    char directory[64], path[96];
    struct err err;
};

static int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    make_directory(fixture->directory);
    snprintf(fixture->path, sizeof fixture->path, "%s/socket", fixture->directory);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    rmdir(fixture->directory);
    mem_free(fixture);
    return 0;
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode;
}

static bool is_listened_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    bool found = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return found;
}

static void a_file_is_not_replaced(void **state)
{
    struct fixture *f = *state;
    struct manager_control *control = NULL;
    char content[16] = "";
    write_file(f->path, "precious");
    assert_int_equal(manager_control_open(&control, f->path, &f->err), -EADDRINUSE);
    assert_int_equal(listener_open(f->path, SOCK_SEQPACKET, false, &f->err), -EADDRINUSE);
    FILE *file = fopen(f->path, "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "precious");
}

/* Its target is not replaced either. */
static void a_symbolic_link_is_not_replaced(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(symlink("/nonexistent", f->path), 0);
    assert_int_equal(listener_open(f->path, SOCK_SEQPACKET, false, &f->err), -EADDRINUSE);
    assert_true(S_ISLNK(mode_of(f->path)));
}

static void a_socket_in_use_is_not_replaced(void **state)
{
    struct fixture *f = *state;
    struct manager_control *control = NULL;
    int first = listener_open(f->path, SOCK_SEQPACKET, true, &f->err);
    assert_true(first >= 0);
    assert_int_equal(manager_control_open(&control, f->path, &f->err), -EADDRINUSE);
    assert_true(is_listened_at(f->path));
    close(first);
}

static void a_stale_socket_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct manager_control *control = NULL;
    close(listener_open(f->path, SOCK_SEQPACKET, false, &f->err));
    assert_false(is_listened_at(f->path));
    assert_int_equal(manager_control_open(&control, f->path, &f->err), 0);
    assert_true(is_listened_at(f->path));
    assert_int_equal(mode_of(f->path) & 0777, 0600);
    manager_control_close(control);
    assert_int_equal(access(f->path, F_OK), -1);
}

static void the_mode_is_as_requested(void **state)
{
    struct fixture *f = *state;
    mode_t mask = umask(022);
    int fd = listener_open(f->path, SOCK_SEQPACKET, false, &f->err);
    assert_int_equal(mode_of(f->path) & 0777, 0755);
    assert_int_equal(umask(mask), 022);
    close(fd);
}

static void a_path_that_is_too_long_is_an_error(void **state)
{
    struct fixture *f = *state;
    char path[200];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_int_equal(listener_open(path, SOCK_SEQPACKET, false, &f->err), -ENAMETOOLONG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_not_replaced),          TEST(a_symbolic_link_is_not_replaced),
        TEST(a_socket_in_use_is_not_replaced), TEST(a_stale_socket_is_replaced),
        TEST(the_mode_is_as_requested),        TEST(a_path_that_is_too_long_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
