/* weft live: a fabric with managers and traffic that a person watches and changes in a browser. */
#include "experiment/live/live.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/workers.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"
#include "topology/analysis/subnets.h"
#include "topology/virtual.h"
#include "wire/mad.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *listen, *socket, *pace, *load, *engine, *seed_text, *token_file, *plan;
    uint64_t seed, jobs;
    bool settled, paused, open;
} given = {.listen = "0", .load = "0.2"};

static const struct option_spec options[] = {
    {"--listen [ADDRESS:]PORT", "where the page is served (default: 127.0.0.1, a free port)",
     .value = &given.listen},
    {"--pace F", "virtual seconds for one second of wall time (default: 0.001)",
     .value = &given.pace},
    {"--load F", "load of the uniform traffic of NET, 0 to 1 (default: 0.2)", .value = &given.load},
    {"--engine NAME", "routing engine of the managers of NET", .value = &given.engine},
    {"--seed N", "seed of the random numbers (default: the file's, else 1)",
     .value = &given.seed_text, .number = &given.seed},
    {"--settled", "begin when the subnet is up, also with SCENARIO", .flag = &given.settled},
    {"-j, --jobs N", "threads for the data packets; the run is the same (default: 1)",
     .number = &given.jobs, .low = 1, .high = WORKERS_LIMIT},
    {"--paused", "begin with a pause", .flag = &given.paused},
    {"--plan FILE", "the plan of the cabling, compared with the links that are up",
     .value = &given.plan},
    {"--token-file F",
     "read the token that changes need from F (default: a random one, in the URL)",
     .value = &given.token_file},
    {"--socket PATH",
     "listen there for 'weft ctl', and at PATH.sm for commands of managers (default: in the "
     "user's runtime directory, where 'weft ctl' looks without an option)",
     .value = &given.socket},
    {"--open", "open the page with xdg-open", .flag = &given.open},
    {0}};

/* A signal may come between the test of `caught` and poll(), which sees the descriptor. */
static volatile sig_atomic_t caught;
static int caught_event;

static void catch_signal(int number)
{
    const uint64_t one = 1;
    int before = errno;
    caught = number;
    (void)!write(caught_event, &one, sizeof one);
    errno = before;
}

/* ---- the scenario ---- */

/* Whether a text is a scenario: one of its lines begins with the word `topology`. */
static bool is_scenario(const char *text)
{
    for (const char *line = text; *line; line += *line == '\n') {
        line += strspn(line, " \t\r");
        if (strncmp(line, "topology", 8) == 0 && (line[8] == ' ' || line[8] == '\t'))
            return true;
        line += strcspn(line, "\n");
    }
    return false;
}

/* An adapter with a cable that is not a virtual function. */
static bool can_have_manager(const struct topology *topology, const struct topology_node *node)
{
    for (unsigned p = 1; p <= node->port_count && node->kind == NODE_ADAPTER; p++)
        if (topology->ports.items[node->first_port + p].peer != TOPOLOGY_NONE &&
            topology_function(topology, node->first_port + p) <= 0)
            return true;
    return false;
}

/* The length of the host's name in a description "HOST HCA-1" or "HOST mlx5_0"; 0: it has another
 * form. */
static size_t host_name_length(const char *description)
{
    size_t length = strcspn(description, " "), whole = strlen(description);
    return length < whole && !strchr(description + length + 1, ' ') &&
                   isdigit((unsigned char)description[whole - 1])
               ? length
               : 0;
}

static bool same_host(const struct topology_node *a, const struct topology_node *b)
{
    size_t length = host_name_length(a->description);
    return a->guid == b->guid || (a->system_guid && a->system_guid == b->system_guid) ||
           (length && length == host_name_length(b->description) &&
            strncmp(a->description, b->description, length) == 0);
}

/* Managers of one subnet: on its first adapter and on the last one of another host. */
struct live_places {
    const struct topology_node *first, *last;
    unsigned adapters;
};

static void find_places(const struct topology *topology, const uint32_t *subnet_of, uint32_t subnet,
                        bool all, struct live_places *places)
{
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        bool inside = all;
        for (unsigned p = 1; p <= node->port_count && !inside; p++)
            inside = subnet_of[node->first_port + p] == subnet;
        if (!inside || !can_have_manager(topology, node))
            continue;
        places->adapters++;
        places->first = places->first ? places->first : node;
        places->last = same_host(places->first, node) ? places->last : node;
    }
}

