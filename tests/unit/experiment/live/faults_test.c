/* Every fault of console/actions.def does the same in a scenario, by `weft ctl` and by the API: the
 * trace hashes are equal, and so is what a session exports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/whatif/whatif.h"
#include "host/http/fields.h"
#include "replay.h"
#include "world.h"

#include <inttypes.h>

static const char fabric[] = "topology kary 2 3\nsm H0 sweep 50ms\nrun until settled\n";
#define AFTERWARDS (200 * TIME_MS)

/* A fault of the link L0_0 3 or of a node. `form` follows the number of the link or node. */
static const struct fault {
    const char *words, *form;
    const char *node;    /* NULL: the link */
    const char *before;  /* a fault that must precede it */
    const char *lasting; /* the fault that lasts, if it is not that of `words` */
    bool silent;         /* no packet shows it until the switch is read again */
} faults[ACTION_KINDS] = {
    [ACTION_FAIL_LINK] = {"fail link L0_0 3", ""},
    [ACTION_RESTORE_LINK] = {"restore link L0_0 3", "", NULL, "fail link L0_0 3"},
    [ACTION_FLAP] = {"flap L0_0 3", ""},
    [ACTION_BIT_ERRORS] = {"bit-errors L0_0 3 20", "&count=20", .lasting = "bit-errors L0_0 3 5/s"},
    [ACTION_DROP] = {"drop 75% L0_0 3 attribute SwitchInfo", "&percent=75&attribute=SwitchInfo"},
    [ACTION_FAIL_SWITCH] = {"fail switch L0_0", "", "L0_0"},
    [ACTION_RESTORE_SWITCH] = {"restore switch L0_0", "", "L0_0", "fail switch L0_0"},
    [ACTION_FAIL_NODE] = {"fail node H3", "", "H3"},
    [ACTION_RESTORE_NODE] = {"restore node H3", "", "H3", "fail node H3"},
    [ACTION_MUTE] = {"mute L1_0", "", "L1_0"},
    [ACTION_SLOW] = {"slow L0_0 3ms", "&ns=3000000", "L0_0"},
    [ACTION_HEAL] = {"heal L0_0", "", "L0_0", "slow L0_0 1ms"},
    [ACTION_DUPLICATE_GUID] = {"duplicate-guid L0_0 0x7777", "&guid=0x7777", "L0_0",
                               .silent = true},
};

static const struct fault *case_of(unsigned kind)
{
    if (!faults[kind].words)
        fail_msg("'%s' has no case in this test", action_rows[kind].words.all);
    return &faults[kind];
}

static struct fabric *fabric_of(struct world *world)
{
    return live_session_setup(&world->live.session)->fabric;
}

/* ---- the three ways ---- */

static void send_words(struct world *world, const char *words)
{
    if (ask(world, LIVE_FABRIC, words, false) < 0)
        fail_msg("weft ctl %s: %s", words, world->out.data);
}

static uint32_t link_of(struct world *world)
{
    const struct topology *topology = fabric_topology(fabric_of(world));
    uint32_t port = topology_port_index(topology, topology_find(topology, "L0_0"), 3);
    return world->live.watch.view.links.of_port[port];
}

static void send_form(struct world *world, const struct fault *fault)
{
    const struct topology *topology = fabric_topology(fabric_of(world));
    uint32_t number = fault->node ? topology_find(topology, fault->node) : link_of(world);
    const struct http_route *route = world->live.routes;
    struct http_fields fields = {0};
    struct http_response response = {0};
    char form[200];
    snprintf(form, sizeof form, "do=%s&%s=%u%s", action_rows[fault - faults].words.all,
             fault->node ? "node" : "link", number, fault->form);
    while (strcmp(route->path, "/api/v1/actions") != 0)
        route++;
    assert_true(http_fields_add(&fields, form));
    route->handler(route->context, &(struct http_request){.fields = &fields}, &response);
    if (response.status)
        fail_msg("%s: %.*s", fault->words, (int)response.body.length, response.body.data);
    text_release(&response.body);
}

