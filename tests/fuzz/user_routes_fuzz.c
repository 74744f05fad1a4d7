/* Routes of the user: what is accepted can be laid over tables, and then either all of it is or an
 * error says why not; an engine never gives tables with them that do not hold. */
#include "routing/check/verify.h"
#include "small_network.h"

static void check_entries(const struct user_routes *user)
{
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        const struct user_place *places[] = {&entry->at, &entry->to};
        for (unsigned j = 0; j < 2; j++) {
            require((places[j]->guid != 0) + (places[j]->lid != 0) + (places[j]->name != NULL) ==
                    1);
            require(places[j]->lid <= NETWORK_TOP_LID);
        }
        require(entry->port <= NETWORK_TOP_PORT && entry->line);
    }
}

static void check_applied(const struct network *network, const struct user_routes *user)
{
    struct routes routes;
    compute(&engine_updn, network, &routes);
    user_routes_apply(user, network, &routes);
    for (uint32_t at = 0; at < routes.switch_count; at++)
        for (uint32_t lid = 0; lid < routes.stride; lid++)
            require(routes_port(&routes, at, lid) == PORT_NONE ||
                    routes_port(&routes, at, lid) <= network->switches.items[at].port_count);
    routes_release(&routes);
}

static void check_engine(const struct engine *engine, const struct network *network,
                         const struct user_routes *user)
{
    struct engine_options options = {.user = user, .seed_balance = user->entries.count % 2};
    struct routes routes = {0};
    struct verify_report report;
    struct err err = {0};
    if (engine->compute(network, &options, &routes, &err)) {
        require(err.message[0] && !routes.ports);
        return;
    }
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    require(verify_passes(&report));
    verify_report_release(&report);
    routes_release(&routes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    if (!text)
        return 0;
    struct network network;
    struct user_routes user;
    struct err err = {0};
    small_network(&network);
    int status = user_routes_read(&user, from_text("fuzz", text, &err));
    if (status) {
        check_error(status, &err);
        require(!user.entries.items);
    } else {
        check_entries(&user);
        check_applied(&network, &user);
        check_engine(&engine_updn, &network, &user);
        check_engine(&engine_pira, &network, &user);
        user_routes_release(&user);
    }
    network_release(&network);
    mem_free(text);
    return 0;
}
