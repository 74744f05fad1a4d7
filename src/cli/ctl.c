/* weft ctl: sends one command to a running fabric or manager and prints the answer. The server
 * defines the commands. A manager answers a request for a virtual machine at once, with a ticket if
 * the work takes time; the ticket is then queried until the work is done. */
#include "base/mem.h"
#include "base/time.h"
#include "cli/command.h"
#include "host/socket/endpoint.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: weft ctl [--socket PATH] [--json] [--] COMMAND ...\n"
    "\n"
    "Talks to the fabric that 'weft fabric' serves: at PATH, or where WEFT_SOCKET\n"
    "says, or where a fabric without --socket listens. NODE is a name, a description\n"
    "or a GUID (0x...).\n"
    "\n"
    "  status                           what is up, what passed, who is attached\n"
    "  counters [NODE [PORT]]           performance counters\n"
    "  link down|up NODE PORT           cut a cable, plug it in again\n"
    "  switch down|up NODE              switch a switch off and on; it comes back\n"
    "                                   blank\n"
    "  node down|up NODE                the same for any node\n"
    "  flap NODE PORT                   a link goes down and trains again\n"
    "  drop P% [NODE PORT] [attribute NAME|0x..]\n"
    "                                   lose SMPs: on all links or one, of all\n"
    "                                   attributes or one; 0% takes the rule back\n"
    "  agent slow NODE TIME             an agent answers that much later (50ms, 2s)\n"
    "  agent mute|heal NODE             never, or as it used to\n"
    "  guid NODE GUID                   give a node another GUID\n"
    "  errors NODE PORT COUNT           bit errors, as this port sees them\n"
    "  stop                             end the server\n"
    "\n"
    "At the control socket of a manager ('weft sm --control PATH') the commands are:\n"
    "\n"
    "  status                           master or not, what it manages, SMPs\n"
    "  topology | routes | events       end ports, confirmed tables, what happened\n"
    "                                   lately\n"
    "  reroute | sweep                  compute routes anew; look at everything anew\n"
    "  handover                         to a standby, and give way to it\n"
    "  dump                             write the files of --dump now\n"
    "  vm create NAME [--on HOST]       a virtual machine gets a function of a\n"
    "                                   hypervisor\n"
    "  vm migrate NAME [--to HOST] [--mode balanced|minimal]\n"
    "                                   it moves, and its addresses with it\n"
    "  vm destroy NAME                  it gives its function back\n"
    "  vm list | vm show NAME           which there are; where one is\n"
    "  vm ticket NUMBER                 how a request went that nobody waited for\n"
    "\n"
    "HOST is a hypervisor's name or GUID, or auto (the default): the one with the\n"
    "fewest machines, for a move at the same leaf switch if possible. NAME may be a\n"
    "GUID (0x...). These wait until all is done, for at most --timeout (60s), unless\n"
    "there is --no-wait. Behind '--' words are no options, whatever they begin with.\n"
    "\n"
    "exit status: 0 done, 1 a request for a machine failed or is not done yet, 2 bad\n"
    "usage, or nobody listens.\n"
    "\n"
    "examples:\n"
    "  weft ctl link down leaf3 12\n"
    "  weft ctl drop 5% attribute LinearForwardingTable\n"
    "  weft ctl --json counters spine1 | jq '.[].PortXmitPkts'\n";

enum { PENDING = 1, POLL_MS = 10 };

/* Sends the words to the socket (NULL: the default one). Returns 0 with the server's result and
 * text, or -errno if there was no answer. */
static int ask(const char *path, const struct option_values *words, bool json, struct text *out,
               int *result, struct err *err)
{
    struct request request = {
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .ask = ASK_CTL, .json = json};
    struct sockaddr_un address;
    struct answer answer;
    char packet[64 * 1024];
    size_t used = 0, skip = sizeof answer;
    for (size_t i = 0; i < words->count; i++) {
        size_t length = strlen(words->items[i]) + 1;
        if (length == 1)
            return err_set(err, EINVAL, "an empty word says nothing");
        if (used + length >= sizeof request.text)
            return err_set(err, EINVAL, "the command is too long");
        memcpy(request.text + used, words->items[i], length);
        used += length;
    }
    int fd = endpoint_connect(path, &address);
    if (fd < 0)
        return err_set(err, -fd, "nobody listens at '%s': %s", address.sun_path, strerror(-fd));
    ssize_t got = send(fd, &request, sizeof request, MSG_NOSIGNAL);
    if (got > 0)
        got = recv(fd, packet, sizeof packet, 0);
    int status = got < (ssize_t)sizeof answer ? err_set(err, EIO, "the server hung up") : 0;
    if (status == 0) {
        memcpy(&answer, packet, sizeof answer);
        *result = answer.result;
    }
    for (; status == 0 && got > 0; got = recv(fd, packet, sizeof packet, 0)) {
        text_append(out, packet + skip, (size_t)got - skip);
        skip = 0;
    }
    close(fd);
    return status;
}