static void by_ctl(struct world *world, const struct fault *fault)
{
    send_words(world, fault->words);
}

/* The hash afterwards; *time is that of the fault. */
static uint64_t hash_of_session(const struct fault *fault,
                                void (*send)(struct world *, const struct fault *),
                                uint64_t *settled, uint64_t *time, struct text *export)
{
    struct world *world = begin(fabric);
    *settled = live_session_now(&world->live.session);
    if (fault->before)
        send_words(world, fault->before);
    pass(world, 30 * TIME_MS);
    if (send)
        send(world, fault);
    *time = live_session_now(&world->live.session);
    pass(world, AFTERWARDS);
    text_puts(export, exported(world));
    uint64_t hash = fabric_trace_hash(fabric_of(world));
    end(world);
    return hash;
}

static void put_time(struct text *out, uint64_t ps)
{
    text_printf(out, "%" PRIu64 ".%06" PRIu64 "us ", ps / TIME_US, ps % TIME_US);
}

static uint64_t hash_of_scenario(const struct fault *fault, uint64_t settled, uint64_t time)
{
    struct text text = {0};
    text_puts(&text, fabric);
    if (fault->before) {
        text_puts(&text, "at ");
        put_time(&text, (settled + TIME_NS - 1) / TIME_NS * TIME_NS);
        text_printf(&text, "%s\n", fault->before);
    }
    text_puts(&text, "at ");
    put_time(&text, time);
    text_printf(&text, "%s\nrun for ", fault->words);
    put_time(&text, time + AFTERWARDS - settled);
    text_putc(&text, '\n');
    uint64_t hash = run_whole(text.data);
    text_release(&text);
    return hash;
}

/* ---- claims ---- */

static void every_fault_is_the_same_in_a_scenario_by_ctl_and_by_http(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        struct text exports[3] = {0};
        uint64_t settled, time;
        if (!action_rows[kind].effect)
            continue;
        const struct fault *fault = case_of(kind);
        uint64_t none = hash_of_session(fault, NULL, &settled, &time, &exports[0]);
        uint64_t ctl = hash_of_session(fault, by_ctl, &settled, &time, &exports[1]);
        uint64_t http = hash_of_session(fault, send_form, &settled, &time, &exports[2]);
        uint64_t scenario = hash_of_scenario(fault, settled, time);
        if (none == ctl && !fault->silent)
            fail_msg("%s has no effect on any packet", fault->words);
        assert_string_equal(exports[1].data, exports[2].data);
        if (scenario != ctl || ctl != http)
            fail_msg("%s: %016" PRIx64 " in a scenario, %016" PRIx64 " by weft ctl, %016" PRIx64
                     " by HTTP",
                     fault->words, scenario, ctl, http);
        for (unsigned i = 0; i < 3; i++)
            text_release(&exports[i]);
    }
}

/* The action that undoes a fault: another with the same arguments, or the same with 0. */
static struct action undoing(const struct action *action)
{
    const struct action_row *row = action_row(action);
    struct action undo = *action;
    undo.value = 0;
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++)
        if (action_rows[kind].lasting.sets && action_rows[kind].lasting.ends &&
            strcmp(action_rows[kind].lasting.sets, row->lasting.sets) == 0 &&
            action_rows[kind].arguments[0] == row->arguments[0])
            undo.kind = (enum action_kind)kind;
    return undo;
}

static void assert_listed(struct world *world, const char *statement, bool listed)
{
    char line[200];
    snprintf(line, sizeof line, "\"fault\": \"%s\"", statement);
    assert_int_equal(ask(world, LIVE_FABRIC, "status", true), 0);
    if (!!strstr(world->out.data, line) != listed)
        fail_msg("%s: %s in\n%s", statement, listed ? "missing" : "still", world->out.data);
}