static void put_managers(const struct live_places *places, const char *prefix, struct text *out)
{
    const char *word = given.engine ? " engine " : "", *engine = given.engine ? given.engine : "";
    text_printf(out, "sm 0x%016" PRIx64 " priority 8%s%s%s\n", places->first->guid, word, engine,
                prefix);
    if (places->last)
        text_printf(out, "sm 0x%016" PRIx64 " priority 1%s%s%s\n", places->last->guid, word, engine,
                    prefix);
    else
        fputs("weft live: one manager only: no second host has an adapter with a cable\n", stderr);
}

/* Managers of each subnet that routers join, with a prefix for each; else of the whole network.
 * Returns the number of adapters that may send. */
static unsigned put_all_managers(const struct topology *topology, struct text *out)
{
    struct graph graph;
    uint32_t *subnet_of = mem_alloc((topology->ports.count + 1) * sizeof *subnet_of);
    unsigned adapters = 0;
    bool routed = false;
    graph_init(&graph, topology);
    uint32_t count = topology_subnets(topology, &graph, subnet_of);
    for (size_t i = 0; i < topology->nodes.count; i++)
        routed |= topology->nodes.items[i].kind == NODE_ROUTER;
    routed &= count > 1;
    for (uint32_t subnet = 0; subnet < (routed ? count : 1); subnet++) {
        struct live_places places = {0};
        char prefix[48] = "";
        find_places(topology, subnet_of, subnet, !routed, &places);
        if (!places.first)
            continue;
        if (routed)
            snprintf(prefix, sizeof prefix, " subnet_prefix 0x%016" PRIx64,
                     GID_PREFIX_SITE + subnet + 1);
        put_managers(&places, prefix, out);
        adapters += places.adapters;
    }
    graph_release(&graph);
    mem_free(subnet_of);
    return adapters;
}

/* A scenario for a network file. */
static int make_scenario(const char *file, struct text *out, struct err *err)
{
    struct topology topology;
    struct text managers = {0};
    char path[4096];
    topology_init(&topology);
    int status = command_read_topology(file, &topology, err);
    unsigned adapters = status == 0 ? put_all_managers(&topology, &managers) : 0;
    if (status == 0 && !adapters)
        status = err_set(err, EINVAL, "no adapter with a cable: a manager needs one");
    if (status == 0 && !realpath(file, path))
        status = err_at(err, errno, file, 0, "%s", strerror(errno));
    if (status == 0) {
        text_printf(out, "topology \"%s\"\n%s", path, managers.data);
        if (adapters > 1)
            text_printf(out, "traffic uniform load %s start settled\n", given.load);
        text_puts(out, "run until settled\n");
    }
    text_release(&managers);
    topology_release(&topology);
    return status;
}

/* ---- main ---- */

/* A file that leads a browser to the page. All users can read the arguments of a process, so the
 * URL with the token is not among them. */
struct redirect_page {
    char folder[256], path[272];
};

static int make_redirect_page(struct redirect_page *redirect, const char *url, struct err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct text text = {0};
    snprintf(redirect->folder, sizeof redirect->folder, "%s/weft-open-XXXXXX",
             runtime && *runtime ? runtime : "/tmp");
    if (!mkdtemp(redirect->folder)) { /* for this user only */
        int code = errno;
        int status = err_at(err, code, redirect->folder, 0, "%s", strerror(code));
        redirect->folder[0] = 0;
        return status;
    }
    snprintf(redirect->path, sizeof redirect->path, "%s/page.html", redirect->folder);
    text_printf(&text,
                "<!doctype html><meta charset=\"utf-8\"><title>weft live</title>\n"
                "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
                url);
    mode_t before = umask(S_IRWXG | S_IRWXO);
    int status = file_write(redirect->path, &text, err);
    umask(before);
    text_release(&text);
    return status;
}

static void open_page(struct redirect_page *redirect, const char *url)
{
    struct err err = {0};
    int status = strncmp(url, "http://", 7) == 0
                     ? make_redirect_page(redirect, url, &err)
                     : err_set(&err, EINVAL, "a browser cannot open a Unix socket");
    if (status < 0) {
        fprintf(stderr, "weft live: the page is not opened: %s\n", err.message);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        execlp("xdg-open", "xdg-open", redirect->path, (char *)NULL);
        _exit(127);
    }
}

/* The session also runs without the default socket, which another session may be using. */
static int open_sockets(struct live *live, struct err *err)
{
    char standard[256];
    struct err reason = {0};
    if (given.socket)
        return live_ctl_open(live, given.socket, err);
    if (protocol_live_path(standard, sizeof standard) >= (int)sizeof standard ||
        listener_make_directory(standard, &reason) < 0 ||
        live_ctl_open(live, standard, &reason) < 0)
        fprintf(stderr, "weft live: no control socket: %s; --socket chooses another\n",
                reason.message);
    return 0;
}

