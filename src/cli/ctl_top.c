/* weft ctl top at a terminal: renews the answer of the manager like top(1).
 *
 *   q             end
 *   l w e d       sort by load, wait share, errors, discards
 *   h             the last hour instead of the last interval, and back
 *   any other     renew now
 *
 * The manager sorts and cuts: the client asks for as many rows as the terminal has left. */
#include "base/parse.h"
#include "base/time.h"
#include "cli/ctl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINES_OTHERWISE = 24, OTHER_LINES = 14, ROWS_LEAST = 5 };

struct top_view {
    const char *key, *rows; /* rows NULL: as many as there is room for */
    bool hour;
    bool ended;
};

static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
    interrupted |= number != SIGWINCH;
}

bool ctl_top_can_be_live(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static unsigned lines_of_terminal(void)
{
    struct winsize size = {0};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row
                                                                       : LINES_OTHERWISE;
}

static int fetch(const struct ctl_sockets *sockets, const struct top_view *view, struct text *out,
                 struct err *err)
{
    char room[16];
    unsigned lines = lines_of_terminal();
    const char *words[4] = {"top", view->key, room};
    struct option_values command = {words, 3, 4};
    int result = 0;
    snprintf(room, sizeof room, "%u",
             lines > OTHER_LINES + ROWS_LEAST ? lines - OTHER_LINES : ROWS_LEAST);
    if (view->rows)
        words[2] = view->rows;
    if (view->hour)
        words[command.count++] = "hour";
    int status = ctl_send(sockets, &command, false, NULL, out, &result, err);
    if (status == 0 && result < 0)
        status = err_set(err, -result, "%s", out->data ? out->data : "refused");
    return status;
}

/* Writes the text over the previous one, line by line, as far as the terminal has lines. */
static void draw(const struct text *answer)
{
    struct text escaped = {0}, screen = {0};
    unsigned left = lines_of_terminal();
    text_put_shown(&escaped, answer->data ? answer->data : "");
    text_puts(&screen, "\033[H");
    for (char *at = escaped.data, *line; at && left-- > 0 && (line = strsep(&at, "\n")) != NULL;)
        text_printf(&screen, "%s\033[K%s", line, left && at ? "\r\n" : "");
    text_puts(&screen, "\033[J");
    fwrite(screen.data, 1, screen.length, stdout);
    fflush(stdout);
    text_release(&escaped);
    text_release(&screen);
}

/* Waits for a key, a signal or the end of the interval. */
static void wait_for_key(struct top_view *view, uint64_t interval_ns)
{
    static const struct {
        char key;
        const char *word;
    } keys[] = {{'l', "load"}, {'w', "wait"}, {'e', "errors"}, {'d', "discards"}};
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;
    int ready = poll(&input, 1, (int)(interval_ns / NS_PER_MS));
    if (ready > 0 && read(STDIN_FILENO, &key, 1) == 1) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (keys[i].key == key)
                view->key = keys[i].word;
        view->hour ^= key == 'h';
        view->ended |= key == 'q';
    } else if (ready > 0 || (ready < 0 && errno != EINTR)) {
        view->ended = true; /* the terminal is gone */
    }
}

int ctl_top(const struct ctl_sockets *sockets, const struct option_values *words,
            uint64_t interval_ns, struct err *err)
{
    struct top_view view = {.key = "load"};
    struct sigaction action = {.sa_handler = note_signal};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
    struct termios before, raw;
    struct text answer = {0};
    uint64_t number = 0;
    for (size_t i = 1; i < words->count; i++) {
        if (strcmp(words->items[i], "hour") == 0)
            view.hour = true;
        else if (parse_bounded(words->items[i], 0, UINT32_MAX, &number))
            view.rows = words->items[i];
        else
            view.key = words->items[i];
    }
    int status = fetch(sockets, &view, &answer, err);
    if (status < 0 || tcgetattr(STDIN_FILENO, &before) < 0) {
        text_release(&answer);
        return status < 0 ? status : err_set(err, errno, "no terminal: %s", strerror(errno));
    }
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l", stdout); /* another screen, without a cursor */
    while (status == 0 && !view.ended && !interrupted) {
        draw(&answer);
        wait_for_key(&view, interval_ns);
        text_clear(&answer);
        if (!view.ended && !interrupted)
            status = fetch(sockets, &view, &answer, err);
    }
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    text_release(&answer);
    return status;
}
