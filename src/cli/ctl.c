/* weft ctl: one command to a running fabric or manager. They know the commands; this carries words
 * there and text back. */
#include "cli/ctl.h"

#include "cli/command.h"
#include "host/socket/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

static int pack_words(struct request *request, const char *const *words, size_t count,
                      struct err *err)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]) + 1;
        if (length == 1)
            return err_set(err, EINVAL, "an empty word says nothing");
        if (used + length >= sizeof request->text)
            return err_set(err, EINVAL, "the command is too long");
        memcpy(request->text + used, words[i], length);
        used += length;
    }
    return 0;
}

static int connect_to_server(const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = path ? snprintf(address.sun_path, sizeof address.sun_path, "%s", path)
                      : protocol_socket_path(address.sun_path, sizeof address.sun_path);
    if (length < 0 || (size_t)length >= sizeof address.sun_path)
        return err_set(err, ENAMETOOLONG, "the socket's path is too long");
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(err, errno, "cannot make a socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(fd);
        return err_set(err, error, "nobody listens at '%s': %s", address.sun_path, strerror(error));
    }
    return fd;
}

/* Returns 0 with the server's result, or -errno. */
static int read_answer(int fd, struct text *out, int *result, struct err *err)
{
    char packet[64 * 1024];
    struct answer answer;
    ssize_t got = recv(fd, packet, sizeof packet, 0);
    if (got < (ssize_t)sizeof answer)
        return err_set(err, EIO, "the server hung up");
    memcpy(&answer, packet, sizeof answer);
    size_t skip = sizeof answer;
    do {
        text_append(out, packet + skip, (size_t)got - skip);
        skip = 0;
        got = recv(fd, packet, sizeof packet, 0);
    } while (got > 0);
    *result = answer.result;
    return 0;
}

int ctl_ask(const char *path, const char *const *words, size_t count, bool json, struct text *out,
            int *result, struct err *err)
{
    struct request request = {
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .ask = ASK_CTL, .json = json};
    int status = pack_words(&request, words, count, err);
    int fd = status < 0 ? status : connect_to_server(path, err);
    if (fd < 0)
        return fd;
    status = send(fd, &request, sizeof request, MSG_NOSIGNAL) < 0
                 ? err_set(err, errno, "cannot ask: %s", strerror(errno))
                 : read_answer(fd, out, result, err);
    close(fd);
    return status;
}

void ctl_print(FILE *to, const struct text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            fprintf(to, "\\x%02x", c);
        else
            putc(c, to);
    }
}

void ctl_complain(const struct text *text)
{
    fputs("weft ctl: ", stderr);
    ctl_print(stderr, text);
    putc('\n', stderr);
}

static int ask_plainly(const char *path, int argc, char **argv, bool json)
{
    struct err err = {0};
    struct text out = {0};
    int result = 0;
    int status =
        ctl_ask(path, (const char *const *)argv + 1, (size_t)argc - 1, json, &out, &result, &err);
    if (status < 0) {
        text_release(&out);
        return command_error("ctl", &err);
    }
    if (result < 0)
        ctl_complain(&out);
    else
        ctl_print(stdout, &out);
    text_release(&out);
    return result < 0 ? EXIT_USAGE : EXIT_HOLDS;
}

/* The "--" that ends options says nothing to the server. */
static int drop_mark(int argc, char **argv)
{
    int at = 1;
    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at == argc)
        return argc;
    for (; at + 1 < argc; at++)
        argv[at] = argv[at + 1];
    argv[argc - 1] = NULL;
    return argc - 1;
}

static int run(int argc, char **argv)
{
    const char *path = NULL, *on = NULL, *to = NULL, *mode = NULL, *patience = NULL;
    bool json = false, no_wait = false;
    const struct option_spec specs[] = {
        {.name = "socket", .value = &path},    {.name = "json", .flag = &json},
        {.name = "on", .value = &on},          {.name = "to", .value = &to},
        {.name = "mode", .value = &mode},      {.name = "timeout", .value = &patience},
        {.name = "no-wait", .flag = &no_wait}, {0}};
    argc = command_options("ctl", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    argc = drop_mark(argc, argv);
    if (argc < 2)
        return command_usage("ctl", "no command");
    if (strcmp(argv[1], "vm") == 0) {
        struct ctl_machine_options options = {path, on ? on : to, mode, patience, json, no_wait};
        return ctl_machines(&options, argc, argv);
    }
    if (on || to || mode || patience || no_wait)
        return command_usage("ctl", "--on, --to, --mode, --timeout and --no-wait go with 'vm'");
    return ask_plainly(path, argc, argv, json);
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "ask a running fabric or manager, break and mend",
    .help = help,
    .run = run,
};
