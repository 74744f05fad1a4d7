/* An SA client for tests and benchmarks: it registers, queries paths, and measures response times.
 *
 *     sa_client register GROUPS SERVICES SUBSCRIPTIONS
 *     sa_client groups GROUPS SEED
 *     sa_client own NUMBER
 *     sa_client guids set|delete LID BLOCK PLACE=GUID...
 *     sa_client watch SECONDS
 *     sa_client load QUERIES WINDOW
 *
 * `register` registers that many groups, services and subscriptions, distributed over all hosts of
 * the subnet, and waits for each response. `groups` creates multicast groups of random hosts, of
 * which a fifth are send-only members, and prints the members as "MLID GUID STATE" lines. `own`
 * registers the service with this number for its own port, joins a group that all clients share,
 * and prints "service" and "group" when the SA has acknowledged each. `guids` sets or deletes alias
 * GUIDs of a port (LID 0: its own port) and prints the GUIDs of the response. `watch` queries paths
 * to random hosts, one at a time. It repeats a query without a response, to the SM that is master
 * then. `load` keeps WINDOW queries outstanding and repeats queries with status BUSY. `watch` and
 * `load` print counts of queries and response times; SIGTERM ends them early. Exit status 1: a
 * request was refused. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/time.h"
#include "wire/mad.h"
#include "wire/packet.h"

#include <endian.h>
#include <infiniband/umad.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX UINT64_C(0xFE80000000000000)
/* The status that the kernel of a host without an SA returns: unsupported attribute. */
enum { STATUS_NO_SA = 0x0C, QUERY_LIMIT_S = 20 };
/* Of all managers: with it a client registers for all hosts, without the limits of one port. */
enum { DEFAULT_SA_KEY = 1 };
enum { TIMEOUT_MS = 250, TABLE_BYTES = 64 << 20, LATENCIES = 1 << 20, TRIES = 40 };

struct host {
    uint64_t guid;
    uint16_t lid;
};
struct client {
    int port, agent;
    uint16_t own_lid, master_lid;
    uint64_t own_guid;
    uint8_t *out, *in;
    uint32_t tid;
    VEC(struct host) hosts;
    VEC(uint32_t) latencies; /* microseconds */
    struct rng rng;
};

static volatile sig_atomic_t stopped;
static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void read_port(struct client *client)
{
    umad_port_t port;
    if (umad_get_port(NULL, 0, &port) < 0)
        return;
    client->own_lid = (uint16_t)port.base_lid;
    client->master_lid = (uint16_t)port.sm_lid;
    client->own_guid = be64toh(port.port_guid);
    umad_release_port(&port);
}

static uint8_t *make_request(struct client *client, unsigned method, unsigned attribute,
                             uint64_t mask)
{
    uint8_t *mad = umad_get_mad(client->out);
    sa_request_begin(mad, method, attribute);
    wire_set(mad, SA_COMPONENT_MASK, mask);
    return mad + SA_DATA_OFFSET;
}

static int send_request(struct client *client)
{
    wire_set(umad_get_mad(client->out), MAD_TID, ++client->tid);
    umad_set_addr(client->out, client->master_lid, 1, 0, (int)Q_KEY_GSI);
    return umad_send(client->port, client->agent, client->out, MAD_BYTES, TIMEOUT_MS, 0);
}

/* Returns the status of the next response, -1 if a request timed out, or -2 if nothing arrived
 * within `wait_ms`. `*mad` is the response. */
static int next_response(struct client *client, const uint8_t **mad, int *bytes, int wait_ms)
{
    *bytes = TABLE_BYTES;
    if (umad_recv(client->port, client->in, bytes, wait_ms) < 0)
        return -2;
    *mad = umad_get_mad(client->in);
    return umad_status(client->in) ? -1 : (int)wire_get(*mad, MAD_STATUS);
}

