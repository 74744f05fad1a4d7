/* weft fabric: serves a simulated fabric to real tools.
 *
 * With a command, the fabric is served until the command ends; else until it is stopped. This file
 * reads the options and prepares the private directory, the socket's path and the environment of
 * the command. src/host/server has the server. */
#include "base/line_reader.h"
#include "cli/command.h"
#include "cli/fabric_time.h"
#include "cli/preload.h"
#include "experiment/scenario/traffic_spec.h"
#include "host/server/runtime_dir.h"
#include "host/server/server.h"
#include "wire/pcap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
    const char *attach, *socket, *pace, *preset, *pcap, *ip;
    struct fabric_http_options http;
    struct option_values settings, traffic;
    struct fabric_time_options time;
    struct lockstep_options lockstep;
    bool attributes; /* list them and exit */
    bool preloaded;  /* the second step of a command, see cli/preload.h */
    uint64_t seed;
} given = {.preset = "today", .seed = 1};

static const struct option_spec options[] = {
    {"--attach NODE[:PORT]",
     "the port of programs: a name, a description or a GUID; of a switch, port 0 (default: the "
     "first adapter; WEFT_ATTACH overrides it)",
     .value = &given.attach},
    {"--ip NETWORK|FILE",
     "IP addresses of hosts, by which librdmacm finds them: those of a network, in the order of "
     "NET, "
     "or a file with lines 'NODE[:PORT] ADDRESS' (default: 10.0.0.0/8)",
     .value = &given.ip},
    {"--socket PATH",
     "listen there (default: private with COMMAND, else in the user's runtime directory)",
     .value = &given.socket},
    {"--pace fast|real|F",
     "network delays: none, as simulated, or at F times real speed (default: fast)",
     .value = &given.pace},
    {"--time real|simulated",
     "clock of COMMAND: the wall clock, or simulated time, which stands still while programs run "
     "(default: real)",
     .value = &given.time.time},
    {"--price CALL=TIME",
     "simulated time that a call costs: clock=20ns, cycles=10ns, poll=40ns, empty-poll=20ns, "
     "post-send=60ns, post-receive=30ns, system-call=200ns are the defaults; may be repeated",
     .values = &given.time.prices},
    {"--charge-cpu F",
     "simulated time that computing costs, as a factor of processor time; results then depend on "
     "this machine (default: 0)",
     .value = &given.time.charge},
    {"--traffic 'PATTERN load F ...'",
     "data packets, described as by 'traffic' in weft-scenario(5), such as 'uniform load 0.0001'; "
     "may be repeated; the default of --pace is real then",
     .values = &given.traffic},
    {"--preset today|paper", "attributes and processing times of nodes (default: today)",
     .value = &given.preset},
    {"--set KEY=VALUE",
     "one attribute: mtu=2048; of some nodes only: switches:mtu=2048, adapters:data_vls=1, "
     "'S1*:traps=no'; may be repeated",
     .values = &given.settings},
    {"--attributes", "list all attributes with value, range and meaning",
     .flag = &given.attributes},
    {"--web [[ADDRESS:]PORT]",
     "serve the live page: the fabric, and faults by clicks; prints its URL; on the loopback "
     "address unless ADDRESS is given (default: a free port); serves /metrics too",
     .value = &given.http.web, .standard = "0"},
    {"--metrics [[ADDRESS:]PORT]",
     "serve counters and totals in the format of Prometheus at /metrics, on the loopback address "
     "unless ADDRESS is given (default: a free port, that of the page); also unix:PATH",
     .value = &given.http.metrics, .standard = "0"},
    {"--token-file F",
     "read the token that changes on the page need from F (default: a random one, in the URL)",
     .value = &given.http.token_file},
    {"--seed N", "seed of the random numbers (default: 1)", .number = &given.seed},
    {"--pcap FILE", "write every MAD on every link to FILE (pcapng)", .value = &given.pcap},
    {PRELOAD_STEP, NULL, .flag = &given.preloaded},
    {0}};

