/* weft fabric: serves a simulated fabric to real tools.
 *
 * With a command, the fabric is served until the command ends; else until it is stopped. This file
 * reads the options and prepares the private directory, the socket's path and the environment of
 * the command. src/host/server has the server. */
#include "base/line_reader.h"
#include "cli/command.h"
#include "cli/fabric_traffic.h"
#include "cli/preload.h"
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

static const char help[] =
    "usage: weft fabric NET [OPTION ...] [-- COMMAND ...]\n"
    "       weft fabric --attributes [--preset P]\n"
    "\n"
    "Serves a simulated InfiniBand fabric to real tools: opensm, ibnetdiscover,\n"
    "saquery and every other program that uses libibumad. NET is a file in\n"
    "ibnetdiscover's or ibsim's format. With COMMAND, runs it attached to the fabric\n"
    "and exits with its status; daemons that it leaves running are ended too.\n"
    "Without, prints how to reach the fabric and serves until interrupted, or until\n"
    "'weft ctl stop'.\n"
    "\n"
    "  --attach NODE[:PORT]  the port of programs: a name, a description or a GUID;\n"
    "                        of a switch, port 0 (default: the first adapter;\n"
    "                        WEFT_ATTACH overrides it)\n"
    "  --socket PATH         listen there (default: private with COMMAND, else in the\n"
    "                        user's runtime directory)\n"
    "  --pace fast|real|F    network delays: none, as simulated, or at F times real\n"
    "                        speed (default: fast)\n"
    "  --traffic 'PATTERN load F ...'\n"
    "                        data packets, described as by 'traffic' in\n"
    "                        weft-scenario(5), such as 'uniform load 0.0001'; may be\n"
    "                        repeated; the default of --pace is real then\n"
    "  --preset today|paper  attributes and processing times of nodes (default:\n"
    "                        today)\n"
    "  --set KEY=VALUE       one attribute: mtu=2048; of some nodes only:\n"
    "                        switches:mtu=2048, adapters:data_vls=1, 'S1*:traps=no';\n"
    "                        may be repeated\n"
    "  --attributes          list all attributes with value, range and meaning\n"
    "  --web [[ADDRESS:]PORT]\n"
    "                        serve the live page: the fabric, and faults by clicks;\n"
    "                        prints its URL; on the loopback address unless ADDRESS\n"
    "                        is given (default: a free port); serves /metrics too\n"
    "  --metrics [[ADDRESS:]PORT]\n"
    "                        serve counters and totals in the format of Prometheus at\n"
    "                        /metrics, on the loopback address unless ADDRESS is\n"
    "                        given (default: a free port, that of the page); also\n"
    "                        unix:PATH\n"
    "  --token-file F        read the token that changes on the page need from F\n"
    "                        (default: a random one, in the URL)\n"
    "  --seed N              seed of the random numbers (default: 1)\n"
    "  --pcap FILE           write every MAD on every link to FILE (pcapng)\n"
    "\n"
    "examples:\n"
    "  weft fabric cluster.net -- ibnetdiscover\n"
    "  weft fabric cluster.net -- sh -c 'opensm -o -f stdout >osm.log; ibhosts'\n"
    "  weft fabric cluster.net --pcap up.pcap -- opensm -o -f stdout\n"
    "  weft fabric cluster.net --traffic 'uniform load 0.0001' --metrics 9934\n"
    "  weft fabric --attributes --preset paper\n";

struct fabric_arguments {
    const char *net, *attach, *socket, *pace, *preset, *pcap;
    struct fabric_http_options http;
    struct option_values settings, traffic;
    bool attributes; /* list them and exit */
    char **command;  /* NULL: none */
    uint64_t seed, pace_millionths;
};