/* Waits before a request is repeated. Another SM may be master then. */
static void wait_before_retry(struct client *client)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    read_port(client);
}

/* Sends a request, and repeats it while there is no response or the SA is busy. */
static int request(struct client *client, const uint8_t **mad, int *bytes)
{
    for (unsigned tries = 0; tries < TRIES && !stopped; tries++) {
        if (send_request(client) < 0)
            return -1;
        int status = next_response(client, mad, bytes, 4 * TIMEOUT_MS);
        while (status >= 0 && (uint32_t)wire_get(*mad, MAD_TID) != client->tid)
            status = next_response(client, mad, bytes, 4 * TIMEOUT_MS);
        if (status >= 0 && status != STATUS_BUSY && status != STATUS_NO_SA)
            return status;
        wait_before_retry(client);
    }
    return -1;
}

static void find_hosts(struct client *client)
{
    const uint8_t *mad;
    int bytes;
    make_request(client, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
    if (request(client, &mad, &bytes) != 0) {
        fprintf(stderr, "sa_client: no NodeRecords from the SA\n");
        exit(1);
    }
    size_t size = 8 * (size_t)wire_get(mad, SA_ATTRIBUTE_OFFSET);
    for (size_t at = SA_DATA_OFFSET; size && at + size <= (size_t)bytes; at += size) {
        const uint8_t *info = mad + at + NODE_RECORD_AT_NODE_INFO;
        if (wire_get(info, NODE_INFO_NODE_TYPE) == 1)
            vec_push(&client->hosts,
                     ((struct host){wire_get(info, NODE_INFO_PORT_GUID),
                                    (uint16_t)wire_get(mad + at, NODE_RECORD_LID)}));
    }
}

static void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

/* ---- registrations ---- */

static void join(struct client *client, unsigned number, uint64_t guid)
{
    enum { MGID, PORT, Q_KEY, CLASS = 6, P_KEY, SL = 12, FLOW, STATE = 16 };
    uint8_t *record = make_request(client, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                                   1 << MGID | 1 << PORT | 1 << Q_KEY | 1 << CLASS | 1 << P_KEY |
                                       1 << SL | 1 << FLOW | 1 << STATE);
    if (guid != client->own_guid) /* joins for many hosts are beyond the limits of a port */
        wire_set(umad_get_mad(client->out), SA_SM_KEY, DEFAULT_SA_KEY);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), number + 1);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, guid);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, 0x1000 + number);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 1);
}

static void register_service(struct client *client, unsigned number, uint64_t guid)
{
    enum { ID, GID, LEASE = 4, NAME = 6 };
    uint8_t *record = make_request(client, METHOD_SET, ATTRIBUTE_SERVICE_RECORD,
                                   1 << ID | 1 << GID | 1 << LEASE | 1 << NAME);
    wire_set(umad_get_mad(client->out), SA_SM_KEY, DEFAULT_SA_KEY);
    wire_set(record, SERVICE_RECORD_ID, 0x1000 + number);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, guid);
    wire_set(record, SERVICE_RECORD_LEASE, number % 2 ? 3600 : UINT32_MAX);
    snprintf((char *)wire_bytes(record, SERVICE_RECORD_NAME), 64, "service %u", number);
    wire_set_at(record, SERVICE_RECORD_DATA16, 3, number);
}

static void subscribe(struct client *client, unsigned number, uint16_t lid)
{
    uint8_t *inform = make_request(client, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, lid);
    wire_set(inform, INFORM_INFO_LID_RANGE_END, lid);
    wire_set(inform, INFORM_INFO_IS_GENERIC, 1);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, 1);
    wire_set(inform, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, 1000 + number);
    wire_set(inform, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
}

