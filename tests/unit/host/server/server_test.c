/* The server and the preload library together, over real sockets.
 *
 * Each test runs a server in its own process. The library is linked to the test and finds the
 * server by the environment. All waiting is done in calls of the library. */
#include "host/server/runtime_dir.h"
#include "host/server/server.h"
#include "two_switches.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, OWN_LID = 5, MANY = 100 };

struct stage {
    char directory[64], socket[96];
    pid_t server;
};

static void serve(const struct stage *stage)
{
    struct two_switches world;
    struct server *server;
    struct err err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    two_switches_make(&world);
    struct server_options options = {.socket_path = stage->socket,
                                     .directory = stage->directory,
                                     .attachment = {.node = world.a}};
    if (server_new(&server, world.fabric, &options, &err) != 0)
        _exit(99);
    int result = server_run(server);
    server_free(server);
    two_switches_end(&world);
    _exit(result);
}

/* Waits until the server listens. */
static void await_server(const struct stage *stage)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, stage->socket);
    for (;;) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        int result = connect(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        if (result == 0)
            return;
        assert_int_equal(waitpid(stage->server, NULL, WNOHANG), 0);
        sched_yield();
    }
}

static int start(void **state)
{
    struct stage *stage = mem_zalloc(1, sizeof *stage);
    sigset_t signals;
    strcpy(stage->directory, "/tmp/weft-test-XXXXXX");
    assert_non_null(mkdtemp(stage->directory));
    snprintf(stage->socket, sizeof stage->socket, "%s/fabric", stage->directory);
    setenv(WEFT_SOCKET_VARIABLE, stage->socket, 1);
    unsetenv(WEFT_ATTACH_VARIABLE);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    stage->server = fork();
    if (stage->server == 0) {
        sigprocmask(SIG_BLOCK, &signals, NULL);
        serve(stage);
    }
    await_server(stage);
    *state = stage;
    return 0;
}

/* The server must end with status 0 after SIGTERM, also with sanitizers. */
static int stop(void **state)
{
    struct stage *stage = *state;
    int status = -1;
    kill(stage->server, SIGTERM);
    waitpid(stage->server, &status, 0);
    assert_true(access(stage->socket, F_OK) < 0);
    struct runtime_dir dir = {0};
    strcpy(dir.directory, stage->directory);
    runtime_dir_remove(&dir);
    mem_free(stage);
    return status;
}

/* ---- a program ---- */

struct buffer {
    struct ib_user_mad head;
    uint8_t data[MAD_BYTES];
};

static int open_port(void)
{
    int fd = umad_open_port(NULL, 0);
    assert_true(fd >= 0);
    return fd;
}

static int register_class(int fd, unsigned class)
{
    int agent = umad_register(fd, (int)class, class == CLASS_SUBN_ADM ? 2 : 1,
                              class == CLASS_SUBN_ADM, NULL);
    assert_true(agent >= 0);
    return agent;
}

static struct buffer directed(uint64_t tid, const uint8_t *path, unsigned hops)
{
    struct sent_mad smp = make_smp(ATTRIBUTE_NODE_INFO, tid, path, hops);
    struct buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    umad_set_addr(&buffer, LID_PERMISSIVE, 0, 0, 0);
    memcpy(buffer.data, smp.mad, MAD_BYTES);
    return buffer;
}

/* Queries the own node. Returns the lower half of the answer's transaction ID. */
static uint32_t query_own_node(int fd, int agent, uint32_t tid)
{
    struct buffer buffer = directed(tid, NULL, 0);
    int length = MAD_BYTES;
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 1000, 0), 0);
    assert_int_equal(umad_recv(fd, &buffer, &length, PATIENCE_MS), agent);
    assert_int_equal(length, MAD_BYTES);
    assert_int_equal(umad_status(&buffer), 0);
    assert_int_equal(wire_get(buffer.data, MAD_METHOD), METHOD_GET_RESP);
    return (uint32_t)wire_get(buffer.data, MAD_TID);
}

static int connect_raw(const struct stage *stage)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, stage->socket);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool is_closed(int fd)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&descriptor, 1, PATIENCE_MS) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* ---- claims ---- */