/* `millionths`: the speed of --pace; 0: no delays. */
static int check_arguments(int argc, char **argv, uint64_t *millionths)
{
    const char *pace = given.pace ? given.pace : given.traffic.count ? "real" : "fast", *rest;
    double factor = strcmp(pace, "real") == 0 ? 1 : 0;
    if (given.attributes)
        return argc > 1 ? command_usage("--attributes takes no network: '%s'", argv[1]) : 0;
    if (argc < 2 || strcmp(argv[1], "--") == 0)
        return command_usage("expected a network");
    if (argc > 2 && strcmp(argv[2], "--") != 0)
        return command_usage("'%s' is one argument too many; a command follows '--'", argv[2]);
    if (argc == 3)
        return command_usage("no command after '--'");
    if (factor == 0 && strcmp(pace, "fast") != 0 &&
        (!parse_decimal(pace, &factor, &rest) || *rest || factor < 1e-6 || factor > 1e6))
        return command_usage("--pace %s: expected 'fast', 'real' or a factor", pace);
    if (fabric_time_is_simulated(&given.time) && (given.pace || argc == 2))
        return command_usage("--time simulated %s",
                             argc == 2 ? "needs a command" : "has no --pace");
    int result = fabric_time_read(&given.time, &given.lockstep);
    if (result)
        return result;
    *millionths = (uint64_t)(factor * 1e6 + 0.5);
    if (given.traffic.count && !*millionths)
        return command_usage("--traffic needs time: --pace real, or a factor");
    return 0;
}

/* Patterns of attributes are compared with the nodes of `topology`. */
static int make_options(const struct topology *topology, struct fabric_options *wanted,
                        struct err *err)
{
    int result = fabric_options_preset(wanted, given.preset, err);
    for (size_t i = 0; i < given.settings.count && result == 0; i++) {
        const char *setting = given.settings.items[i];
        const char *equals = strchr(setting, '=');
        if (!equals)
            return err_set(err, EINVAL, "--set %s: expected KEY=VALUE", setting);
        char *key = mem_strdup(setting);
        key[equals - setting] = 0;
        result = fabric_options_set(wanted, key, equals + 1, err);
        if (result == 0 && topology)
            result = fabric_options_check_pattern(key, topology, err);
        mem_free(key);
    }
    return result;
}

/* ---- traffic ---- */

struct traffics {
    VEC(struct traffic);
};

static int bind_traffic(struct cursor *cursor, const struct traffic_spec_world *world,
                        struct traffic *traffic)
{
    struct traffic_spec spec;
    cursor_accept(cursor, "traffic");
    traffic_spec_read(&spec, cursor);
    if (cursor_take_end(cursor))
        return cursor->status;
    if (spec.start.settled || spec.stop.settled)
        return word_error(cursor, &spec.word,
                          "times count from the start of the fabric, not from 'settled'");
    if (spec.stopped)
        return word_error(cursor, &spec.word, "'stopped' belongs to scenarios");
    return traffic_spec_bind(&spec, world, cursor, traffic);
}

/* Values of --traffic: the words of a `traffic` statement of weft-scenario(5). */
static int read_traffics(struct traffics *traffics, const struct topology *topology,
                         const struct fabric_options *wanted, struct err *err)
{
    const struct traffic_spec_world world = {topology, wanted, ".", NULL, 0, false};
    int status = 0;
    for (size_t i = 0; i < given.traffic.count && status == 0; i++) {
        struct text line = {0};
        struct traffic traffic = {0};
        struct cursor cursor;
        text_printf(&line, "traffic %s", given.traffic.items[i]);
        struct line_reader *reader = from_text("--traffic", line.data, err);
        while (line_reader_next(reader, &cursor))
            reader->status = bind_traffic(&cursor, &world, &traffic);
        status = reader->status;
        vec_push(traffics, traffic);
        text_release(&line);
    }
    return status;
}

/* ---- the command ---- */

