/* The API of the live page: parameters and actions, as the handlers of a fabric and of a manager
 * read them, without sockets.
 *
 * The first byte of an input chooses the route, and the rest is its query or form. The manager has
 * no port, so that it parses everything and carries out nothing. An answer is a JSON object. */
#include "host/daemon/daemon_internal.h"
#include "host/http/fields.h"
#include "host/server/fabric_web.h"
#include "small_fabric.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROUTES_MOST = 64 };

static struct http_route routes[ROUTES_MOST]; /* with a handler */
static size_t route_count;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void keep_handlers(const struct http_route *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (from[i].handler && route_count < ROUTES_MOST)
            routes[route_count++] = from[i];
}

static void open_fabric(void)
{
    static struct clients clients;
    struct http_route all[ROUTES_MOST];
    struct fabric_options options;
    fabric_options_preset(&options, "paper", NULL);
    clients_init(&clients, fabric_new(small_topology(), &options, 1),
                 &(struct attachment){.node = A});
    keep_handlers(all, fabric_web_add_routes(fabric_web_new(&clients), all, ROUTES_MOST));
}

static void open_manager(void)
{
    static struct config config;
    static const struct daemon_options options;
    static struct daemon daemon = {.options = &options, .config = &config};
    struct http_route all[ROUTES_MOST];
    config_init(&config);
    require(config_finish(&config, NULL) == 0);
    keep_handlers(all, daemon_open_web(&daemon, all, ROUTES_MOST));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_fields fields = {0};
    struct http_response response = {0};
    if (!route_count) { /* made once: its state at the end of an input matters little */
        open_fabric();
        open_manager();
    }
    if (size == 0)
        return 0;
    const struct http_route *route = &routes[data[0] % route_count];
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (strlen(text) == size - 1 && http_fields_add(&fields, text)) {
        const struct http_request request = {
            .method = route->method, .path = route->path, .fields = &fields};
        do {
            response.again = false;
            route->handler(route->context, &request, &response);
        } while (response.again);
        if (response.make)
            response.make(response.source, &response);
        require(response.body.length > 0);
        require(response.type || response.body.data[0] == '{');
        require(!response.status || (response.status >= 400 && response.status < 500));
        if (response.release)
            response.release(response.source);
        text_release(&response.body);
    }
    free(text);
    return 0;
}