static void programs_see_one_adapter(void **state)
{
    (void)state;
    char names[4][UMAD_CA_NAME_LEN];
    umad_ca_t ca;
    umad_port_t port;
    __be64 guids[4];
    assert_int_equal(umad_init(), 0);
    assert_int_equal(umad_get_cas_names(names, 4), 1);
    assert_int_equal(umad_get_ca(names[0], &ca), 0);
    assert_int_equal(ca.numports, 2);
    assert_null(ca.ports[0]);
    assert_string_equal(ca.ports[1]->link_layer, "InfiniBand");
    assert_int_equal(ca.ports[1]->phys_state, PHYSICAL_LINK_UP);
    assert_int_equal(umad_get_ca_portguids(NULL, guids, 4), 3);
    assert_true(guids[1] == ca.ports[1]->port_guid);
    assert_int_equal(umad_get_ca_portguids(NULL, guids, 2), -ENOMEM);
    assert_int_equal(umad_release_ca(&ca), 0);
    assert_int_equal(umad_get_port(names[0], 2, &port), 0);
    assert_int_equal(port.portnum, 2);
    assert_true(port.pkeys_size > 0);
    assert_int_equal(port.pkeys[0], 0xffff);
    umad_release_port(&port);
    assert_true(umad_get_port(names[0], 3, &port) < 0);
    assert_int_equal(umad_get_port("mlx5_0", 1, &port), -ENODEV);
    assert_int_equal(umad_open_port("mlx5_0", 1), -ENODEV);
    struct umad_device_node *list = umad_get_ca_device_list();
    assert_non_null(list);
    assert_null(list->next);
    umad_free_ca_device_list(list);
}

static void the_environment_selects_the_attachment(void **state)
{
    (void)state;
    umad_ca_t ca;
    setenv(WEFT_ATTACH_VARIABLE, "S1", 1);
    assert_int_equal(umad_get_ca(NULL, &ca), 0);
    assert_int_equal(ca.node_type, NODE_SWITCH);
    assert_int_equal(ca.numports, 0);
    assert_non_null(ca.ports[0]);
    umad_release_ca(&ca);
    setenv(WEFT_ATTACH_VARIABLE, "nowhere", 1);
    assert_true(umad_get_ca(NULL, &ca) < 0);
    assert_true(umad_open_port(NULL, 0) < 0);
}

static void a_port_id_is_a_descriptor_for_poll(void **state)
{
    (void)state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED), length = MAD_BYTES;
    struct buffer buffer = directed(1, NULL, 0);
    struct pollfd descriptor = {.fd = umad_get_fd(fd), .events = POLLIN};
    assert_int_equal(poll(&descriptor, 1, 0), 0);
    assert_int_equal(umad_poll(fd, 0), -ETIMEDOUT);
    assert_int_equal(umad_recv(fd, &buffer, &length, 0), -EAGAIN);
    assert_int_equal(umad_recv(fd, &buffer, &length, 10), -ETIMEDOUT);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 1000, 0), 0);
    assert_int_equal(poll(&descriptor, 1, PATIENCE_MS), 1);
    assert_int_equal(umad_recv(fd, &buffer, &length, 0), agent);
    umad_close_port(fd);
}

static void a_lost_mad_times_out(void **state)
{
    (void)state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED), length = MAD_BYTES;
    struct buffer buffer = directed(0x99, (uint8_t[]){1, 4}, 2);
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 20, 1), 0);
    assert_int_equal(umad_recv(fd, &buffer, &length, PATIENCE_MS), agent);
    assert_int_equal(umad_status(&buffer), ETIMEDOUT);
    assert_int_equal(length, MAD_HEADER_BYTES);
    assert_int_equal(wire_get(buffer.data, MAD_TID) & 0xffffffff, 0x99);
    umad_close_port(fd);
}

static void a_buffer_too_small_leaves_the_mad_in_place(void **state)
{
    (void)state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED), length = 100;
    struct buffer buffer = directed(5, NULL, 0);
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 1000, 0), 0);
    assert_int_equal(umad_recv(fd, &buffer, &length, PATIENCE_MS), -EINVAL);
    assert_int_equal(length, MAD_BYTES);
    assert_int_equal(umad_recv(fd, &buffer, &length, PATIENCE_MS), agent);
    assert_int_equal(umad_recv(fd, NULL, &length, 0), -EINVAL);
    umad_close_port(fd);
}