static int parse_fabric_arguments(struct fabric_arguments *arguments, int argc, char **argv)
{
    *arguments = (struct fabric_arguments){.preset = "today", .seed = 1};
    const struct option_spec specs[] = {
        {.name = "attach", .value = &arguments->attach},
        {.name = "socket", .value = &arguments->socket},
        {.name = "pace", .value = &arguments->pace},
        {.name = "preset", .value = &arguments->preset},
        {.name = "seed", .number = &arguments->seed},
        {.name = "pcap", .value = &arguments->pcap},
        {.name = "metrics", .value = &arguments->http.metrics, .standard = "0"},
        {.name = "web", .value = &arguments->http.web, .standard = "0"},
        {.name = "token-file", .value = &arguments->http.token_file},
        {.name = "traffic", .values = &arguments->traffic},
        {.name = "set", .values = &arguments->settings},
        {.name = "attributes", .flag = &arguments->attributes},
        {0}};
    argc = command_options("fabric", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (arguments->attributes)
        return argc > 1 ? command_usage("fabric", "--attributes takes no network: '%s'", argv[1])
                        : 0;
    if (argc < 2 || strcmp(argv[1], "--") == 0)
        return command_usage("fabric", "expected a network");
    arguments->net = argv[1];
    if (argc > 2 && strcmp(argv[2], "--") != 0)
        return command_usage("fabric", "'%s' is one argument too many; a command follows '--'",
                             argv[2]);
    if (argc == 3)
        return command_usage("fabric", "no command after '--'");
    if (argc > 3)
        arguments->command = argv + 3;
    if (!arguments->pace)
        arguments->pace = arguments->traffic.count ? "real" : "fast";
    double factor = strcmp(arguments->pace, "real") == 0 ? 1 : 0;
    const char *rest;
    if (factor == 0 && strcmp(arguments->pace, "fast") != 0 &&
        (!parse_decimal(arguments->pace, &factor, &rest) || *rest || factor < 1e-6 || factor > 1e6))
        return command_usage("fabric", "--pace %s: expected 'fast', 'real' or a factor",
                             arguments->pace);
    arguments->pace_millionths = (uint64_t)(factor * 1e6 + 0.5);
    if (arguments->traffic.count && !arguments->pace_millionths)
        return command_usage("fabric", "--traffic needs time: --pace real, or a factor");
    return 0;
}

/* Patterns of attributes are compared with the nodes of `topology`. */
static int make_options(const struct fabric_arguments *arguments, const struct topology *topology,
                        struct fabric_options *options, struct err *err)
{
    int result = fabric_options_preset(options, arguments->preset, err);
    for (size_t i = 0; i < arguments->settings.count && result == 0; i++) {
        const char *setting = arguments->settings.items[i];
        const char *equals = strchr(setting, '=');
        if (!equals)
            return err_set(err, EINVAL, "--set %s: expected KEY=VALUE", setting);
        char *key = mem_strdup(setting);
        key[equals - setting] = 0;
        result = fabric_options_set(options, key, equals + 1, err);
        if (result == 0 && topology)
            result = fabric_options_check_pattern(key, topology, err);
        mem_free(key);
    }
    return result;
}

/* ---- the command ---- */

/* Adds the directories of opensm and ibnetdiscover, which Debian's default PATH of users lacks. */
static void extend_path(void)
{
    static const char *const directories[] = {":/usr/sbin:", ":/sbin:"};
    const char *given = getenv("PATH");
    struct text path = {0};
    text_printf(&path, ":%s:", given ? given : "/usr/bin:/bin");
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (!strstr(path.data, directories[i]))
            text_puts(&path, directories[i] + 1);
    path.data[path.length - 1] = 0;
    setenv("PATH", path.data + 1, 1);
    text_release(&path);
}

static void prepare_environment(const char *preload, const struct runtime_dir *dir)
{
    char text[8192];
    const char *others = getenv("LD_PRELOAD");
    snprintf(text, sizeof text, "%s%s%s", others ? others : "", others && *others ? ":" : "",
             preload);
    setenv("LD_PRELOAD", text, 1);
    setenv(WEFT_SOCKET_VARIABLE, dir->socket, 1);
    /* By default OpenSM writes to /var, which needs root and outlives the fabric. */
    setenv("OSM_CACHE_DIR", dir->scratch, 0);
    setenv("OSM_TMP_DIR", dir->scratch, 0);
}

/* Starts this program again, with the preload library: preload_start() continues. */
static pid_t start_command(char **command, const sigset_t *mask, const char *preload,
                           const struct runtime_dir *dir)
{
    size_t count = 0;
    while (command[count])
        count++;
    pid_t child = fork();
    if (child != 0)
        return child;
    char **again = mem_alloc((count + 4) * sizeof *again);
    memcpy(again, (char *[]){"weft", "fabric", PRELOAD_STEP}, 3 * sizeof *again);
    memcpy(again + 3, command, (count + 1) * sizeof *again);
    prepare_environment(preload, dir);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGXFSZ, SIG_DFL);
    execv("/proc/self/exe", again);
    fprintf(stderr, "weft fabric: cannot run '%s': %s\n", command[0], strerror(errno));
    _exit(EXIT_USAGE);
}

