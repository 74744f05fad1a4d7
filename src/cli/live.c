/* weft live: a fabric with managers and traffic that a person watches and changes in a browser. */
#include "experiment/live/live.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/time.h"
#include "cli/command.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"
#include "topology/virtual.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: weft live NET|SCENARIO [OPTION ...]\n"
    "\n"
    "Runs a simulated fabric with managers and traffic and serves a page on which one\n"
    "watches it, cuts cables, kills switches and managers, and sees what happens.\n"
    "Virtual time is slowed down so that eyes can follow. The run is deterministic:\n"
    "the page exports a scenario with which 'weft sim' repeats the session, with the\n"
    "same trace hash.\n"
    "\n"
    "NET is a file as for 'weft topo'; it gets two managers and uniform traffic, and\n"
    "the session begins when the subnet is up. SCENARIO is a file as for 'weft sim',\n"
    "recognised by its 'topology' statement; the session begins at time 0.\n"
    "\n"
    "  --listen [ADDRESS:]PORT  where the page is served (default: 127.0.0.1, a free\n"
    "                   port)\n"
    "  --pace F         virtual seconds for one second of wall time (default: 0.001)\n"
    "  --load F         load of the uniform traffic of NET, 0 to 1 (default: 0.2)\n"
    "  --engine NAME    routing engine of the managers of NET\n"
    "  --seed N         seed of the random numbers (default: the file's, else 1)\n"
    "  --settled        begin when the subnet is up, also with SCENARIO\n"
    "  --paused         begin with a pause\n"
    "  --plan FILE      the plan of the cabling, compared with the links that are up\n"
    "  --token-file F   read the token that changes need from F (default: a random\n"
    "                   one, in the URL)\n"
    "  --socket PATH    listen there for 'weft ctl', and at PATH.sm for commands of\n"
    "                   managers (default: in the user's runtime directory, where\n"
    "                   'weft ctl' looks without an option)\n"
    "  --open           open the page with xdg-open\n"
    "\n"
    "examples:\n"
    "  weft topo gen fattree 324 >net; weft live net\n"
    "  weft live ring.weft --pace 0.0001 --paused\n"
    "  weft ctl link down S3 1; weft ctl managers\n";

struct live_arguments {
    const char *file, *listen, *socket, *pace, *load, *engine, *seed_text, *token_file, *plan;
    uint64_t seed;
    bool settled, paused, open;
};

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

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
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

struct places {
    uint64_t managers[2]; /* GUIDs: the first adapter of the file, the last one of another host */
    unsigned manager_count, adapters;
};

static int find_places(const struct topology *topology, struct places *places, struct err *err)
{
    const struct topology_node *first = NULL, *last = NULL;
    *places = (struct places){0};
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        if (!can_have_manager(topology, node))
            continue;
        places->adapters++;
        first = first ? first : node;
        last = same_host(first, node) ? last : node;
    }
    if (!first)
        return err_set(err, EINVAL, "no adapter with a cable: a manager needs one");
    places->managers[places->manager_count++] = first->guid;
    if (last)
        places->managers[places->manager_count++] = last->guid;
    else
        fputs("weft live: one manager only: no second host has an adapter with a cable\n", stderr);
    return 0;
}

/* A scenario for a network file. */
static int make_scenario(const struct live_arguments *arguments, struct text *out, struct err *err)
{
    struct topology topology;
    char path[4096];
    struct places places;
    topology_init(&topology);
    int status = command_read_topology("live", arguments->file, &topology, err);
    if (status == 0)
        status = find_places(&topology, &places, err);
    topology_release(&topology);
    if (status)
        return status;
    if (!realpath(arguments->file, path))
        return err_at(err, errno, arguments->file, 0, "%s", strerror(errno));
    text_printf(out, "topology \"%s\"\n", path);
    for (unsigned i = 0; i < places.manager_count; i++)
        text_printf(out, "sm 0x%016llx priority %d%s%s\n", (unsigned long long)places.managers[i],
                    i ? 1 : 8, arguments->engine ? " engine " : "",
                    arguments->engine ? arguments->engine : "");
    if (places.adapters > 1)
        text_printf(out, "traffic uniform load %s start settled\n",
                    arguments->load ? arguments->load : "0.2");
    text_puts(out, "run until settled\n");
    return 0;
}

static int read_scenario(struct live_arguments *arguments, struct text *out, struct err *err)
{
    struct text file = {0};
    int status = file_read(arguments->file, (size_t)64 << 20, &file, err);
    if (status == 0 && file.data && is_scenario(file.data)) {
        *out = file;
        return 0;
    }
    text_release(&file);
    if (status)
        return status;
    arguments->settled = true;
    return make_scenario(arguments, out, err);
}

/* ---- main ---- */