static void a_lasting_fault_is_listed_and_shown_until_it_is_undone(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        const struct action_row *row = &action_rows[kind];
        if (!row->lasting.sets || row->lasting.ends)
            continue;
        const struct fault *fault = case_of(kind);
        struct world *world = begin(fabric);
        const struct topology *topology = fabric_topology(fabric_of(world));
        const struct api_tick *tick = &world->live.publisher.tick;
        const uint8_t *shown = fault->node ? &tick->nodes[topology_find(topology, fault->node)]
                                           : &tick->links[link_of(world)];
        struct text words = {0}, undo = {0};
        struct err err = {0};
        struct action action;
        const char *caused = fault->lasting ? fault->lasting : fault->words;
        assert_non_null(caused);
        assert_int_equal(action_read_line(&action, caused, topology, &err), 0);
        action_print(&action, topology, &words);
        struct action undoes = undoing(&action);
        if (row->arguments[1] == ARGUMENT_GUID)
            undoes.value = topology->nodes.items[action.node].guid;
        action_print(&undoes, topology, &undo);
        assert_listed(world, words.data, false);
        send_words(world, caused);
        pass(world, 0);
        assert_listed(world, words.data, true);
        for (unsigned pause = 0; pause < 2; pause++) {
            if ((*shown == 0) != (row->lasting.state == FAULT_HIDDEN))
                fail_msg("the map shows %u of %s", *shown, words.data);
            pass(world, TIME_S);
            live_refresh(&world->live);
        }
        send_words(world, undo.data);
        pass(world, TIME_S);
        live_refresh(&world->live);
        assert_listed(world, words.data, false);
        if (*shown != 0)
            fail_msg("the map shows %u after %s", *shown, undo.data);
        text_release(&words);
        text_release(&undo);
        action_release(&action);
        end(world);
    }
}

static void a_fault_that_happens_once_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        struct fabric_totals before, after;
        if (!action_rows[kind].effect || action_rows[kind].lasting.sets)
            continue;
        const char *words = case_of(kind)->words;
        struct world *world = begin(fabric);
        fabric_totals(fabric_of(world), &before);
        send_words(world, words);
        pass(world, TIME_S);
        fabric_totals(fabric_of(world), &after);
        if (after.links_up != before.links_up || after.nodes_down != before.nodes_down)
            fail_msg("%s is ONCE in its row, but lasts: %u links are up, before %u", words,
                     after.links_up, before.links_up);
        end(world);
    }
}

static void whatif_takes_every_fault_that_harms(void **state)
{
    (void)state;
    struct world *world = begin(fabric);
    const struct topology *topology = fabric_topology(fabric_of(world));
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        if (!action_rows[kind].effect)
            continue;
        bool harms = !action_rows[kind].lasting.sets || !action_rows[kind].lasting.ends;
        struct whatif_failures failures = {0};
        struct text first = {0}, second = {0};
        struct err err = {0};
        struct action action;
        const char *fault = case_of(kind)->words;
        const char *words[] = {"switch", "L1_1", fault, "host", "H5"};
        int status = whatif_read_failures(&failures, topology, words, 5, &err);
        if ((status == 0) != harms)
            fail_msg("%s: %s", fault, err.message);
        if (status == 0) {
            assert_int_equal(failures.count, 3);
            assert_int_equal(action_read_line(&action, fault, topology, &err), 0);
            action_print(&action, topology, &first);
            whatif_write_failure(topology, &failures.items[1], &second);
            assert_string_equal(first.data, second.data);
            action_release(&action);
        }
        vec_release(&failures);
        text_release(&first);
        text_release(&second);
    }
    end(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lasting_fault_is_listed_and_shown_until_it_is_undone),
        cmocka_unit_test(a_fault_that_happens_once_leaves_nothing),
        cmocka_unit_test(whatif_takes_every_fault_that_harms),
        cmocka_unit_test(every_fault_is_the_same_in_a_scenario_by_ctl_and_by_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