/* Adds the directories of opensm and ibnetdiscover, which Debian's default PATH of users lacks. */
static void extend_path(void)
{
    static const char *const directories[] = {":/usr/sbin:", ":/sbin:"};
    const char *before = getenv("PATH");
    struct text path = {0};
    text_printf(&path, ":%s:", before ? before : "/usr/bin:/bin");
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (!strstr(path.data, directories[i]))
            text_puts(&path, directories[i] + 1);
    path.data[path.length - 1] = 0;
    setenv("PATH", path.data + 1, 1);
    text_release(&path);
}

/* Starts this program again, with the preload library: preload_start() continues. */
static pid_t start_command(char **command, const sigset_t *mask, const char *preload,
                           const struct runtime_dir *dir, const struct lockstep *lockstep)
{
    size_t count = 0;
    while (command[count])
        count++;
    pid_t child = fork();
    if (child != 0)
        return child;
    char **again = mem_alloc((count + 5) * sizeof *again);
    memcpy(again, (char *[]){"weft", "fabric", PRELOAD_STEP, "--"}, 4 * sizeof *again);
    memcpy(again + 4, command, (count + 1) * sizeof *again);
    const char *others = getenv("LD_PRELOAD");
    struct text libraries = {0};
    text_printf(&libraries, "%s%s%s", others ? others : "", others && *others ? ":" : "", preload);
    if (lockstep)
        fabric_time_prepare(lockstep, preload, &libraries);
    setenv("LD_PRELOAD", libraries.data, 1);
    setenv(WEFT_SOCKET_VARIABLE, dir->socket, 1);
    /* By default OpenSM writes to /var, which needs root and outlives the fabric. */
    setenv("OSM_CACHE_DIR", dir->scratch, 0);
    setenv("OSM_TMP_DIR", dir->scratch, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGXFSZ, SIG_DFL);
    execv("/proc/self/exe", again);
    fprintf(stderr, "weft fabric: cannot run '%s': %s\n", command[0], strerror(errno));
    _exit(EXIT_USAGE);
}

/* ---- main ---- */

static void print_addresses(const struct server *server, const struct runtime_dir *dir,
                            const char *preload)
{
    printf("serving at %s\n\n"
           "  export WEFT_SOCKET=%s\n"
           "  LD_PRELOAD=%s ibnetdiscover\n"
           "  weft ctl status\n",
           dir->socket, dir->socket, preload);
    const char *metrics = given.http.metrics ? server_metrics_address(server) : NULL;
    if (metrics && strncmp(metrics, "unix:", 5) == 0)
        printf("  curl --unix-socket %s http://localhost/metrics\n", metrics + 5);
    else if (metrics)
        printf("  curl %s/metrics\n", metrics);
    if (given.http.web)
        printf("  %s\n", server_web_url(server));
    fflush(stdout);
}

/* `command` NULL: none. */
static int serve_fabric(struct fabric *fabric, struct server_options wanted, char **command,
                        struct err *err)
{
    struct server *server = NULL;
    struct runtime_dir dir;
    char preload[4096 + 64];
    sigset_t mask;
    preload_find(preload, sizeof preload);
    extend_path();
    int result = attach_find(fabric_topology(fabric), given.attach, &wanted.attachment, err);
    if (result == 0 && command)
        result = preload_check(preload, command[0], err);
    if (result == 0 && command && fabric_time_is_simulated(&given.time))
        result = fabric_time_check(preload, err);
    if (result == 0)
        result = runtime_dir_make(&dir, given.socket, command != NULL, err);
    if (result < 0)
        return result;
    wanted.socket_path = dir.socket;
    wanted.directory = dir.directory;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a capture may exceed the file size limit */
    if (fabric_time_is_simulated(&given.time))
        result = lockstep_new(&wanted.lockstep, &given.lockstep, err);
    if (result == 0)
        result = server_new(&server, fabric, &wanted, err);
    if (result == 0 && command) {
        if (given.http.web)
            fprintf(stderr, "weft fabric: %s\n", server_web_url(server));
        pid_t child = start_command(command, &mask, preload, &dir, wanted.lockstep);
        if (child < 0)
            result = err_set(err, errno, "cannot fork: %s", strerror(errno));
        else
            server_watch_child(server, child);
    } else if (result == 0) {
        print_addresses(server, &dir, preload);
    }
    if (result == 0)
        result = server_run(server);
    if (wanted.lockstep && server)
        fabric_time_summarize(wanted.lockstep, &given.lockstep);
    server_free(server);
    lockstep_free(wanted.lockstep);
    runtime_dir_remove(&dir);
    return result;
}