static int register_all(struct client *client, const unsigned counts[3])
{
    const uint8_t *mad;
    int bytes, status = 0;
    size_t hosts = client->hosts.count;
    for (unsigned i = 0; i < 2 * counts[0] && !status; i++) {
        join(client, i / 2, client->hosts.items[(i / 2 + i % 2 * 7) % hosts].guid);
        status = request(client, &mad, &bytes);
    }
    for (unsigned i = 0; i < counts[1] && !status; i++) {
        register_service(client, i, client->hosts.items[i % hosts].guid);
        status = request(client, &mad, &bytes);
    }
    for (unsigned i = 0; i < counts[2] && !status; i++) {
        subscribe(client, i, client->hosts.items[i % hosts].lid);
        status = request(client, &mad, &bytes);
    }
    if (status)
        fprintf(stderr, "sa_client: status 0x%x\n", (unsigned)status);
    return status ? 1 : 0;
}

/* The first member of a group is a full member; a fifth of the others are send-only members. */
static int create_groups(struct client *client, unsigned groups)
{
    enum { MAX_MEMBERS = 48, FULL_MEMBER = 1, SEND_ONLY_MEMBER = 4 };
    const uint8_t *mad;
    int bytes, status = 0;
    size_t hosts = client->hosts.count;
    for (unsigned i = 0; i < groups && !status; i++) {
        size_t first = rng_below(&client->rng, hosts),
               count = 1 + rng_below(&client->rng, MAX_MEMBERS);
        size_t step = 1 + rng_below(&client->rng, hosts / count + 1);
        for (size_t k = 0; k < count && k * step < hosts && !status; k++) {
            const struct host *host = &client->hosts.items[(first + k * step) % hosts];
            unsigned state = k && !rng_below(&client->rng, 5) ? SEND_ONLY_MEMBER : FULL_MEMBER;
            join(client, i, host->guid);
            wire_set((uint8_t *)umad_get_mad(client->out) + SA_DATA_OFFSET,
                     MC_MEMBER_RECORD_JOIN_STATE, state);
            status = request(client, &mad, &bytes);
            if (!status)
                printf("0x%04x 0x%016llx %u\n",
                       (unsigned)wire_get(mad + SA_DATA_OFFSET, MC_MEMBER_RECORD_MLID),
                       (unsigned long long)host->guid, state);
        }
    }
    if (status)
        fprintf(stderr, "sa_client: status 0x%x\n", (unsigned)status);
    return status ? 1 : 0;
}

static int register_own(struct client *client, unsigned number)
{
    const uint8_t *mad;
    int bytes;
    register_service(client, number, client->own_guid);
    int status = request(client, &mad, &bytes);
    if (!status) {
        puts("service");
        fflush(stdout);
        join(client, 0, client->own_guid);
        status = request(client, &mad, &bytes);
    }
    if (!status)
        puts("group");
    else
        fprintf(stderr, "sa_client: status 0x%x\n", (unsigned)status);
    return status ? 1 : 0;
}

/* GUID 0: the SM assigns one. */
static int change_guids(struct client *client, unsigned method, char **words, int count)
{
    enum { LID, BLOCK, FIRST_PLACE = 4, PLACES = 8 };
    const uint8_t *mad;
    int bytes;
    unsigned lid = (unsigned)strtoul(words[0], NULL, 0);
    uint8_t *record = make_request(client, method, ATTRIBUTE_GUID_INFO_RECORD, 0);
    uint8_t *guids = record + GUID_INFO_RECORD_AT_GUID_INFO;
    uint64_t mask = 1 << LID | 1 << BLOCK;
    wire_set(record, GUID_INFO_RECORD_LID, lid ? lid : client->own_lid);
    wire_set(record, GUID_INFO_RECORD_BLOCK, strtoul(words[1], NULL, 0));
    for (int i = 2; i < count; i++) {
        char *end;
        unsigned place = (unsigned)strtoul(words[i], &end, 0) % PLACES;
        mask |= UINT64_C(1) << (FIRST_PLACE + place);
        wire_set_at(guids, GUID_INFO_GUID, place, *end ? strtoull(end + 1, NULL, 0) : 0);
    }
    wire_set(umad_get_mad(client->out), SA_COMPONENT_MASK, mask);
    int status = request(client, &mad, &bytes);
    if (status) {
        fprintf(stderr, "sa_client: status 0x%x\n", (unsigned)status);
        return 1;
    }
    for (unsigned place = 0; place < PLACES; place++)
        printf("0x%016llx%c",
               (unsigned long long)wire_get_at(mad + SA_DATA_OFFSET + GUID_INFO_RECORD_AT_GUID_INFO,
                                               GUID_INFO_GUID, place),
               place + 1 < PLACES ? ' ' : '\n');
    return 0;
}