/* Gives a switch's port 0 a LID, so that GSI messages can be sent to it. */
static void set_lid(int fd)
{
    int agent = register_class(fd, CLASS_SUBN_DIRECTED), length = MAD_BYTES;
    struct buffer buffer = directed(1, NULL, 0);
    wire_set(buffer.data, MAD_ATTRIBUTE_ID, ATTRIBUTE_PORT_INFO);
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 1000, 0), 0);
    assert_int_equal(umad_recv(fd, &buffer, &length, PATIENCE_MS), agent);
    uint8_t *info = buffer.data + SMP_DATA_OFFSET;
    struct buffer set = directed(2, NULL, 0);
    memcpy(set.data + SMP_DATA_OFFSET, info, SMP_DATA_BYTES);
    info = set.data + SMP_DATA_OFFSET;
    wire_set(set.data, MAD_ATTRIBUTE_ID, ATTRIBUTE_PORT_INFO);
    wire_set(set.data, MAD_METHOD, METHOD_SET);
    wire_set(info, PORT_INFO_LID, OWN_LID);
    wire_set(info, PORT_INFO_MASTER_SM_LID, OWN_LID);
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    assert_int_equal(umad_send(fd, agent, &set, MAD_BYTES, 1000, 0), 0);
    assert_int_equal(umad_recv(fd, &set, &length, PATIENCE_MS), agent);
    assert_int_equal(wire_get(set.data, SMP_STATUS), 0);
    assert_int_equal(umad_unregister(fd, agent), 0);
}

