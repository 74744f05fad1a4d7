/* Dumps of forwarding tables: what is accepted can be checked and is the same after writing and
 * reading; what is refused leaves nothing behind. */
#include "routing/check/verify.h"
#include "routing/files/lfts.h"
#include "small_network.h"

static void check_tables(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t lid = 0; lid < routes->stride; lid++) {
            uint8_t port = routes_port(routes, at, lid);
            require(port == PORT_NONE || port <= network->switches.items[at].port_count);
        }
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    require(report.pairs == 20 && report.undelivered <= 60 && report.switch_undelivered <= 16);
    verify_report_release(&report);
}

static void check_writing(const struct network *network, const struct routes *routes)
{
    struct routes again;
    struct err err;
    struct text first = {0}, second = {0};
    lfts_write(routes, network, &first);
    char *copy = mem_strdup(first.data);
    require(lfts_read(&again, network, from_text("written", copy, &err)) == 0);
    lfts_write(&again, network, &second);
    require(strcmp(first.data, second.data) == 0);
    mem_free(copy);
    routes_release(&again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    if (!text)
        return 0;
    struct network network;
    struct routes routes;
    struct err err = {0};
    small_network(&network);
    int status = lfts_read(&routes, &network, from_text("fuzz", text, &err));
    if (status) {
        check_error(status, &err);
        require(!routes.ports);
    } else {
        check_tables(&network, &routes);
        check_writing(&network, &routes);
        routes_release(&routes);
    }
    network_release(&network);
    mem_free(text);
    return 0;
}
