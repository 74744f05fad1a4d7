/* The client's side of `weft ctl`: finds the socket of the server, sends a command, and prints the
 * answer. */
#include "cli/ctl.h"

#include "host/socket/endpoint.h"

#include <errno.h>
#include <string.h>

void ctl_choose_sockets(struct ctl_sockets *sockets, const char *given,
                        const struct option_values *words, bool manager_only)
{
    const char *fabric = getenv(WEFT_SOCKET_VARIABLE), *manager = getenv(WEFT_MANAGER_VARIABLE);
    bool any_manager = !(fabric && *fabric) && !(manager && *manager);
    bool common;
    bool for_manager = (ctl_is_manager_command(words, &common) && !common) || manager_only;
    *sockets = (struct ctl_sockets){0};
    if (given) {
        snprintf(sockets->paths[sockets->count++], CTL_PATH_ROOM, "%s", given);
        return;
    }
    if (!for_manager)
        protocol_socket_path(sockets->paths[sockets->count++], CTL_PATH_ROOM);
    if (!for_manager && any_manager)
        protocol_live_path(sockets->paths[sockets->count++], CTL_PATH_ROOM);
    if (for_manager || (common && any_manager)) {
        protocol_manager_path(sockets->paths[sockets->count++], CTL_PATH_ROOM);
        if (any_manager && getuid() != 0)
            snprintf(sockets->paths[sockets->count++], CTL_PATH_ROOM, "/run/weft/sm.sock");
    }
    if (for_manager && any_manager) {
        char session[CTL_PATH_ROOM - 3];
        protocol_live_path(session, sizeof session);
        snprintf(sockets->paths[sockets->count++], CTL_PATH_ROOM, "%s.sm", session);
    }
}

static int connect_any(const struct ctl_sockets *sockets, struct err *err)
{
    struct sockaddr_un address;
    int first = 0;
    for (unsigned i = 0; i < sockets->count; i++) {
        int fd = endpoint_connect(sockets->paths[i], &address);
        if (fd >= 0)
            return fd;
        first = first ? first : fd;
    }
    struct text tried = {0};
    for (unsigned i = 0; i < sockets->count; i++)
        text_printf(&tried, "%s'%s'",
                    i == 0                   ? ""
                    : i + 1 < sockets->count ? ", "
                                             : " or ",
                    sockets->paths[i]);
    err_set(err, -first, "no server at %s: %s", tried.data, strerror(-first));
    text_release(&tried);
    return first;
}

int ctl_send(const struct ctl_sockets *sockets, const struct option_values *words, bool json,
             FILE *stream, struct text *out, int *result, struct err *err)
{
    struct request request = {
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = REQUEST_CTL, .json = json};
    struct answer answer;
    char packet[64 * 1024];
    size_t used = 0, skip = sizeof answer;
    for (size_t i = 0; i < words->count; i++) {
        size_t length = strlen(words->items[i]) + 1;
        if (length == 1)
            return err_set(err, EINVAL, "a word of the command is empty");
        if (used + length >= sizeof request.text)
            return err_set(err, EINVAL, "the command is too long");
        memcpy(request.text + used, words->items[i], length);
        used += length;
    }
    int fd = connect_any(sockets, err);
    bool common;
    if (fd < 0 && ctl_is_manager_command(words, &common) && !common) {
        struct text text = {0};
        text_printf(&text, "'%s': %s", words->items[0], err->message);
        ctl_add_servers(&text, words);
        err_set(err, -fd, "%s", text.data);
        text_release(&text);
    }
    if (fd < 0)
        return fd;
    ssize_t got = send(fd, &request, sizeof request, MSG_NOSIGNAL);
    if (got > 0)
        got = recv(fd, packet, sizeof packet, 0);
    int status = got < (ssize_t)sizeof answer
                     ? err_set(err, EIO, "the server closed the connection without an answer")
                     : 0;
    if (status == 0) {
        memcpy(&answer, packet, sizeof answer);
        *result = answer.result;
    }
    for (; status == 0 && got > 0; got = recv(fd, packet, sizeof packet, 0)) {
        text_append(out, packet + skip, (size_t)got - skip);
        skip = 0;
        if (!stream || answer.result < 0)
            continue;
        const char *end = memrchr(out->data ? out->data : "", '\n', out->length);
        if (!end)
            continue; /* the rest of the line follows */
        struct text lines = {0}, rest = {0};
        text_puts(&rest, end + 1);
        out->data[end + 1 - out->data] = 0;
        text_put_shown(&lines, out->data);
        fwrite(lines.data, 1, lines.length, stream);
        text_release(&lines);
        text_release(out);
        *out = rest;
        if (fflush(stream) != 0 || ferror(stream))
            break; /* the reader has closed the pipe */
    }
    close(fd);
    if (stream && status == 0 && answer.result >= 0 && got <= 0)
        status = err_set(err, EIO, "the manager has closed the connection");
    return status;
}

void ctl_print_answer(FILE *to, struct text *text)
{
    struct text escaped = {0};
    while (text->length && text->data[text->length - 1] == '\n')
        text->data[--text->length] = 0;
    text_put_shown(&escaped, text->data ? text->data : "");
    if (escaped.length)
        fwrite(escaped.data, 1, escaped.length, to);
    if (text->length || to == stderr)
        putc('\n', to);
    text_release(&escaped);
}
