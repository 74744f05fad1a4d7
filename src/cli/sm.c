/* weft sm: runs the subnet manager in the foreground (src/host/daemon/daemon.c). */
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/workers.h"
#include "host/daemon/daemon.h"
#include "host/manager/config.h"
#include "host/manager/key_file.h"

static const char default_address[] = "9933"; /* of the HTTP server */

static struct {
    const char *config, *checked, *key_file;
    const char *engine, *guid, *ca, *port, *priority, *lmc, *sweep, *partitions, *control;
    const char *web, *metrics, *token_file, *state, *dump, *log;
    bool once, json, print, list, all, strict;
} given;

static const struct option_spec options[] = {
    {"--once",
     "end when the subnet is up. Exit status: 0 it is up; 1 it could not be brought up, or a file "
     "of --dump or --state could not be written; 3 it is up, but nodes do not answer or refuse "
     "their settings",
     .flag = &given.once},
    {"--engine E[,E ...]",
     "routing engine (default: updn); of several engines, the first that does not refuse: see "
     "below",
     .value = &given.engine},
    {"--config FILE",
     "'key value' lines, see weft-sm.conf(5), or an opensm.conf of OpenSM; options override it",
     .value = &given.config},
    {"--check-config FILE", "print the lines of FILE that change something, or are wrong, and end",
     .value = &given.checked},
    {"--all", "with --check-config: every line", .flag = &given.all},
    {"--strict", "unknown keys and engines in configuration files are errors, not warnings",
     .flag = &given.strict},
    {"--print-config", "print the configuration in weft's format, and end", .flag = &given.print},
    {"--list-opensm-keys", "print the keys of OpenSM and what they do here, and end",
     .flag = &given.list},
    {"--guid G", "the port with this GUID", .value = &given.guid},
    {"--ca NAME", "a port of this adapter", .value = &given.ca},
    {"--port N", "the port with this number (default: the first InfiniBand port that is up)",
     .value = &given.port},
    {"--priority N", "0 to 15: the highest of several managers is master (default: 0)",
     .value = &given.priority},
    {"--lmc N", "2^N LIDs for each adapter port (default: 0)", .value = &given.lmc},
    {"--sweep TIME",
     "interval at which switches are queried for changes, or 'never' (default: 10s)",
     .value = &given.sweep},
    {"--partitions FILE",
     "partitions in OpenSM's format (default: none, all ports can communicate)",
     .value = &given.partitions},
    {"--control PATH", "listen at PATH for 'weft ctl --socket PATH'", .value = &given.control},
    {"--web [[ADDRESS:]PORT]",
     "serve the live page and /metrics, on the loopback address unless ADDRESS is given "
     "(default: 127.0.0.1:9933); 'weft ctl page' prints its URL with the token that changes need",
     .value = &given.web, .standard = default_address},
    {"--metrics [[ADDRESS:]PORT]",
     "serve metrics in the format of Prometheus at /metrics, on the loopback address unless "
     "ADDRESS is given (default: 127.0.0.1:9933); also unix:PATH",
     .value = &given.metrics, .standard = default_address},
    {"--token-file F", "read the token from F (default: a random one)", .value = &given.token_file},
    {"--state DIR",
     "preserve LIDs (guid2lid) and the registrations of clients (opensm-sa.dump) over restarts, "
     "in OpenSM's formats",
     .value = &given.state},
    {"--dump DIR",
     "after each change write opensm-lfts.dump, opensm-subnet.lst, opensm.fdbs, "
     "opensm-sl2vl.dump and opensm.mcfdbs to DIR, and weft-subnet.dump if the subnet has routers",
     .value = &given.dump},
    {"--log FILE", "append the log to this file (default: standard output)", .value = &given.log},
    {"--json", "log one JSON object per line", .flag = &given.json},
    {"--make-key FILE",
     "write new random keys to FILE, for 'key_file' in the configuration of all managers of the "
     "subnet, and end",
     .value = &given.key_file},
    {0}};

