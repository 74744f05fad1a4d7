/* The HTTP server of the daemon, for metrics (`metrics`) and the live page (`web` in
 * weft-sm.conf(5)).
 *
 * There is one server with one thread and one descriptor in the loop. The address of the page also
 * serves the metrics. If the metrics have an address of their own, that one serves nothing else: it
 * is often open to other machines. An address that cannot be used is logged once and tried again,
 * since the subnet needs a manager in any case.
 *
 * The token that changes need is never logged, because logs are kept and forwarded: `weft ctl page`
 * prints it, and so does the manager itself if its standard output is a terminal. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/http/address.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { ROUTES_MOST = 64, LOOP_PERCENT = 5 /* for requests without the token */ };
static const uint64_t retry_interval = 5 * NS_PER_S;

struct listen_address {
    const char *text;
    bool page; /* else only metrics */
    bool restricted;
    int listener;      /* negative: not yet; -errno */
    struct err reason; /* of that */
};

struct daemon_http {
    struct http_server *server;
    struct http_route routes[ROUTES_MOST];
    size_t route_count;
    struct listen_address addresses[2];
    unsigned address_count;
    uint64_t retry_at; /* TIME_NEVER: all addresses are in use */
};

static void log_address(struct daemon *daemon, const struct listen_address *at)
{
    const char *url = http_listener_address(daemon->http->server, (unsigned)at->listener);
    char page[512];
    if (!at->page) {
        event_log_write(&daemon->log, "metrics", "at %s/metrics", url);
        return;
    }
    event_log_write(&daemon->log, "page", "at %s ('weft ctl page' prints its URL with the token)",
                    url);
    if (daemon->config->metrics && daemon->http->address_count == 1)
        event_log_write(&daemon->log, "metrics", "at %s/metrics", url);
    bool json_log = daemon->log.options.json && !daemon->log.options.path;
    if (!isatty(STDOUT_FILENO) || json_log)
        return;
    http_page_url(daemon->http->server, (unsigned)at->listener, page, sizeof page);
    fflush(daemon->log.file);
    printf("%s\n", page);
    fflush(stdout);
}

static void listen_where_missing(struct daemon *daemon, uint64_t now)
{
    struct daemon_http *http = daemon->http;
    http->retry_at = TIME_NEVER;
    for (unsigned i = 0; i < http->address_count; i++) {
        struct listen_address *at = &http->addresses[i];
        bool logged = at->reason.message[0] != 0;
        if (at->listener >= 0)
            continue;
        at->listener = http_server_listen(http->server, at->text, at->restricted, &at->reason);
        if (at->listener >= 0) {
            log_address(daemon, at);
            continue;
        }
        http->retry_at = now + retry_interval;
        if (!logged)
            event_log_write(
                &daemon->log, "error", "no %s: %s; the manager tries again every 5 s (key '%s')",
                at->page ? "page" : "metrics", at->reason.message, at->page ? "web" : "metrics");
    }
}

void daemon_open_http(struct daemon *daemon, uint64_t now)
{
    const struct config *config = daemon->config;
    char token[HTTP_TOKEN_MOST + 1] = "", text[1024];
    struct err err = {0};
    if ((!config->metrics && !config->web) || daemon->options->once)
        return;
    struct daemon_http *http = daemon->http = mem_zalloc(1, sizeof *http);
    if (config->token_file && http_token_read(config->token_file, token, &err) < 0)
        event_log_write(&daemon->log, "error", "%s; the page has a random token (key 'token_file')",
                        err_text(&err, text, sizeof text));
    if (config->web)
        http->route_count = daemon_open_web(daemon, http->routes, ROUTES_MOST - 2);
    http->route_count += daemon_open_metrics(daemon, http->routes + http->route_count);
    struct http_options options = {.token = *token ? token : NULL,
                                   .routes = http->routes,
                                   .route_count = http->route_count,
                                   .limits = http_default_limits};
    options.limits.loop_percent = LOOP_PERCENT;
    http_server_new(&http->server, &options, NULL); /* the token is valid */
    if (config->web)
        http->addresses[http->address_count++] =
            (struct listen_address){.text = config->web, .page = true, .listener = -1};
    if (config->metrics && (!config->web || !http_address_same(config->web, config->metrics)))
        http->addresses[http->address_count++] = (struct listen_address){
            .text = config->metrics, .restricted = config->web != NULL, .listener = -1};
    daemon->watched[WATCH_HTTP].fd = http_server_fd(http->server);
    listen_where_missing(daemon, now);
    explicit_bzero(token, sizeof token);
}

void daemon_close_http(struct daemon *daemon)
{
    if (!daemon->http)
        return;
    http_server_stop(daemon->http->server);
    daemon_close_metrics(daemon);
    daemon_close_web(daemon);
    mem_free(daemon->http);
    daemon->http = NULL;
}

/* RestrictAddressFamilies= and SocketBindDeny= of a unit cause EAFNOSUPPORT and EPERM. */
static const char *remedy(int error)
{
    return error == EADDRINUSE ? "another program uses it: end that, or choose another port"
           : error == EACCES   ? "choose a port above 1023, or a directory of the manager's user"
           : error == EAFNOSUPPORT || error == EPERM
               ? "the unit forbids it: run 'systemctl daemon-reload' and restart the manager"
           : error == EADDRNOTAVAIL ? "no interface of this machine has this address"
                                    : "correct the address";
}

void daemon_list_listeners(const struct daemon *daemon, struct problems *problems)
{
    for (unsigned i = 0; daemon->http && i < daemon->http->address_count; i++) {
        const struct listen_address *at = &daemon->http->addresses[i];
        if (at->listener < 0)
            problems_add_object(problems, PROBLEM_LISTENER, at->page ? "web" : "metrics",
                                "%s (%s); weft tries again every 5 s", at->reason.message,
                                remedy(-at->listener));
    }
}

uint64_t daemon_http_deadline(const struct daemon *daemon)
{
    return daemon->http ? daemon->http->retry_at : TIME_NEVER;
}

void daemon_serve_http(struct daemon *daemon, uint64_t now)
{
    if (!daemon->http)
        return;
    if (daemon->http->retry_at <= now)
        listen_where_missing(daemon, now);
    http_server_serve(daemon->http->server);
}

int daemon_page_url(void *context, char *url, size_t size, struct err *err)
{
    const struct daemon *daemon = context;
    const struct daemon_http *http = daemon->http;
    const struct listen_address *page = http ? &http->addresses[0] : NULL;
    if (!page || !page->page)
        return err_set(err, ENOENT, "this manager serves no page: start it with --web");
    if (page->listener < 0)
        return err_set(err, EAGAIN, "the page is not served yet: %s", page->reason.message);
    http_page_url(http->server, (unsigned)page->listener, url, size);
    return 0;
}