static void long_messages_pass_in_both_directions(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    long methods[16 / sizeof(long)] = {1L << METHOD_GET_TABLE};
    setenv(WEFT_ATTACH_VARIABLE, "S0", 1);
    int server = open_port(), client = open_port(), length = MAD_BYTES;
    set_lid(server);
    int serving = umad_register(server, CLASS_SUBN_ADM, 2, 1, methods);
    int asking = register_class(client, CLASS_SUBN_ADM);
    struct sent_mad question = make_mad(CLASS_SUBN_ADM, METHOD_GET_TABLE, 0x11, 7);
    struct buffer small;
    memset(&small, 0, sizeof small);
    umad_set_addr(&small, OWN_LID, QP_GSI, 0, (int)Q_KEY_GSI);
    memcpy(small.data, question.mad, MAD_BYTES);
    assert_int_equal(umad_send(client, asking, &small, MAD_BYTES, 5000, 0), 0);
    assert_int_equal(umad_recv(server, &small, &length, PATIENCE_MS), serving);

    struct ib_user_mad *large = umad_alloc(1, umad_size() + BYTES);
    uint8_t *data = umad_get_mad(large);
    memcpy(large, &small, sizeof small);
    wire_set(data, MAD_METHOD, METHOD_GET_TABLE_RESP);
    wire_set(data, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    for (size_t i = SA_DATA_OFFSET; i < BYTES; i++)
        data[i] = (uint8_t)(i / 251);
    assert_int_equal(umad_send(server, serving, large, BYTES, 0, 3), 0);

    length = MAD_BYTES;
    assert_int_equal(umad_recv(client, &small, &length, PATIENCE_MS), -ENOSPC);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(length, BYTES);
    memset(large, 0, umad_size() + BYTES);
    assert_int_equal(umad_recv(client, large, &length, PATIENCE_MS), asking);
    assert_int_equal(length, BYTES);
    for (size_t i = SA_DATA_OFFSET; i < BYTES; i++)
        if (data[i] != (uint8_t)(i / 251))
            fail_msg("byte %zu differs", i);
    umad_free(large);
    umad_close_port(client);
    umad_close_port(server);
}

static void calls_that_the_kernel_refuses_fail(void **state)
{
    (void)state;
    int fd = open_port();
    long methods[16 / sizeof(long)] = {1L << METHOD_GET};
    struct umad_reg_attr attributes = {
        .mgmt_class = CLASS_SUBN_ADM, .mgmt_class_version = 2, .flags = 8};
    struct buffer buffer = directed(1, NULL, 0);
    uint32_t agent;
    int first = umad_register(fd, CLASS_SUBN_ADM, 2, 1, methods);
    assert_int_equal(first, 0);
    assert_int_equal(umad_register(fd, CLASS_SUBN_ADM, 2, 1, methods), -EPERM);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(umad_register_oui(fd, CLASS_SUBN_ADM, 0, (uint8_t[]){0, 1, 2}, NULL), -EINVAL);
    assert_true(umad_register_oui(fd, 0x32, 0, (uint8_t[]){0, 1, 2}, methods) >= 0);
    assert_int_equal(umad_register2(fd, &attributes, &agent), EINVAL);
    assert_int_equal(attributes.flags, UMAD_USER_RMPP);
    attributes.flags = 0;
    assert_int_equal(umad_register2(fd, &attributes, &agent), 0);
    assert_int_equal(umad_unregister(fd, (int)agent), 0);
    assert_int_equal(umad_unregister(fd, (int)agent), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(umad_send(fd, first, &buffer, 20, 0, 0), -EIO);
    assert_int_equal(umad_send(fd, 32, &buffer, MAD_BYTES, 0, 0), -EIO);
    assert_int_equal(umad_register(0, CLASS_SUBN_ADM, 2, 1, NULL), -EPERM);
    umad_close_port(fd);
}

static void a_forked_process_can_use_the_port(void **state)
{
    (void)state;
    int fd = open_port(), status = -1;
    pid_t child = fork();
    if (child == 0) {
        int agent = umad_register(fd, CLASS_SUBN_DIRECTED, 1, 0, NULL), length = MAD_BYTES;
        struct buffer buffer = directed(1, NULL, 0);
        umad_send(fd, agent, &buffer, MAD_BYTES, 1000, 0);
        _exit(umad_recv(fd, &buffer, &length, PATIENCE_MS) == agent ? 42 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 42);
    query_own_node(fd, register_class(fd, CLASS_SUBN_DIRECTED), 3);
    umad_close_port(fd);
}

static void many_programs_share_a_port(void **state)
{
    (void)state;
    int fds[MANY], agents[MANY];
    for (int i = 0; i < MANY; i++) {
        fds[i] = open_port();
        agents[i] = register_class(fds[i], CLASS_SUBN_DIRECTED);
    }
    for (int i = 0; i < MANY; i++) {
        struct buffer buffer = directed((uint64_t)i + 1, NULL, 0);
        assert_int_equal(umad_send(fds[i], agents[i], &buffer, MAD_BYTES, 1000, 0), 0);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        struct buffer buffer;
        int length = MAD_BYTES;
        assert_int_equal(umad_recv(fds[i], &buffer, &length, PATIENCE_MS), agents[i]);
        assert_int_equal(wire_get(buffer.data, MAD_TID) & 0xffffffff, i + 1);
        umad_close_port(fds[i]);
    }
}

static void an_invalid_packet_closes_only_its_connection(void **state)
{
    struct stage *stage = *state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED);
    char garbage[5000];
    for (unsigned size = 1; size < sizeof garbage; size = size * 3 + 1) {
        int client = connect_raw(stage);
        memset(garbage, (int)size, sizeof garbage);
        assert_true(send(client, garbage, size, 0) > 0);
        assert_true(is_closed(client));
        close(client);
        assert_int_equal(query_own_node(fd, agent, size), size);
    }
    int victim = open_port();
    assert_true(send(victim, garbage, 1000, 0) > 0);
    assert_true(is_closed(victim));
    close(victim);
    assert_int_equal(query_own_node(fd, agent, 1), 1);
    umad_close_port(fd);
}

/* Sends a MAD with a descriptor. Returns whether the server closes the connection. */
static bool is_refused(int descriptor)
{
    struct buffer buffer = directed(1, NULL, 0);
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    struct iovec piece = {&buffer, sizeof buffer};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int victim = open_port();
    assert_true(sendmsg(victim, &message, 0) > 0);
    bool refused = is_closed(victim);
    close(victim);
    return refused;
}

/* Reading a pipe or a file on a remote disk could block the server. */
static void only_memory_is_read_for_long_messages(void **state)
{
    (void)state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED), pipe_ends[2];
    int file = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_true(is_refused(pipe_ends[0]));
    assert_true(is_refused(file));
    close(file);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    assert_int_equal(query_own_node(fd, agent, 1), 1);
    umad_close_port(fd);
}

static void a_packet_after_a_request_is_invalid(void **state)
{
    struct stage *stage = *state;
    struct {
        struct request request;
        char behind[8];
    } packet = {
        .request = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = REQUEST_CA}};
    struct answer answer;
    int client = connect_raw(stage);
    assert_true(send(client, &packet, sizeof packet, 0) > 0);
    assert_true(is_closed(client));
    close(client);
    client = connect_raw(stage);
    assert_true(send(client, &packet.request, sizeof packet.request, 0) > 0);
    assert_int_equal(recv(client, &answer, sizeof answer, 0), sizeof answer);
    assert_int_equal(answer.result, 0);
    close(client);
}

