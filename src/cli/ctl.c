/* weft ctl: sends one command to a running fabric or manager and prints the answer. The server
 * defines the commands. A manager answers a request for a virtual machine at once, with a ticket if
 * the work takes time; the ticket is then queried until the work is done. */
#include "cli/ctl.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/command.h"
#include "experiment/live/live.h"
#include "host/daemon/control/manager_command.h"
#include "host/server/session.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: weft ctl [--socket PATH | --manager] [--json] [--] COMMAND ...\n"
    "\n"
    "Sends a command to a fabric that 'weft fabric' or 'weft live' serves, or to a\n"
    "manager (below). The socket is PATH, else the value of WEFT_SOCKET, else the\n"
    "default path of 'weft fabric', else that of 'weft live'. NODE is a name, a\n"
    "description or a GUID (0x...).\n"
    "\n";

static const char help_session[] =
    "\n"
    "A session of 'weft live' has these too, and records actions as statements:\n"
    "\n";

static const char help_manager[] =
    "\n"
    "The commands of a manager use its socket: PATH, else the value of\n"
    "WEFT_SM_SOCKET, else the default of 'weft sm': WEFT_SOCKET with .sm appended if\n"
    "it is set, /run/weft/sm.sock, or in the user's runtime directory; else the\n"
    "managers of 'weft live' answer. 'status' and 'counters' are for the manager if\n"
    "there is no fabric, or with --manager.\n"
    "\n";

static const char help_end[] =
    "\n"
    "HYPERVISOR is a name or GUID, or auto (the default): the one with the fewest\n"
    "machines, for a migration at the same leaf switch if possible; --on HYPERVISOR,\n"
    "--to HYPERVISOR and --mode balanced|minimal say the same. NAME may be a GUID\n"
    "(0x...). These commands wait until every switch has acknowledged, for at most\n"
    "--timeout (60s), unless --no-wait is given. '--' ends the options.\n"
    "\n"
    "exit status: 0 success, 1 a request for a machine failed or is not finished, 2\n"
    "bad usage, or no server.\n"
    "\n"
    "examples:\n"
    "  weft ctl fail link leaf3 12\n"
    "  weft ctl drop 5% attribute LinearForwardingTable\n"
    "  weft ctl --json counters spine1 | jq '.[].totals.transmit_packets'\n";

static void print_help(FILE *out)
{
    ctl_print_commands(out, fabric_control_tables, NULL, NULL);
    ctl_print_actions(out);
    fputs(help_session, out);
    ctl_print_commands(out, live_control_tables, fabric_control_tables, manager_control_tables);
    fputs(help_manager, out);
    ctl_print_commands(out, manager_control_tables, NULL, NULL);
    fputs(help_end, out);
}

static struct {
    const char *path, *on, *to, *mode, *timeout, *interval;
    bool json, no_wait, manager, follow;
} given;

static const struct option_spec options[] = {{"--socket PATH", NULL, .value = &given.path},
                                             {"--json", NULL, .flag = &given.json},
                                             {"--on HYPERVISOR", NULL, .value = &given.on},
                                             {"--to HYPERVISOR", NULL, .value = &given.to},
                                             {"--mode MODE", NULL, .value = &given.mode},
                                             {"--timeout TIME", NULL, .value = &given.timeout},
                                             {"--no-wait", NULL, .flag = &given.no_wait},
                                             {"--interval TIME", NULL, .value = &given.interval},
                                             {"--manager", NULL, .flag = &given.manager},
                                             {"--follow", NULL, .flag = &given.follow},
                                             {0}};

enum { POLL_MS = 10 };

/* Repeats the request until the work is done: a handover, or the ticket in the answer (text or
 * JSON). */
static int wait_for_end(const struct ctl_sockets *sockets, const char *command, double until,
                        struct text *out, int *result, struct err *err)
{
    char ticket[24] = "";
    const char *about_ticket[] = {"vm", "ticket", ticket};
    const char *about_handover[] = {"handover", "status"};
    bool handover = strcmp(command, "handover") == 0;
    const struct option_values question = {handover ? about_handover : about_ticket,
                                           handover ? 2 : 3, handover ? 2 : 3};
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    const char *at = out->data ? strstr(out->data, "ticket") : NULL;
    if (at)
        at += strcspn(at, "0123456789");
    snprintf(ticket, sizeof ticket, "%llu", at ? strtoull(at, NULL, 10) : 0);
    if (!handover && *ticket == '0')
        return err_set(err, EIO, "the manager's answer has no ticket");
    while (*result == CTL_PENDING) {
        if (clock_seconds() > until && handover)
            return err_set(err, ETIMEDOUT, "not handed over yet: %s", out->data ? out->data : "");
        if (clock_seconds() > until)
            return err_set(err, ETIMEDOUT,
                           "not finished yet: 'weft ctl vm ticket %s' prints the result", ticket);
        nanosleep(&pause, NULL);
        text_clear(out);
        int status = ctl_send(sockets, &question, given.json, NULL, out, result, err);
        if (status == -ECONNREFUSED || status == -ENOENT || status == -ECONNRESET)
            return err_set(err, -status,
                           "the manager ended before the request did: the outcome is not known");
        if (status < 0)
            return status;
    }
    return 0;
}

