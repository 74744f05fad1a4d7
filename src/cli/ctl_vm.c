/* weft ctl vm: virtual machines. The manager answers at once, with a ticket if the work takes
 * time; this asks for the ticket until it is done. */
#include "base/time.h"
#include "cli/command.h"
#include "cli/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS_MOST = 8, PENDING = 1, POLL_MS = 10 };

/* The number behind "ticket", in text or JSON. */
static bool find_ticket(const struct text *text, char ticket[24])
{
    const char *at = text->data ? strstr(text->data, "ticket") : NULL;
    if (!at)
        return false;
    at += strcspn(at, "0123456789");
    return snprintf(ticket, 24, "%llu", strtoull(at, NULL, 10)) > 0 && *ticket != '0';
}

static int wait_for(const struct ctl_machine_options *options, double until, struct text *out,
                    int *result, struct err *err)
{
    char ticket[24];
    if (!find_ticket(out, ticket))
        return err_set(err, EIO, "the manager's answer has no ticket");
    const char *const words[] = {"vm", "ticket", ticket};
    struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    while (*result == PENDING) {
        if (clock_seconds() > until)
            return err_set(err, ETIMEDOUT,
                           "not done yet: it goes on; 'weft ctl vm ticket %s' tells how", ticket);
        nanosleep(&pause, NULL);
        text_clear(out);
        int status = ctl_ask(options->path, words, 3, options->json, out, result, err);
        if (status < 0)
            return status;
    }
    return 0;
}

static int pack(const struct ctl_machine_options *options, int argc, char **argv,
                const char **words, size_t *count)
{
    const char *verb = argc > 2 ? argv[2] : "";
    bool creates = strcmp(verb, "create") == 0, migrates = strcmp(verb, "migrate") == 0;
    if (argc > 4)
        return command_usage("ctl", "one machine at a time: what is '%s'?", argv[4]);
    if ((options->place || options->mode) && !creates && !migrates)
        return command_usage("ctl", "'vm %s' goes without a place and a mode", verb);
    for (int i = 1; i < argc; i++)
        words[(*count)++] = argv[i];
    if (options->place) {
        words[(*count)++] = creates ? "on" : "to";
        words[(*count)++] = options->place;
    }
    if (options->mode) {
        words[(*count)++] = "mode";
        words[(*count)++] = options->mode;
    }
    return 0;
}

/* An answer is one line, or several that end in one. */
static void print_answer(const struct ctl_machine_options *options, struct text *out, int result)
{
    while (out->length && out->data[out->length - 1] == '\n')
        out->data[--out->length] = 0;
    if (result < 0 && !options->json) {
        ctl_complain(out);
        return;
    }
    if (out->length)
        text_putc(out, '\n');
    ctl_print(stdout, out);
}

int ctl_machines(const struct ctl_machine_options *options, int argc, char **argv)
{
    const char *words[WORDS_MOST];
    size_t count = 0;
    struct err err = {0};
    struct text out = {0};
    int result = 0;
    uint64_t patience = 60 * NS_PER_S;
    if (options->patience && !time_parse_ns(options->patience, &patience))
        return command_usage("ctl", "'%s' is no time such as 30s", options->patience);
    if (pack(options, argc, argv, words, &count) != 0)
        return EXIT_USAGE;
    double until = clock_seconds() + (double)patience / NS_PER_S;
    int status = ctl_ask(options->path, words, count, options->json, &out, &result, &err);
    if (status == 0 && result == PENDING && !options->no_wait)
        status = wait_for(options, until, &out, &result, &err);
    if (status == 0)
        print_answer(options, &out, result);
    text_release(&out);
    if (status < 0)
        return status == -ETIMEDOUT ? (command_error("ctl", &err), EXIT_FAILS)
                                    : command_error("ctl", &err);
    return result >= 0 ? EXIT_HOLDS : result == -EINVAL ? EXIT_USAGE : EXIT_FAILS;
}