static void print_progress(const struct live *live)
{
    struct text text = {0};
    live_progress(live, &text);
    fprintf(stderr, "weft live: %s\n", text.data);
    text_release(&text);
}

static void serve(struct live *live)
{
    uint64_t next = 0; /* wall time of the next line about the start */
    bool starting = live->starting;
    char url[512];
    struct redirect_page redirect = {0};
    snprintf(url, sizeof url, "%s/#token=%s", http_server_address(live->server),
             http_server_token(live->server));
    printf("%s\n", url);
    fflush(stdout);
    if (given.open)
        open_page(&redirect, url);
    if (live_session_refusal(&live->session))
        print_progress(live);
    while (!caught && !live->stopped) {
        int wait = live_step(live), fds[LIVE_DESCRIPTORS + 1] = {caught_event};
        struct pollfd ready[LIVE_DESCRIPTORS + 1];
        if (starting && (!live->starting || time_monotonic_ns() >= next)) {
            print_progress(live);
            next = time_monotonic_ns() + NS_PER_S;
            starting = live->starting;
        }
        live_descriptors(live, fds + 1);
        for (unsigned i = 0; i <= LIVE_DESCRIPTORS; i++)
            ready[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        if (wait && !live->stopped)
            poll(ready, LIVE_DESCRIPTORS + 1, wait);
    }
    if (redirect.folder[0]) {
        unlink(redirect.path);
        rmdir(redirect.folder);
    }
}

static int run_session(struct live_options wanted, struct err *err)
{
    static struct live live;
    struct text text = {0};
    char token[HTTP_TOKEN_MOST + 1];
    struct topology plan;
    topology_init(&plan);
    int status = file_read(wanted.name, (size_t)64 << 20, &text, err);
    if (status == 0 && !(text.data && is_scenario(text.data))) {
        text_clear(&text);
        given.settled = true;
        status = make_scenario(wanted.name, &text, err);
    }
    if (status == 0 && given.token_file) {
        status = http_token_read(given.token_file, token, err);
        wanted.token = token;
    }
    if (status == 0 && given.plan) {
        status = command_read_topology(given.plan, &plan, err);
        wanted.plan = &plan;
    }
    wanted.text = text.data;
    wanted.settle = given.settled;
    if (status == 0)
        status = live_begin(&live, &wanted, err);
    if (status == 0) {
        status = open_sockets(&live, err);
        if (status == 0)
            serve(&live);
        live_end(&live);
    }
    topology_release(&plan);
    text_release(&text);
    return status;
}

static int run_live(int argc, char **argv, struct err *err)
{
    const char *rest;
    struct sigaction action = {.sa_handler = catch_signal};
    struct workers workers = workers_of_threads(given.jobs ? (unsigned)given.jobs : 1);
    struct live_options wanted = {
        .name = argv[1],
        .seed = given.seed_text ? &given.seed : NULL,
        .listen = given.listen,
        .version = WEFT_VERSION,
        .pace = 0.001,
        .paused = given.paused,
        .workers = &workers,
        .clock_ns = time_monotonic_ns,
        .interrupt = &caught,
    };
    (void)argc;
    if (given.pace && (!parse_decimal(given.pace, &wanted.pace, &rest) || *rest ||
                       !(wanted.pace >= 1e-9 && wanted.pace <= 1000)))
        return command_usage("--pace %s: expected a number from 1e-9 to 1000", given.pace);
    caught_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (caught_event < 0)
        return err_set(err, errno, "eventfd: %s", strerror(errno));
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    return run_session(wanted, err);
}

const struct command command_live = {
    .name = "live",
    .summary = "watch and change a simulated fabric in a browser",
    .usage = "usage: weft live NET|SCENARIO [OPTION ...]\n"
             "\n"
             "Runs a simulated fabric with managers and traffic and serves a page on which one\n"
             "watches it, cuts cables, kills switches and managers, and sees what happens.\n"
             "Virtual time is slowed down so that you can follow it. The run is deterministic:\n"
             "the page exports a scenario with which 'weft sim' repeats the session, with the\n"
             "same trace hash.\n"
             "\n"
             "NET is a file as for 'weft topo'; it gets two managers and uniform traffic, and\n"
             "the session begins when the subnet is up. SCENARIO is a file as for 'weft sim',\n"
             "recognised by its 'topology' statement; the session begins at time 0.\n"
             "\n",
    .column = 19,
    .options = options,
    .more = "\n"
            "examples:\n"
            "  weft topo gen fattree 324 >net; weft live net\n"
            "  weft live ring.weft --pace 0.0001 --paused\n"
            "  weft ctl link down S3 1; weft ctl managers\n",
    .operand = "a network or a scenario",
    .run = run_live,
};