/* ---- path queries ---- */

static void make_path_query(struct client *client)
{
    enum { DGID = 1 << 2, SGID = 1 << 3, REVERSIBLE = 1 << 11, NUMBER = 1 << 12 };
    uint8_t *path =
        make_request(client, METHOD_GET, ATTRIBUTE_PATH_RECORD, DGID | SGID | REVERSIBLE | NUMBER);
    const struct host *to = &client->hosts.items[rng_below(&client->rng, client->hosts.count)];
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, client->own_guid);
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, to->guid);
    wire_set(path, PATH_RECORD_REVERSIBLE, 1);
    wire_set(path, PATH_RECORD_NUMB_PATH, 1);
}

struct figures {
    uint64_t asked, answered, refused, busy, timeouts;
    uint64_t longest_gap; /* microseconds without a response */
};

static int compare_latencies(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void print_figures(struct client *client, const struct figures *figures, double seconds)
{
    size_t count = client->latencies.count;
    if (count)
        qsort(client->latencies.items, count, sizeof *client->latencies.items, compare_latencies);
    printf("asked %llu answered %llu refused %llu busy %llu timeouts %llu rate %.0f p50_us %u "
           "p99_us %u max_us %u gap_ms %.0f\n",
           (unsigned long long)figures->asked, (unsigned long long)figures->answered,
           (unsigned long long)figures->refused, (unsigned long long)figures->busy,
           (unsigned long long)figures->timeouts, (double)figures->answered / seconds,
           count ? client->latencies.items[count / 2] : 0,
           count ? client->latencies.items[count - 1 - count / 100] : 0,
           count ? client->latencies.items[count - 1] : 0, (double)figures->longest_gap / 1e3);
}

static void record_latency(struct client *client, uint64_t since)
{
    if (client->latencies.count < LATENCIES)
        vec_push(&client->latencies, (uint32_t)(clock_us() - since));
}

static int watch(struct client *client, unsigned duration_s)
{
    struct figures figures = {0};
    uint64_t begin = clock_us(), last = begin;
    puts("watching");
    fflush(stdout);
    while (!stopped && clock_us() < begin + duration_s * UINT64_C(1000000)) {
        const uint8_t *mad;
        int bytes, status;
        bool again;
        uint64_t sent = clock_us();
        make_path_query(client);
        do {
            figures.asked++;
            if (send_request(client) < 0)
                return 1;
            status = next_response(client, &mad, &bytes, 4 * TIMEOUT_MS);
            figures.timeouts += status < 0 || status == STATUS_NO_SA;
            figures.busy += status == STATUS_BUSY;
            again = status < 0 || status == STATUS_BUSY || status == STATUS_NO_SA;
            if (again)
                wait_before_retry(client);
        } while (again && clock_us() < sent + QUERY_LIMIT_S * UINT64_C(1000000));
        record_latency(client, sent);
        if (again)
            break;
        figures.answered += status == 0;
        figures.refused += status != 0;
        uint64_t now = clock_us();
        figures.longest_gap = now - last > figures.longest_gap ? now - last : figures.longest_gap;
        last = now;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    print_figures(client, &figures, (double)(clock_us() - begin) / 1e6);
    return figures.refused != 0;
}

static int load(struct client *client, uint64_t queries, unsigned window)
{
    enum { SLOTS = 1 << 16 };
    uint64_t *sent_at = mem_zalloc(SLOTS, sizeof *sent_at);
    struct figures figures = {0};
    unsigned outstanding = 0;
    uint64_t begin = clock_us(), last = begin;
    while (!stopped && figures.answered + figures.refused < queries) {
        while (outstanding < window && figures.answered + figures.refused + outstanding < queries) {
            make_path_query(client);
            sent_at[(client->tid + 1) % SLOTS] = clock_us();
            if (send_request(client) < 0)
                break;
            figures.asked++;
            outstanding++;
        }
        const uint8_t *mad;
        int bytes, status = next_response(client, &mad, &bytes, 4 * TIMEOUT_MS);
        if (status == -2) {
            outstanding = 0; /* lost */
            continue;
        }
        outstanding -= outstanding > 0;
        figures.timeouts += status == -1;
        figures.busy += status == STATUS_BUSY;
        if (status == -1 || status == STATUS_BUSY)
            continue;
        figures.answered += status == 0;
        figures.refused += status != 0;
        record_latency(client, sent_at[(uint32_t)wire_get(mad, MAD_TID) % SLOTS]);
        uint64_t now = clock_us();
        figures.longest_gap = now - last > figures.longest_gap ? now - last : figures.longest_gap;
        last = now;
    }
    print_figures(client, &figures, (double)(clock_us() - begin) / 1e6);
    mem_free(sent_at);
    return figures.refused != 0;
}

/* ---- the program ---- */

static unsigned number(char **argv, int index)
{
    return (unsigned)strtoul(argv[index], NULL, 10);
}

static int run(struct client *client, int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "register") == 0 && argc == 5)
        return register_all(client,
                            (unsigned[]){number(argv, 2), number(argv, 3), number(argv, 4)});
    if (strcmp(what, "groups") == 0 && argc == 4) {
        rng_seed(&client->rng, number(argv, 3), 0);
        return create_groups(client, number(argv, 2));
    }
    if (strcmp(what, "own") == 0 && argc == 3)
        return register_own(client, number(argv, 2));
    if (strcmp(what, "guids") == 0 && argc >= 5)
        return change_guids(client, strcmp(argv[2], "set") ? METHOD_DELETE : METHOD_SET, argv + 3,
                            argc - 3);
    if (strcmp(what, "watch") == 0 && argc == 3)
        return watch(client, number(argv, 2));
    if (strcmp(what, "load") == 0 && argc == 4)
        return load(client, number(argv, 2), number(argv, 3));
    fprintf(stderr,
            "usage: %s register GROUPS SERVICES SUBSCRIPTIONS | groups GROUPS SEED | own NUMBER | "
            "guids set|delete LID BLOCK PLACE=GUID... | watch SECONDS | load QUERIES WINDOW\n",
            argv[0]);
    return 2;
}

int main(int argc, char **argv)
{
    struct client client = {0};
    umad_init();
    client.port = umad_open_port(NULL, 0);
    client.agent = client.port < 0
                       ? -1
                       : umad_register(client.port, CLASS_SUBN_ADM, 2, RMPP_THIS_VERSION, NULL);
    if (client.agent < 0) {
        fprintf(stderr, "sa_client: cannot open an InfiniBand port\n");
        return 1;
    }
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    client.out = mem_zalloc(1, sizeof(struct ib_user_mad) + MAD_BYTES);
    client.in = mem_zalloc(1, sizeof(struct ib_user_mad) + TABLE_BYTES);
    read_port(&client);
    rng_seed(&client.rng, client.own_guid, 0);
    find_hosts(&client);
    int status = run(&client, argc, argv);
    vec_release(&client.hosts);
    vec_release(&client.latencies);
    mem_free(client.in);
    mem_free(client.out);
    umad_close_port(client.port);
    return status;
}