static int simulate_fabric(const char *net, uint64_t pace, char **command, struct err *err)
{
    struct fabric_options wanted;
    struct traffics traffics = {0};
    struct topology topology;
    struct pcap *pcap = NULL;
    topology_init(&topology);
    int result = command_read_topology(net, &topology, err);
    if (result == 0)
        result = make_options(&topology, &wanted, err);
    if (result == 0)
        result = read_traffics(&traffics, &topology, &wanted, err);
    if (result == 0 && given.pcap)
        result = pcap_open(&pcap, given.pcap, err);
    if (result == 0) {
        struct fabric *fabric = fabric_new(&topology, &wanted, given.seed);
        struct server_options server = {.pace_millionths = pace,
                                        .http = given.http,
                                        .ip = given.ip,
                                        .traffics = traffics.items,
                                        .traffic_count = traffics.count};
        fabric_set_pcap(fabric, pcap);
        result = serve_fabric(fabric, server, command, err);
        fabric_free(fabric);
    }
    int closed = pcap_close(pcap);
    if (closed < 0 && result == 0)
        result = err_set(err, -closed, "cannot write '%s': %s", given.pcap, strerror(-closed));
    for (size_t i = 0; i < traffics.count; i++)
        traffic_release(&traffics.items[i]);
    vec_release(&traffics);
    topology_release(&topology);
    return result;
}

static int run_fabric(int argc, char **argv, struct err *err)
{
    struct fabric_options wanted;
    struct text list = {0};
    uint64_t pace = 0;
    if (given.preloaded && argc > 2)
        return preload_start(argv + 2);
    int result = check_arguments(argc, argv, &pace);
    if (result == 0 && given.attributes) {
        result = make_options(NULL, &wanted, err);
        if (result)
            return result;
        fabric_options_list(&wanted, &list);
        return command_print(&list);
    }
    return result ? result : simulate_fabric(argv[1], pace, argc > 3 ? argv + 3 : NULL, err);
}

const struct command command_fabric = {
    .name = "fabric",
    .summary = "serve a simulated fabric to real tools",
    .usage = "usage: weft fabric NET [OPTION ...] [-- COMMAND ...]\n"
             "       weft fabric --attributes [--preset P]\n"
             "\n"
             "Serves a simulated InfiniBand fabric to real tools: opensm, ibnetdiscover,\n"
             "saquery and every other program that uses libibumad. NET is a file in\n"
             "ibnetdiscover's or ibsim's format. With COMMAND, runs it attached to the fabric\n"
             "and exits with its status; daemons that it leaves running are ended too.\n"
             "Without, prints how to reach the fabric and serves until interrupted, or until\n"
             "'weft ctl stop'.\n"
             "\n",
    .column = 24,
    .options = options,
    .more = "\n"
            "examples:\n"
            "  weft fabric cluster.net -- ibnetdiscover\n"
            "  weft fabric cluster.net -- sh -c 'opensm -o -f stdout >osm.log; ibhosts'\n"
            "  weft fabric cluster.net --pcap up.pcap -- opensm -o -f stdout\n"
            "  weft fabric cluster.net --traffic 'uniform load 0.0001' --metrics 9934\n"
            "  weft fabric --attributes --preset paper\n",
    .run = run_fabric,
};