/* Keys of the configuration that have an option. */
static const struct {
    const char *key, **value;
} keys[] = {
    {"engine", &given.engine},   {"guid", &given.guid},         {"ca", &given.ca},
    {"port", &given.port},       {"priority", &given.priority}, {"lmc", &given.lmc},
    {"sweep", &given.sweep},     {"state", &given.state},       {"control", &given.control},
    {"dump", &given.dump},       {"log", &given.log},           {"partitions", &given.partitions},
    {"metrics", &given.metrics}, {"web", &given.web},           {"token_file", &given.token_file}};
enum { KEYS = sizeof keys / sizeof *keys };

static void print_more(FILE *out)
{
    fputs("\nengines:\n", out);
    print_engines(out, 2);
}

static void print_error(const struct err *err)
{
    command_error(err);
}

/* Reads a configuration and prints what its lines do, with their errors (--check-config), or that
 * of the options. */
static int show_config(const struct daemon_options *wanted, struct err *err)
{
    struct config config;
    struct text out = {0};
    const char *file = given.checked ? given.checked : wanted->config;
    config_init(&config);
    config.strict = given.strict;
    int status = file ? config_read(&config, file, err) : 0;
    for (size_t i = 0; !given.checked && i < wanted->setting_count && status == 0; i++)
        status = config_set(&config, wanted->settings[i].key, wanted->settings[i].value, err);
    if (status == 0)
        status = config_finish(&config, err);
    /* All errors of lines are in `out`. */
    bool printed = given.checked && config.lines.count > 0;
    if (given.checked && (status == 0 || printed))
        config_print_lines(&config, given.all, &out);
    else if (status == 0)
        config_print(&config, &out);
    for (size_t i = 0; !printed && i + 1 < config.errors.count; i++)
        print_error(&config.errors.items[i]);
    bool told = printed && config.errors.count > 0;
    config_release(&config);
    int result = command_print(&out);
    return status == 0 ? result : told ? EXIT_USAGE : status;
}

static int run_sm(int argc, char **argv, struct err *err)
{
    struct daemon_setting settings[KEYS + 1];
    struct daemon_options wanted = {.config = given.config,
                                    .settings = settings,
                                    .make_workers = workers_of_threads,
                                    .once = given.once,
                                    .strict = given.strict,
                                    .print_error = print_error};
    if (argc > 1)
        return command_usage("'%s' is one argument too many", argv[1]);
    if (given.key_file)
        return key_file_make(given.key_file, err);
    if (given.list) {
        struct text out = {0};
        config_print_opensm_keys(&out);
        return command_print(&out);
    }
    for (size_t i = 0; i < KEYS; i++)
        if (*keys[i].value)
            settings[wanted.setting_count++] = (struct daemon_setting){keys[i].key, *keys[i].value};
    if (given.json)
        settings[wanted.setting_count++] = (struct daemon_setting){"json", "yes"};
    return given.checked || given.print ? show_config(&wanted, err) : daemon_run(&wanted, err);
}

const struct command command_sm = {
    .name = "sm",
    .summary = "run the subnet manager",
    .usage = "usage: weft sm [OPTION ...]\n"
             "\n"
             "Runs a subnet manager on an InfiniBand port of this machine, in the foreground:\n"
             "brings the subnet up, keeps it up, and logs one line for each event. Uses\n"
             "libibumad, so it runs on hardware, on ibsim ('ibsim-run weft sm') and on a weft\n"
             "fabric ('weft fabric NET -- weft sm').\n"
             "\n",
    .column = 19,
    .options = options,
    .more = "\n"
            "signals: SIGTERM and SIGINT hand over and end, SIGHUP reads the configuration\n"
            "again, SIGUSR1 discovers the whole subnet again.\n"
            "\n"
            "examples:\n"
            "  weft sm --engine fera --dump /var/lib/weft/dump\n"
            "  weft fabric cluster.net -- weft sm --once --json\n",
    .print_more = print_more,
    .run = run_sm,
};