/* Queries the ticket that the answer names, in text or JSON, until the work is done. */
static int wait_for_ticket(const char *path, bool json, double until, struct text *out, int *result,
                           struct err *err)
{
    char ticket[24];
    const char *words[] = {"vm", "ticket", ticket};
    const struct option_values question = {words, 3, 3};
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    const char *at = out->data ? strstr(out->data, "ticket") : NULL;
    if (at)
        at += strcspn(at, "0123456789");
    snprintf(ticket, sizeof ticket, "%llu", at ? strtoull(at, NULL, 10) : 0);
    if (*ticket == '0')
        return err_set(err, EIO, "the manager's answer has no ticket");
    while (*result == PENDING) {
        if (clock_seconds() > until)
            return err_set(err, ETIMEDOUT,
                           "not done yet: it goes on; 'weft ctl vm ticket %s' tells how", ticket);
        nanosleep(&pause, NULL);
        text_clear(out);
        int status = ask(path, &question, json, out, result, err);
        if (status < 0)
            return status;
    }
    return 0;
}

/* For a terminal: of control characters only ends of lines and tabs pass. An answer is one line, or
 * several that end in one. */
static void print_answer(FILE *to, struct text *text)
{
    while (text->length && text->data[text->length - 1] == '\n')
        text->data[--text->length] = 0;
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            fprintf(to, "\\x%02x", c);
        else
            putc(c, to);
    }
    if (text->length || to == stderr)
        putc('\n', to);
}

/* What goes behind the words of 'vm': "on HOST" or "to HOST", "mode MODE". */
static int add_machine_options(struct option_values *words, const char *place, const char *mode)
{
    const char *verb = words->count > 1 ? words->items[1] : "";
    bool creates = strcmp(verb, "create") == 0, migrates = strcmp(verb, "migrate") == 0;
    if (words->count > 3)
        return command_usage("ctl", "one machine at a time: what is '%s'?", words->items[3]);
    if ((place || mode) && !creates && !migrates)
        return command_usage("ctl", "'vm %s' goes without a place and a mode", verb);
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

static int run(int argc, char **argv)
{
    const char *path = NULL, *on = NULL, *to = NULL, *mode = NULL, *timeout = NULL;
    bool json = false, no_wait = false, ended = false;
    uint64_t patience = 60 * NS_PER_S;
    struct option_values words = {0};
    struct text out = {0};
    struct err err = {0};
    int result = 0, status = EXIT_HOLDS;
    const struct option_spec specs[] = {
        {.name = "socket", .value = &path},    {.name = "json", .flag = &json},
        {.name = "on", .value = &on},          {.name = "to", .value = &to},
        {.name = "mode", .value = &mode},      {.name = "timeout", .value = &timeout},
        {.name = "no-wait", .flag = &no_wait}, {0}};
    argc = command_options("ctl", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    for (int i = 1; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0) /* ends the options */
            ended = true;
        else
            vec_push(&words, argv[i]);
    }
    bool vm = words.count && strcmp(words.items[0], "vm") == 0;
    if (!words.count)
        status = command_usage("ctl", "no command");
    else if (!vm && (on || to || mode || timeout || no_wait))
        status = command_usage("ctl", "--on, --to, --mode, --timeout and --no-wait go with 'vm'");
    else if (timeout && !time_parse_ns(timeout, &patience))
        status = command_usage("ctl", "'%s' is no time such as 30s", timeout);
    else if (vm)
        status = add_machine_options(&words, on ? on : to, mode);
    double until = clock_seconds() + (double)patience / NS_PER_S;
    if (status == EXIT_HOLDS)
        status = ask(path, &words, json, &out, &result, &err);
    if (status == 0 && result == PENDING && !no_wait)
        status = wait_for_ticket(path, json, until, &out, &result, &err);
    if (status < 0) {
        command_error("ctl", &err);
        status = status == -ETIMEDOUT ? EXIT_FAILS : EXIT_USAGE;
    } else if (status == 0) {
        bool refused = result < 0 && !(vm && json);
        if (refused)
            fputs("weft ctl: ", stderr);
        print_answer(refused ? stderr : stdout, &out);
        status = result >= 0 ? EXIT_HOLDS : !vm || result == -EINVAL ? EXIT_USAGE : EXIT_FAILS;
    }
    vec_release(&words);
    text_release(&out);
    return status;
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "ask a running fabric or manager, break and mend",
    .help = help,
    .run = run,
};
