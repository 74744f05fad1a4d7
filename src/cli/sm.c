/* weft sm: runs the subnet manager in the foreground (src/host/daemon/daemon.c). */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/workers.h"
#include "host/daemon/daemon.h"
#include "host/manager/config.h"
#include "host/manager/key_file.h"

static const char help[] =
    "usage: weft sm [OPTION ...]\n"
    "\n"
    "Runs a subnet manager on an InfiniBand port of this machine, in the foreground:\n"
    "brings the subnet up, keeps it up, and logs one line for each event. Uses\n"
    "libibumad, so it runs on hardware, on ibsim ('ibsim-run weft sm') and on a weft\n"
    "fabric ('weft fabric NET -- weft sm').\n"
    "\n"
    "  --once           end when the subnet is up. Exit status: 0 it is up; 1 it\n"
    "                   could not be brought up, or a file of --dump or --state could\n"
    "                   not be written; 3 it is up, but nodes do not answer or refuse\n"
    "                   their settings\n"
    "  --engine E[,E ...]\n"
    "                   routing engine (default: updn); of several engines, the\n"
    "                   first that does not refuse: see below\n"
    "  --config FILE    'key value' lines, see weft-sm.conf(5), or an opensm.conf of\n"
    "                   OpenSM; options override it\n"
    "  --check-config FILE\n"
    "                   print what each line of FILE does, and end\n"
    "  --print-config   print the configuration in weft's format, and end\n"
    "  --list-opensm-keys\n"
    "                   print the keys of OpenSM and what they do here, and end\n"
    "  --guid G         the port with this GUID\n"
    "  --ca NAME        a port of this adapter\n"
    "  --port N         the port with this number (default: the first InfiniBand port\n"
    "                   that is up)\n"
    "  --priority N     0 to 15: the highest of several managers is master (default:\n"
    "                   0)\n"
    "  --lmc N          2^N LIDs for each adapter port (default: 0)\n"
    "  --sweep TIME     interval at which switches are queried for changes, or\n"
    "                   'never' (default: 10s)\n"
    "  --partitions FILE\n"
    "                   partitions in OpenSM's format (default: none, all ports\n"
    "                   can communicate)\n"
    "  --control PATH   listen at PATH for 'weft ctl --socket PATH'\n"
    "  --web [[ADDRESS:]PORT]\n"
    "                   serve the live page and /metrics, on the loopback address\n"
    "                   unless ADDRESS is given (default: 127.0.0.1:9933); 'weft ctl\n"
    "                   page' prints its URL with the token that changes need\n"
    "  --metrics [[ADDRESS:]PORT]\n"
    "                   serve metrics in the format of Prometheus at /metrics, on the\n"
    "                   loopback address unless ADDRESS is given (default:\n"
    "                   127.0.0.1:9933); also unix:PATH\n"
    "  --token-file F   read the token from F (default: a random one)\n"
    "  --state DIR      preserve LIDs (guid2lid) and the registrations of clients\n"
    "                   (opensm-sa.dump) over restarts, in OpenSM's formats\n"
    "  --dump DIR       after each change write opensm-lfts.dump, opensm-subnet.lst,\n"
    "                   opensm.fdbs, opensm-sl2vl.dump and opensm.mcfdbs to DIR\n"
    "  --log FILE       append the log to this file (default: standard output)\n"
    "  --json           log one JSON object per line\n"
    "  --make-key FILE  write new random keys to FILE, for 'key_file' in the\n"
    "                   configuration of all managers of the subnet, and end\n"
    "\n"
    "signals: SIGTERM and SIGINT hand over and end, SIGHUP reads the configuration\n"
    "again, SIGUSR1 discovers the whole subnet again.\n"
    "\n"
    "examples:\n"
    "  weft sm --engine fera --dump /var/lib/weft/dump\n"
    "  weft fabric cluster.net -- weft sm --once --json\n";

static void print_more(FILE *out)
{
    fputs("\nengines:\n", out);
    print_engines(out, 2);
}

enum { SETTING_COUNT = 14 };
static const char default_address[] = "9933"; /* of the HTTP server */

static void print_error(const struct err *err)
{
    command_error("sm", err);
}