static void block_signals(sigset_t *before)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a capture may exceed the file size limit */
}

static void print_metrics_command(const char *address)
{
    if (strncmp(address, "unix:", 5) == 0)
        printf("  curl --unix-socket %s http://localhost/metrics\n", address + 5);
    else
        printf("  curl %s/metrics\n", address);
}

/* ---- main ---- */

static int serve_fabric(const struct fabric_arguments *arguments, struct fabric *fabric,
                        const struct fabric_traffics *traffics, struct err *err)
{
    struct server_options options = {.pace_millionths = arguments->pace_millionths,
                                     .http = arguments->http,
                                     .traffics = traffics->items,
                                     .traffic_count = traffics->count};
    struct server *server = NULL;
    struct runtime_dir dir;
    char preload[4096 + 64];
    sigset_t mask;
    preload_find(preload, sizeof preload);
    extend_path();
    int result = attach_find(fabric_topology(fabric), arguments->attach, &options.attachment, err);
    if (result == 0 && arguments->command)
        result = preload_check(preload, arguments->command[0], err);
    if (result == 0)
        result = runtime_dir_make(&dir, arguments->socket, arguments->command != NULL, err);
    if (result < 0)
        return result;
    options.socket_path = dir.socket;
    options.directory = dir.directory;
    block_signals(&mask);
    result = server_new(&server, fabric, &options, err);
    if (result == 0 && arguments->command && arguments->http.web)
        fprintf(stderr, "weft fabric: %s\n", server_web_url(server));
    if (result == 0 && arguments->command) {
        pid_t child = start_command(arguments->command, &mask, preload, &dir);
        if (child < 0)
            result = err_set(err, errno, "cannot fork: %s", strerror(errno));
        else
            server_watch_child(server, child);
    } else if (result == 0) {
        printf("serving at %s\n\n"
               "  export WEFT_SOCKET=%s\n"
               "  LD_PRELOAD=%s ibnetdiscover\n"
               "  weft ctl status\n",
               dir.socket, dir.socket, preload);
        if (arguments->http.metrics)
            print_metrics_command(server_metrics_address(server));
        if (arguments->http.web)
            printf("  %s\n", server_web_url(server));
        fflush(stdout);
    }
    if (result == 0)
        result = server_run(server);
    server_free(server);
    runtime_dir_remove(&dir);
    return result;
}

static int simulate_fabric(const struct fabric_arguments *arguments, struct err *err)
{
    struct fabric_options options;
    struct fabric_traffics traffics = {0};
    struct topology topology;
    struct pcap *pcap = NULL;
    topology_init(&topology);
    int result = command_read_topology("fabric", arguments->net, &topology, err);
    if (result == 0)
        result = make_options(arguments, &topology, &options, err);
    if (result == 0)
        result = fabric_traffics_read(&traffics, &arguments->traffic, &topology, &options, err);
    if (result == 0 && arguments->pcap)
        result = pcap_open(&pcap, arguments->pcap, err);
    if (result == 0) {
        struct fabric *fabric = fabric_new(&topology, &options, arguments->seed);
        fabric_set_pcap(fabric, pcap);
        result = serve_fabric(arguments, fabric, &traffics, err);
        fabric_free(fabric);
    }
    int closed = pcap_close(pcap);
    if (closed < 0 && result == 0)
        result = err_set(err, -closed, "cannot write '%s': %s", arguments->pcap, strerror(-closed));
    fabric_traffics_release(&traffics);
    topology_release(&topology);
    return result;
}

static int run_fabric(int argc, char **argv)
{
    struct fabric_arguments arguments;
    struct fabric_options options;
    struct text list = {0};
    struct err err = {0};
    if (argc > 2 && strcmp(argv[1], PRELOAD_STEP) == 0)
        return preload_start(argv + 2);
    int result = parse_fabric_arguments(&arguments, argc, argv);
    if (result == 0 && arguments.attributes)
        result = make_options(&arguments, NULL, &options, &err);
    if (result == 0 && arguments.attributes) {
        fabric_options_list(&options, &list);
        result = command_print("fabric", &list);
    } else if (result == 0) {
        result = simulate_fabric(&arguments, &err);
    }
    vec_release(&arguments.settings);
    vec_release(&arguments.traffic);
    return result < 0 ? command_error("fabric", &err) : result;
}

const struct command command_fabric = {
    .name = "fabric",
    .summary = "serve a simulated fabric to real tools",
    .help = help,
    .run = run_fabric,
};
