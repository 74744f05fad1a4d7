/* Puts together the HTTP server of `weft fabric`: token, routes and listeners. Metrics and page
 * share a listener if their addresses are the same. What the routes answer is in
 * host/server/fabric_metrics.c and host/server/fabric_web.c. */
#include "host/server/fabric_http.h"

#include "base/time.h"
#include "host/http/address.h"
#include "host/server/fabric_metrics.h"
#include "host/server/fabric_web.h"

enum { ROUTES_MOST = 64 };

struct fabric_http {
    struct http_server *server;
    struct http_route routes[ROUTES_MOST];
    size_t route_count;
    struct fabric_web *web; /* NULL: none */
    int metrics_listener;   /* -1: none */
    char page[512];
};

static int listen_at(struct fabric_http *http, const struct fabric_http_options *options,
                     struct err *err)
{
    int page = options->web ? http_server_listen(http->server, options->web, false, err) : -1;
    if (options->web && page < 0)
        return page;
    if (page >= 0)
        http_page_url(http->server, (unsigned)page, http->page, sizeof http->page);
    if (!options->metrics)
        return 0;
    http->metrics_listener =
        page >= 0 && http_address_same(options->web, options->metrics)
            ? page
            : http_server_listen(http->server, options->metrics, page >= 0, err);
    return http->metrics_listener < 0 ? http->metrics_listener : 0;
}

int fabric_http_open(struct fabric_http **result, struct clients *clients,
                     const struct fabric_http_options *options, struct err *err)
{
    char token[HTTP_TOKEN_MOST + 1] = "";
    if (options->token_file) {
        int status = http_token_read(options->token_file, token, err);
        if (status < 0)
            return status;
    }
    struct fabric_http *http = mem_zalloc(1, sizeof *http);
    http->metrics_listener = -1;
    http->routes[http->route_count++] = fabric_metrics_route(clients->fabric);
    if (options->web) {
        http->web = fabric_web_new(clients);
        http->route_count += fabric_web_add_routes(http->web, http->routes + http->route_count,
                                                   ROUTES_MOST - http->route_count);
    }
    const struct http_options server = {
        .token = *token ? token : NULL, .routes = http->routes, .route_count = http->route_count};
    int status = http_server_new(&http->server, &server, err);
    if (status == 0)
        status = listen_at(http, options, err);
    if (status < 0)
        fabric_http_close(http);
    else
        *result = http;
    return status;
}

void fabric_http_close(struct fabric_http *http)
{
    if (!http)
        return;
    http_server_stop(http->server);
    fabric_web_free(http->web);
    mem_free(http);
}

int fabric_http_fd(const struct fabric_http *http)
{
    return http_server_fd(http->server);
}

void fabric_http_serve(struct fabric_http *http)
{
    http_server_serve(http->server);
}

const char *fabric_http_metrics(const struct fabric_http *http)
{
    return http->metrics_listener < 0
               ? NULL
               : http_listener_address(http->server, (unsigned)http->metrics_listener);
}

const char *fabric_http_page(const struct fabric_http *http)
{
    return *http->page ? http->page : NULL;
}

uint64_t fabric_http_step(struct fabric_http *http)
{
    return http->web ? fabric_web_step(http->web) : TIME_NEVER;
}
