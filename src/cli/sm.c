/* weft sm: the subnet manager, in the foreground. What it does is in src/sm and
 * src/host/daemon/daemon.c.
 */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/workers.h"
#include "host/daemon/daemon.h"

static const char help[] =
    "usage: weft sm [OPTION ...]\n"
    "\n"
    "Runs a subnet manager on an InfiniBand port of this machine, in the foreground:\n"
    "brings the subnet up, keeps it up, and logs one line for each thing that\n"
    "happens. Uses libibumad, so it runs on hardware, on ibsim ('ibsim-run weft sm')\n"
    "and on a weft fabric ('weft fabric NET -- weft sm').\n"
    "\n"
    "  --once           end when the subnet is up: 0 if it is, 1 if it could not be\n"
    "                   brought up, or a file of --dump or --state not be written\n"
    "  --engine E[,E ...]\n"
    "                   how to route (default: updn); of several engines the first\n"
    "                   that does not refuse its task: see below\n"
    "  --config FILE    'key value' lines, explained in weft-sm.conf(5); options here\n"
    "                   go before it\n"
    "  --guid G         the port with this GUID\n"
    "  --ca NAME        a port of this adapter\n"
    "  --port N         the port with this number (default: the first InfiniBand port\n"
    "                   that is up)\n"
    "  --priority N     0 to 15: the highest of several managers is master (default:\n"
    "                   0)\n"
    "  --lmc N          2^N addresses for each adapter port (default: 0)\n"
    "  --sweep TIME     how often switches are asked for changes, or 'never'\n"
    "                   (default: 10s)\n"
    "  --partitions FILE\n"
    "                   partitions in OpenSM's format (default: none, all may talk\n"
    "                   with all)\n"
    "  --control PATH   answer 'weft ctl --socket PATH' there\n"
    "  --state DIR      keep addresses (guid2lid) and what clients registered\n"
    "                   (opensm-sa.dump) there over restarts, in OpenSM's formats\n"
    "  --dump DIR       after each change write opensm-lfts.dump, opensm-subnet.lst,\n"
    "                   opensm.fdbs, opensm-sl2vl.dump and opensm.mcfdbs there\n"
    "  --log FILE       append the log to this file (default: standard output)\n"
    "  --json           log JSON objects, one a line\n"
    "\n"
    "signals: SIGTERM and SIGINT hand over and end, SIGHUP reads the configuration\n"
    "again, SIGUSR1 looks at the whole subnet again.\n"
    "\n"
    "examples:\n"
    "  weft sm --engine fera --dump /var/lib/weft/dump\n"
    "  weft fabric cluster.net -- weft sm --once --json\n";

static void print_more(FILE *out)
{
    fputs("\nengines:\n", out);
    print_engines(out, 2);
}

enum { SETTING_COUNT = 12 };

static int run(int argc, char **argv)
{
    /* The options whose names are keys of the configuration. */
    struct daemon_setting settings[SETTING_COUNT + 1] = {
        {.key = "engine"},   {.key = "guid"}, {.key = "ca"},    {.key = "port"},
        {.key = "priority"}, {.key = "lmc"},  {.key = "sweep"}, {.key = "state"},
        {.key = "control"},  {.key = "dump"}, {.key = "log"},   {.key = "partitions"}};
    struct option_spec specs[SETTING_COUNT + 4] = {{0}};
    struct daemon_options options = {.settings = settings, .make_workers = workers_of_threads};
    struct err err = {0};
    bool json = false;
    for (int i = 0; i < SETTING_COUNT; i++)
        specs[i] = (struct option_spec){.name = settings[i].key, .value = &settings[i].value};
    specs[SETTING_COUNT] = (struct option_spec){.name = "config", .value = &options.config};
    specs[SETTING_COUNT + 1] = (struct option_spec){.name = "once", .flag = &options.once};
    specs[SETTING_COUNT + 2] = (struct option_spec){.name = "json", .flag = &json};
    argc = command_options("sm", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc > 1)
        return command_usage("sm", "'%s' is one argument too many", argv[1]);
    for (int i = 0; i < SETTING_COUNT; i++)
        if (settings[i].value)
            settings[options.setting_count++] = settings[i];
    if (json)
        settings[options.setting_count++] = (struct daemon_setting){"json", "yes"};
    int status = daemon_run(&options, &err);
    return status < 0 ? command_error("sm", &err) : status;
}

const struct command command_sm = {
    .name = "sm",
    .summary = "run the subnet manager",
    .help = help,
    .print_more = print_more,
    .run = run,
};