static int parse_live_arguments(struct live_arguments *arguments, int argc, char **argv)
{
    const struct option_spec specs[] = {
        {.name = "listen", .value = &arguments->listen},
        {.name = "socket", .value = &arguments->socket},
        {.name = "pace", .value = &arguments->pace},
        {.name = "load", .value = &arguments->load},
        {.name = "engine", .value = &arguments->engine},
        {.name = "seed", .value = &arguments->seed_text, .number = &arguments->seed},
        {.name = "plan", .value = &arguments->plan},
        {.name = "token-file", .value = &arguments->token_file},
        {.name = "settled", .flag = &arguments->settled},
        {.name = "paused", .flag = &arguments->paused},
        {.name = "open", .flag = &arguments->open},
        {0}};
    argc = command_options("live", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc < 2)
        return command_usage("live", "expected a network or a scenario");
    if (argc > 2)
        return command_usage("live", "'%s' is one argument too many", argv[2]);
    arguments->file = argv[1];
    return 0;
}

static int parse_pace(const struct live_arguments *arguments, double *pace)
{
    const char *rest;
    *pace = 0.001;
    if (!arguments->pace ||
        (parse_decimal(arguments->pace, pace, &rest) && !*rest && *pace >= 1e-9 && *pace <= 1000))
        return 0;
    return command_usage("live", "--pace %s: expected a number from 1e-9 to 1000", arguments->pace);
}

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

static void remove_redirect_page(const struct redirect_page *redirect)
{
    if (!redirect->folder[0])
        return;
    unlink(redirect->path);
    rmdir(redirect->folder);
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
static int open_sockets(struct live *live, const char *path, struct err *err)
{
    char standard[256];
    struct err reason = {0};
    if (path)
        return live_ctl_open(live, path, err);
    if (protocol_live_path(standard, sizeof standard) >= (int)sizeof standard ||
        listener_make_directory(standard, &reason) < 0 ||
        live_ctl_open(live, standard, &reason) < 0)
        fprintf(stderr, "weft live: no control socket: %s; --socket chooses another\n",
                reason.message);
    return 0;
}

static void serve(struct live *live, bool open)
{
    const char *address = http_server_address(live->server);
    const char *token = http_server_token(live->server);
    char url[512];
    snprintf(url, sizeof url, "%s/#token=%s", address, token);
    printf("%s\n", url);
    fflush(stdout);
    struct redirect_page redirect = {0};
    if (open)
        open_page(&redirect, url);
    while (!caught && !live->stopped) {
        int wait = live_step(live), fds[LIVE_DESCRIPTORS + 1] = {caught_event};
        struct pollfd ready[LIVE_DESCRIPTORS + 1];
        live_descriptors(live, fds + 1);
        for (unsigned i = 0; i <= LIVE_DESCRIPTORS; i++)
            ready[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        if (wait && !live->stopped)
            poll(ready, LIVE_DESCRIPTORS + 1, wait);
    }
    remove_redirect_page(&redirect);
}

static int run_live_session(struct live_arguments *arguments, struct err *err)
{
    static struct live live;
    struct text text = {0};
    char token[HTTP_TOKEN_MOST + 1];
    struct live_options options = {
        .name = arguments->file,
        .seed = arguments->seed_text ? &arguments->seed : NULL,
        .listen = arguments->listen ? arguments->listen : "0",
        .version = WEFT_VERSION,
        .paused = arguments->paused,
        .clock_ns = clock_ns,
        .interrupt = &caught,
    };
    int status = parse_pace(arguments, &options.pace);
    if (status == 0)
        status = read_scenario(arguments, &text, err);
    if (status == 0 && arguments->token_file) {
        status = http_token_read(arguments->token_file, token, err);
        options.token = token;
    }
    struct topology plan;
    topology_init(&plan);
    if (status == 0 && arguments->plan) {
        status = command_read_topology("live", arguments->plan, &plan, err);
        options.plan = &plan;
    }
    options.text = text.data;
    options.settle = arguments->settled;
    if (status == 0)
        status = live_begin(&live, &options, err);
    if (status == 0) {
        status = open_sockets(&live, arguments->socket, err);
        if (status == 0)
            serve(&live, arguments->open);
        live_end(&live);
    }
    topology_release(&plan);
    text_release(&text);
    return status;
}

static int run_live(int argc, char **argv)
{
    struct live_arguments arguments = {0};
    struct err err = {0};
    struct sigaction action = {.sa_handler = catch_signal};
    sigemptyset(&action.sa_mask);
    int status = parse_live_arguments(&arguments, argc, argv);
    if (status)
        return status;
    caught_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (caught_event < 0) {
        err_set(&err, errno, "eventfd: %s", strerror(errno));
        return command_error("live", &err);
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    status = run_live_session(&arguments, &err);
    return status < 0 ? command_error("live", &err) : status;
}

const struct command command_live = {
    .name = "live",
    .summary = "watch and change a simulated fabric in a browser",
    .help = help,
    .run = run_live,
};