/* It sends until its answers fill all buffers, and reads none. */
static void a_program_that_does_not_read_delays_no_other(void **state)
{
    (void)state;
    int flood = open_port(), flooding = register_class(flood, CLASS_SUBN_DIRECTED);
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED);
    for (uint32_t i = 1; i <= 20000; i++) {
        struct buffer buffer = directed(i, NULL, 0);
        assert_int_equal(umad_send(flood, flooding, &buffer, MAD_BYTES, 1000, 0), 0);
        if (i % 5000 == 0)
            assert_int_equal(query_own_node(fd, agent, i), i);
    }
    for (uint32_t i = 1; i <= 20000; i++) {
        struct buffer buffer;
        int length = MAD_BYTES;
        assert_int_equal(umad_recv(flood, &buffer, &length, PATIENCE_MS), flooding);
        assert_int_equal(wire_get(buffer.data, MAD_TID) & 0xffffffff, i);
    }
    umad_close_port(flood);
    umad_close_port(fd);
}

static void a_dead_server_is_an_error_without_busy_waiting(void **state)
{
    struct stage *stage = *state;
    int fd = open_port(), agent = register_class(fd, CLASS_SUBN_DIRECTED), length = MAD_BYTES;
    struct buffer buffer = directed(1, NULL, 0);
    kill(stage->server, SIGTERM);
    assert_true(is_closed(fd));
    assert_int_equal(umad_recv(fd, &buffer, &length, 50), -EIO);
    assert_int_equal(umad_send(fd, agent, &buffer, MAD_BYTES, 100, 0), -EIO);
    umad_close_port(fd);
}

static void the_manager_device_is_a_connection(void **state)
{
    (void)state;
    char path[64];
    umad_port_t port;
    assert_int_equal(umad_get_issm_path(NULL, 0, path, sizeof path), 0);
    int fd = open(path, O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(umad_get_port(NULL, 0, &port), 0);
    assert_true(be32toh(port.capmask) & 2);
    umad_release_port(&port);
    assert_true(open(path, O_NONBLOCK) < 0);
    assert_int_equal(errno, EAGAIN);
    close(fd);
    /* The server handles the close in its next iteration. */
    do {
        assert_int_equal(umad_get_port(NULL, 0, &port), 0);
        umad_release_port(&port);
    } while (be32toh(port.capmask) & 2);
}

static void sysfs_can_be_read(void **state)
{
    (void)state;
    char line[80] = "";
    FILE *file = fopen("/sys/class/infiniband/weft0/ports/1/link_layer", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_string_equal(line, "InfiniBand\n");
    assert_int_equal(access("/sys/class/infiniband/weft0/ports/2/state", R_OK), 0);
    assert_true(access("/sys/class/infiniband/weft0/ports/3", F_OK) < 0);
    struct stat status;
    assert_int_equal(stat("/sys/class/infiniband_mad", &status), 0);
    assert_true(S_ISDIR(status.st_mode));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(programs_see_one_adapter),
        CLAIM(the_environment_selects_the_attachment),
        CLAIM(a_port_id_is_a_descriptor_for_poll),
        CLAIM(a_lost_mad_times_out),
        CLAIM(a_buffer_too_small_leaves_the_mad_in_place),
        CLAIM(long_messages_pass_in_both_directions),
        CLAIM(calls_that_the_kernel_refuses_fail),
        CLAIM(a_forked_process_can_use_the_port),
        CLAIM(many_programs_share_a_port),
        CLAIM(an_invalid_packet_closes_only_its_connection),
        CLAIM(only_memory_is_read_for_long_messages),
        CLAIM(a_packet_after_a_request_is_invalid),
        CLAIM(a_program_that_does_not_read_delays_no_other),
        CLAIM(a_dead_server_is_an_error_without_busy_waiting),
        CLAIM(the_manager_device_is_a_connection),
        CLAIM(sysfs_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
