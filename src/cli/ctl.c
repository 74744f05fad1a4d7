/* weft ctl: sends one command to a running fabric or manager and prints the answer. The server
 * defines the commands. A manager answers a request for a virtual machine at once, with a ticket if
 * the work takes time; the ticket is then queried until the work is done. */
#include "cli/ctl.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/command.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: weft ctl [--socket PATH | --manager] [--json] [--] COMMAND ...\n"
    "\n"
    "Sends a command to a fabric that 'weft fabric' or 'weft live' serves, or to a\n"
    "manager (below). The socket is PATH, else the value of WEFT_SOCKET, else the\n"
    "default path of 'weft fabric', else that of 'weft live'. NODE is a name, a\n"
    "description or a GUID (0x...).\n"
    "\n"
    "  status                           nodes, links, packets, faults, attached\n"
    "                                   programs\n"
    "  counters [NODE [PORT]]           performance counters, as the fabric counts\n"
    "  path FROM TO                     SL and links of the path by the tables\n"
    "  deadlock                         a cycle of packets that wait for each other\n"
    "  link down|up NODE PORT           disconnect a cable, connect it again\n"
    "  switch down|up NODE              turn a switch off or on; it comes back with\n"
    "                                   its initial state\n"
    "  node down|up NODE                the same for any node\n"
    "  flap NODE PORT                   the link goes down and trains again\n"
    "  drop P% [NODE PORT] [attribute NAME|0x..]\n"
    "                                   drop SMPs: on all links or one, of all\n"
    "                                   attributes or one; 0% removes the rule\n"
    "  agent slow NODE TIME             delay the responses of an agent (50ms, 2s)\n"
    "  agent mute|heal NODE             stop its responses; restore them\n"
    "  guid NODE GUID                   give a node another GUID\n"
    "  errors NODE PORT COUNT[/s]       make this port see bit errors; with /s, both\n"
    "                                   ports of the cable, every second\n"
    "  traffic start|stop               the data packets of 'weft fabric --traffic'\n"
    "  stop                             end the server\n"
    "\n"
    "A session of 'weft live' has four more, and records actions as statements:\n"
    "\n"
    "  managers | changes | versions    states of managers; last changes of the\n"
    "                                   subnet; versions of the tables\n"
    "  act ACTION                       an action of weft-scenario(5): kill sm H0\n"
    "\n"
    "The commands of a manager use its socket: PATH, else the value of\n"
    "WEFT_SM_SOCKET, else the default of 'weft sm': WEFT_SOCKET with .sm appended if\n"
    "it is set, /run/weft/sm.sock, or in the user's runtime directory; else the\n"
    "managers of 'weft live' answer. 'status' and 'counters' are for the manager if\n"
    "there is no fabric, or with --manager.\n"
    "\n"
    "  status                           state, port, subnet, SMPs, number of problems\n"
    "  problems                         present problems of the subnet, by location\n"
    "  topology | routes | events       end ports; acknowledged tables; recent events\n"
    "  partitions | groups              members of partitions; multicast groups\n"
    "  events --follow                  print each new event until interrupted; with\n"
    "                                   --json one object a line\n"
    "  page                             URL of the live page, with the token that\n"
    "                                   changes need\n"
    "  counters [NODE [PORT]]           counters of all ports with an active link, of\n"
    "                                   a node, or of a port\n"
    "  top [load|wait|errors|discards] [hour] [ROWS]\n"
    "                                   busiest and worst ports, load by stage; live\n"
    "                                   at a terminal, every --interval (2s); keys: q\n"
    "                                   ends, l w e d sort, h: the last hour\n"
    "  reroute | sweep                  compute all routes again; discover the whole\n"
    "                                   subnet again\n"
    "  port disable|enable NODE PORT    disable a link at its switch, enable it again\n"
    "  handover                         hand mastership over to a standby, and wait\n"
    "                                   until it is done (at most --timeout, 60s)\n"
    "  dump                             write the files of 'weft sm --dump' now\n"
    "  vm create NAME [--on HOST]       assign a function of a hypervisor's adapter\n"
    "                                   to a virtual machine\n"
    "  vm migrate NAME [--to HOST] [--mode balanced|minimal]\n"
    "                                   move it, with its GUID and LID\n"
    "  vm destroy NAME                  release its function\n"
    "  vm list | vm show NAME           print all machines, or one\n"
    "  vm ticket NUMBER                 print the result of a request that was made\n"
    "                                   with --no-wait\n"
    "\n"
    "HOST is a hypervisor's name or GUID, or auto (the default): the hypervisor with\n"
    "the fewest machines, for a migration at the same leaf switch if possible. NAME\n"
    "may be a GUID (0x...). These commands wait until every switch has acknowledged,\n"
    "for at most --timeout (60s), unless --no-wait is given. '--' ends the options.\n"
    "\n"
    "exit status: 0 success, 1 a request for a machine failed or is not finished, 2\n"
    "bad usage, or no server.\n"
    "\n"
    "examples:\n"
    "  weft ctl link down leaf3 12\n"
    "  weft ctl drop 5% attribute LinearForwardingTable\n"
    "  weft ctl --json counters spine1 | jq '.[].PortXmitPkts'\n";