/* Reads a configuration and prints what its lines do, with their errors, or (`path` NULL) that of
 * the options. */
static int show_config(const struct daemon_options *options, const char *path)
{
    struct config config;
    struct err err = {0};
    struct text out = {0};
    const char *file = path ? path : options->config;
    config_init(&config);
    int status = file ? config_read(&config, file, &err) : 0;
    for (size_t i = 0; !path && i < options->setting_count && status == 0; i++)
        status = config_set(&config, options->settings[i].key, options->settings[i].value, &err);
    if (status == 0)
        status = config_finish(&config, &err);
    bool printed = path && config.lines.count > 0; /* all errors of lines are in `out` */
    if (path && (status == 0 || printed))
        config_print_lines(&config, &out);
    else if (status == 0)
        config_print(&config, &out);
    for (size_t i = 0; !printed && i + 1 < config.errors.count; i++)
        print_error(&config.errors.items[i]);
    bool told = printed && config.errors.count > 0;
    config_release(&config);
    int result = command_print("sm", &out);
    if (status == 0)
        return result;
    return told ? EXIT_USAGE : command_error("sm", &err);
}

static int run_sm(int argc, char **argv)
{
    /* Options with the names of configuration keys. */
    struct daemon_setting settings[SETTING_COUNT + 2] = {
        {.key = "engine"},   {.key = "guid"}, {.key = "ca"},    {.key = "port"},
        {.key = "priority"}, {.key = "lmc"},  {.key = "sweep"}, {.key = "state"},
        {.key = "control"},  {.key = "dump"}, {.key = "log"},   {.key = "partitions"},
        {.key = "metrics"},  {.key = "web"}};
    struct option_spec specs[SETTING_COUNT + 9] = {{0}};
    const char *key_file = NULL, *checked = NULL, *token_file = NULL;
    bool print = false, list = false;
    struct daemon_options options = {
        .settings = settings, .make_workers = workers_of_threads, .print_error = print_error};
    struct err err = {0};
    bool json = false;
    for (int i = 0; i < SETTING_COUNT; i++)
        specs[i] = (struct option_spec){.name = settings[i].key, .value = &settings[i].value};
    specs[SETTING_COUNT - 1].standard = specs[SETTING_COUNT - 2].standard = default_address;
    specs[SETTING_COUNT] = (struct option_spec){.name = "config", .value = &options.config};
    specs[SETTING_COUNT + 1] = (struct option_spec){.name = "once", .flag = &options.once};
    specs[SETTING_COUNT + 2] = (struct option_spec){.name = "json", .flag = &json};
    specs[SETTING_COUNT + 3] = (struct option_spec){.name = "make-key", .value = &key_file};
    specs[SETTING_COUNT + 4] = (struct option_spec){.name = "check-config", .value = &checked};
    specs[SETTING_COUNT + 5] = (struct option_spec){.name = "print-config", .flag = &print};
    specs[SETTING_COUNT + 6] = (struct option_spec){.name = "list-opensm-keys", .flag = &list};
    specs[SETTING_COUNT + 7] = (struct option_spec){.name = "token-file", .value = &token_file};
    argc = command_options("sm", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc > 1)
        return command_usage("sm", "'%s' is one argument too many", argv[1]);
    if (key_file)
        return key_file_make(key_file, &err) < 0 ? command_error("sm", &err) : 0;
    if (list) {
        struct text out = {0};
        config_print_opensm_keys(&out);
        return command_print("sm", &out);
    }
    for (int i = 0; i < SETTING_COUNT; i++)
        if (settings[i].value)
            settings[options.setting_count++] = settings[i];
    if (token_file)
        settings[options.setting_count++] = (struct daemon_setting){"token_file", token_file};
    if (json)
        settings[options.setting_count++] = (struct daemon_setting){"json", "yes"};
    if (checked || print)
        return show_config(&options, checked);
    int status = daemon_run(&options, &err);
    return status < 0 ? command_error("sm", &err) : status;
}

const struct command command_sm = {
    .name = "sm",
    .summary = "run the subnet manager",
    .help = help,
    .print_more = print_more,
    .run = run_sm,
};