/* Appends the options of 'vm' to the command: "at HOST" or "to HOST", MODE. */
static int add_machine_options(struct option_values *words)
{
    const char *verb = words->count > 1 ? words->items[1] : "";
    const char *place = given.on ? given.on : given.to;
    bool migrates = strcmp(verb, "migrate") == 0;
    bool creates = strcmp(verb, "create") == 0 || strcmp(verb, "start") == 0;
    if ((place || given.mode) && !creates && !migrates)
        return command_usage("'vm %s' takes no --on, --to or --mode", verb);
    if (place) {
        vec_push(words, creates ? "at" : "to");
        vec_push(words, place);
    }
    if (given.mode)
        vec_push(words, given.mode);
    return EXIT_HOLDS;
}

/* Prints the server's answer; returns the exit status. A refused request for a machine is an object
 * in JSON: what is wrong, and its kind. */
static int print_result(struct text *out, int result, const struct option_values *words)
{
    bool vm = words->count && strcmp(words->items[0], "vm") == 0;
    bool refused = result < 0 && !(vm && given.json);
    if (result == -ENOSYS)
        ctl_add_servers(out, words);
    if (result < 0 && !refused && !(out->length && out->data[0] == '{')) {
        struct text reason = *out;
        *out = (struct text){0};
        struct record record = record_to(out, true, false);
        record_begin(&record, NULL);
        record_string(&record, "error", NULL, reason.length ? reason.data : "");
        record_string(&record, "code", NULL,
                      result == -ENOENT  ? "ENOENT"
                      : result == -EPERM ? "EPERM"
                      : result == -EIO   ? "EIO"
                                         : "EINVAL");
        record_end(&record);
        text_release(&reason);
    }
    if (refused)
        fputs("weft ctl: ", stderr);
    ctl_print_answer(refused ? stderr : stdout, out);
    if (result >= 0)
        return EXIT_HOLDS;
    return !vm || result == -EINVAL || result == -ENOSYS ? EXIT_USAGE : EXIT_FAILS;
}

static int run_ctl(int argc, char **argv, struct err *err)
{
    bool ended = false;
    uint64_t patience = 60 * NS_PER_S, renewal = 2 * NS_PER_S;
    struct option_values words = {0};
    struct ctl_sockets sockets;
    struct text out = {0};
    int result = 0, status = EXIT_HOLDS;
    for (int i = 1; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0) /* ends the options */
            ended = true;
        else
            vec_push(&words, argv[i]);
    }
    const char *command = words.count ? words.items[0] : "";
    bool vm = strcmp(command, "vm") == 0, handover = strcmp(command, "handover") == 0;
    bool top = strcmp(command, "top") == 0;
    if (!words.count)
        status = command_usage("no command");
    else if (!vm && (given.on || given.to || given.mode))
        status = command_usage("--on, --to and --mode are options of 'vm'");
    else if (!vm && !handover && (given.timeout || given.no_wait))
        status = command_usage("--timeout and --no-wait are options of 'vm' and 'handover'");
    else if (given.timeout && !time_parse_ns(given.timeout, &patience))
        status = command_usage("--timeout %s: expected a time such as 30s", given.timeout);
    else if (given.interval && !top)
        status = command_usage("--interval is an option of 'top'");
    else if (given.interval &&
             (!time_parse_ns(given.interval, &renewal) || renewal < 100 * NS_PER_MS))
        status = command_usage("--interval %s: expected a time of at least 100ms", given.interval);
    else if (given.follow && (strcmp(command, "events") != 0 || words.count > 1))
        status = command_usage("--follow is an option of 'events'");
    else if (vm)
        status = add_machine_options(&words);
    if (given.follow)
        vec_push(&words, "follow");
    double until = clock_seconds() + (double)patience / NS_PER_S;
    ctl_choose_sockets(&sockets, given.path, &words, given.manager);
    if (status == EXIT_HOLDS && top && !given.json && ctl_top_can_be_live())
        status = ctl_top(&sockets, &words, renewal, err);
    else if (status == EXIT_HOLDS)
        status = ctl_send(&sockets, &words, given.json, given.follow ? stdout : NULL, &out, &result,
                          err);
    if (status == 0 && result == CTL_PENDING && !given.no_wait)
        status = wait_for_end(&sockets, command, until, &out, &result, err);
    if (status == -ETIMEDOUT) {
        command_error(err);
        status = EXIT_FAILS;
    } else if (status == 0) {
        status = print_result(&out, result, &words);
    }
    vec_release(&words);
    text_release(&out);
    return status;
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "control a running fabric or subnet manager",
    .usage = usage,
    .options = options,
    .more = "",
    .print_more = print_help,
    .run = run_ctl,
};
