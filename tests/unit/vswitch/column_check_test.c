/* The deadlock check of LFT changes without ranks: routes with several VLs, and a ring. */
#include "fabrics.h"

#include "base/rng.h"
#include "routing/check/verify.h"
#include "routing/update/columns.h"

#include <string.h>

static bool could_deadlock(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    bool cycle = report.cycle.count > 0;
    verify_report_release(&report);
    return cycle;
}

static void carry_out(struct network *network, struct routes *routes,
                      const struct update_plan *plan, uint32_t machine, uint32_t pf)
{
    network_move_terminal(network, machine, pf);
    for (size_t i = 0; i < plan->ports.count; i++) {
        const struct table_update *update =
            plan->stuck.count ? &plan->stuck.items[i] : &plan->updates.items[i];
        routes_set(routes, update->at, update->first_lid, plan->ports.items[i]);
    }
}

/* VMs migrate by copied entries; each keeps its SLs. The independent check confirms every change
 * that was found safe. */
static void migrate_vms(const char *engine, unsigned *refused, unsigned *moved)
{
    static const char *const words[] = {"4x4", "hosts=1"};
    struct network network;
    struct routes routes;
    struct rng rng;
    build_virtual(&network, "torus", words, 2, 2);
    route(&network, engine, &routes);
    assert_null(routes.ranks);
    assert_false(could_deadlock(&network, &routes));
    struct column_check *check = column_check_new();
    uint32_t hosts = (uint32_t)network.terminals.count / 3;
    rng_seed(&rng, 3, 1);
    for (unsigned i = 0; i < 80; i++) {
        struct update_plan plan;
        uint32_t machine = hosts + (uint32_t)rng_below(&rng, 2 * hosts);
        uint32_t pf = (uint32_t)rng_below(&rng, hosts);
        if (network.terminals.items[machine].at == network.terminals.items[pf].at)
            continue;
        const struct column_move move = {.lid = network.terminals.items[machine].lid,
                                         .like = network.terminals.items[pf].lid,
                                         .span = 1,
                                         .minimal = i & 1};
        bool ranked;
        assert_int_equal(columns_plan(&plan, &network, &routes, &move, false, &ranked), 0);
        assert_false(ranked);
        assert_true(plan.waves.count <= 1);
        update_plan_release(&plan);
        enum columns_verdict verdict =
            column_check_plan(check, &plan, &network, &routes, &move,
                              &(struct column_rules){.routes_job = 1, .alone = true});
        if (verdict == COLUMNS_NEVER) {
            ++*refused;
        } else {
            ++*moved;
            carry_out(&network, &routes, &plan, machine, pf);
            assert_false(could_deadlock(&network, &routes));
            update_plan_release(&plan);
        }
    }
    column_check_free(check);
    routes_release(&routes);
    network_release(&network);
}

static void safe_changes_close_no_cycle(void **state)
{
    unsigned refused = 0, moved = 0;
    migrate_vms("dfsssp", &refused, &moved);
    migrate_vms("lash", &refused, &moved);
    assert_true(moved > 0);
    print_message("%u moves, %u refused\n", moved, refused);
}

/* A ring of six switches whose routes do not use the link from the last to the first. A path over
 * that link closes the cycle. */
static void a_path_that_closes_the_ring_is_refused(void **state)
{
    static const char *const words[] = {"6"};
    struct network network;
    struct routes routes;
    struct update_plan plan;
    build_virtual(&network, "ring", words, 1, 1);
    routes_init(&routes, &network, "hand");
    uint32_t place[6] = {0}; /* of a switch, clockwise from switch 0 */
    enum { CLOCKWISE = 1 };  /* the port of every switch to the next */
    uint8_t clockwise[6], back[6];
    for (uint32_t at = 0, i = 0; i < 6; i++) {
        uint32_t to = network_next(&network, at, CLOCKWISE);
        place[at] = i;
        clockwise[at] = CLOCKWISE;
        back[to] = network_link_at(&network, at, CLOCKWISE)->peer_port;
        at = to;
    }
    /* To host h: from places below h clockwise, from those above back; never over the link from
     * place 5 to place 0. */
    for (uint32_t i = 0; i < network.terminals.count; i++) {
        const struct network_terminal *terminal = &network.terminals.items[i];
        for (uint32_t at = 0; at < 6; at++)
            routes_set(&routes, at, terminal->lid,
                       at == terminal->at                ? terminal->port
                       : place[at] < place[terminal->at] ? clockwise[at]
                                                         : back[at]);
    }
    assert_false(could_deadlock(&network, &routes));
    uint16_t like = (uint16_t)(network.top_lid + 1); /* no port has it */
    routes_grow(&routes, like);
    for (uint32_t host = 0; host < 2; host++) {
        /* Clockwise from every switch; paths to host 0 end before the cycle is closed. */
        uint16_t lid = network.terminals.items[6 + host].lid;
        struct column_check *check = column_check_new();
        for (uint32_t at = 0; at < 6; at++)
            routes_set(&routes, at, like,
                       at == host ? routes_port(&routes, at, lid) : clockwise[at]);
        enum columns_verdict verdict =
            column_check_plan(check, &plan, &network, &routes,
                              &(struct column_move){.lid = lid, .like = like, .span = 1},
                              &(struct column_rules){.routes_job = 1, .alone = true});
        for (uint32_t at = 0; at < 6; at++)
            routes_set(&routes, at, lid, routes_port(&routes, at, like));
        assert_int_equal(could_deadlock(&network, &routes), host == 1);
        assert_int_equal(verdict == COLUMNS_NEVER, host == 1);
        update_plan_release(&plan);
        column_check_free(check);
    }
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safe_changes_close_no_cycle),
        cmocka_unit_test(a_path_that_closes_the_ring_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