enum { POLL_MS = 10 };

/* Repeats the request until the work is done: a handover, or the ticket in the answer (text or
 * JSON). */
static int wait_for_end(const struct ctl_sockets *sockets, const char *command, bool json,
                        double until, struct text *out, int *result, struct err *err)
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
        int status = ctl_send(sockets, &question, json, out, result, err);
        if (status < 0)
            return status;
    }
    return 0;
}

/* Appends the options of 'vm' to the command: "on HOST" or "to HOST", "mode MODE". */
static int add_machine_options(struct option_values *words, const char *place, const char *mode)
{
    const char *verb = words->count > 1 ? words->items[1] : "";
    bool creates = strcmp(verb, "create") == 0, migrates = strcmp(verb, "migrate") == 0;
    if (words->count > 3)
        return command_usage("ctl", "'%s' is one argument too many", words->items[3]);
    if ((place || mode) && !creates && !migrates)
        return command_usage("ctl", "'vm %s' takes no --on, --to or --mode", verb);
    if (place) {
        vec_push(words, creates ? "on" : "to");
        vec_push(words, place);
    }
    if (mode) {
        vec_push(words, "mode");
        vec_push(words, mode);
    }
    return EXIT_HOLDS;
}

/* Prints the server's answer; returns the exit status. */
static int print_result(struct text *out, int result, bool vm, bool json)
{
    bool refused = result < 0 && !(vm && json);
    if (refused)
        fputs("weft ctl: ", stderr);
    ctl_print_answer(refused ? stderr : stdout, out);
    return result >= 0 ? EXIT_HOLDS : !vm || result == -EINVAL ? EXIT_USAGE : EXIT_FAILS;
}

static int run_ctl(int argc, char **argv)
{
    const char *path = NULL, *on = NULL, *to = NULL, *mode = NULL, *timeout = NULL;
    const char *interval = NULL;
    bool json = false, no_wait = false, ended = false, manager = false, follow = false;
    uint64_t patience = 60 * NS_PER_S, renewal = 2 * NS_PER_S;
    struct option_values words = {0};
    struct ctl_sockets sockets;
    struct text out = {0};
    struct err err = {0};
    int result = 0, status = EXIT_HOLDS;
    const struct option_spec specs[] = {{.name = "socket", .value = &path},
                                        {.name = "json", .flag = &json},
                                        {.name = "on", .value = &on},
                                        {.name = "to", .value = &to},
                                        {.name = "mode", .value = &mode},
                                        {.name = "timeout", .value = &timeout},
                                        {.name = "no-wait", .flag = &no_wait},
                                        {.name = "interval", .value = &interval},
                                        {.name = "manager", .flag = &manager},
                                        {.name = "follow", .flag = &follow},
                                        {0}};
    argc = command_options("ctl", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
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
        status = command_usage("ctl", "no command");
    else if (!vm && (on || to || mode))
        status = command_usage("ctl", "--on, --to and --mode are options of 'vm'");
    else if (!vm && !handover && (timeout || no_wait))
        status = command_usage("ctl", "--timeout and --no-wait are options of 'vm' and 'handover'");
    else if (timeout && !time_parse_ns(timeout, &patience))
        status = command_usage("ctl", "--timeout %s: expected a time such as 30s", timeout);
    else if (interval && !top)
        status = command_usage("ctl", "--interval is an option of 'top'");
    else if (interval && (!time_parse_ns(interval, &renewal) || renewal < 100 * NS_PER_MS))
        status = command_usage("ctl", "--interval %s: expected a time of at least 100ms", interval);
    else if (follow && (strcmp(command, "events") != 0 || words.count > 1))
        status = command_usage("ctl", "--follow is an option of 'events'");
    else if (vm)
        status = add_machine_options(&words, on ? on : to, mode);
    if (follow)
        vec_push(&words, "follow");
    double until = clock_seconds() + (double)patience / NS_PER_S;
    ctl_choose_sockets(&sockets, path, command, manager);
    bool live = top && !json && ctl_top_can_be_live();
    if (status == EXIT_HOLDS && live)
        status = ctl_top(&sockets, &words, renewal, &err);
    else if (status == EXIT_HOLDS)
        status = (follow ? ctl_follow : ctl_send)(&sockets, &words, json, &out, &result, &err);
    if (status == 0 && result == CTL_PENDING && !no_wait)
        status = wait_for_end(&sockets, command, json, until, &out, &result, &err);
    if (status < 0) {
        command_error("ctl", &err);
        status = status == -ETIMEDOUT ? EXIT_FAILS : EXIT_USAGE;
    } else if (status == 0) {
        status = print_result(&out, result, vm, json);
    }
    vec_release(&words);
    text_release(&out);
    return status;
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "control a running fabric or subnet manager",
    .help = help,
    .run = run_ctl,
};
