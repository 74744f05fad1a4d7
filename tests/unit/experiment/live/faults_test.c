/* Every fault of console/actions.def does the same in a scenario, by `weft ctl` and by the API: the
 * trace hashes are equal, and so is what a session exports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/live/live.h"
#include "host/http/fields.h"
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>

static const char fabric[] = "topology kary 2 3\nsm H0 sweep 50ms\nrun until settled\n";
#define AFTERWARDS (200 * TIME_MS)

/* A fault of the link L0_0 3 or of a node. `form` follows the number of the link or node. */
static const struct fault {
    const char *words, *form;
    const char *node;   /* NULL: the link */
    const char *before; /* a fault that must precede it */
    bool silent;        /* no packet shows it until the switch is read again */
} faults[ACTION_KINDS] = {
    [ACTION_FAIL_LINK] = {"fail link L0_0 3", ""},
    [ACTION_RESTORE_LINK] = {"restore link L0_0 3", "", NULL, "fail link L0_0 3"},
    [ACTION_FLAP] = {"flap L0_0 3", ""},
    [ACTION_BIT_ERRORS] = {"bit-errors L0_0 3 20", "&count=20"},
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

static uint64_t wall_ns(void)
{
    static uint64_t now;
    return now += NS_PER_US;
}

static void begin(struct live *live)
{
    struct err err = {0};
    const struct live_options options = {.name = "x.weft",
                                         .text = fabric,
                                         .pace = 0.001,
                                         .listen = "0",
                                         .version = "test",
                                         .settle = true,
                                         .paused = true,
                                         .clock_ns = wall_ns};
    if (live_begin(live, &options, &err))
        fail_msg("%s", err.message);
}

static uint64_t now_of(const struct live *live)
{
    return live_session_now(&live->session);
}

/* ---- the three ways ---- */

static void send_words(struct live *live, const char *words)
{
    struct control_request request = {0};
    struct control_reply reply = {0};
    snprintf(request.text, sizeof request.text, "%s", words);
    for (char *word = strtok(request.text, " "); word; word = strtok(NULL, " "))
        request.words[request.count++] = word;
    live_ctl_run(live, LIVE_FABRIC, &request, &reply);
    if (reply.result < 0)
        fail_msg("weft ctl %s: %s", words, reply.answer.text.data);
    control_answer_release(&reply.answer);
}

static void send_form(struct live *live, enum action_kind kind)
{
    const struct topology *topology = &live_session_setup(&live->session)->topology;
    const struct fault *fault = &faults[kind];
    uint32_t link = topology_port_index(topology, topology_find(topology, "L0_0"), 3);
    uint32_t number =
        fault->node ? topology_find(topology, fault->node) : live->watch.view.links.of_port[link];
    const struct http_route *route = live->routes;
    struct http_fields fields = {0};
    struct http_response response = {0};
    char form[200];
    snprintf(form, sizeof form, "do=%s&%s=%u%s", action_rows[kind].words.all,
             fault->node ? "node" : "link", number, fault->form);
    while (strcmp(route->path, "/api/v1/actions") != 0)
        route++;
    assert_true(http_fields_add(&fields, form));
    route->handler(route->context, &(struct http_request){.fields = &fields}, &response);
    if (response.status)
        fail_msg("%s: %.*s", fault->words, (int)response.body.length, response.body.data);
    text_release(&response.body);
}

/* The hash afterwards; *time is that of the fault. */
static uint64_t hash_of_session(const struct fault *fault, void (*send)(struct live *, unsigned),
                                uint64_t *settled, uint64_t *time, struct text *export)
{
    struct live *live = mem_zalloc(1, sizeof *live);
    begin(live);
    *settled = now_of(live);
    if (fault->before)
        send_words(live, fault->before);
    live_advance(live, now_of(live) + 30 * TIME_MS);
    if (send)
        send(live, (unsigned)(fault - faults));
    *time = now_of(live);
    live_advance(live, *time + AFTERWARDS);
    live_session_export(&live->session, export);
    uint64_t hash = fabric_trace_hash(live_session_setup(&live->session)->fabric);
    live_end(live);
    mem_free(live);
    return hash;
}

static void by_ctl(struct live *live, unsigned kind)
{
    send_words(live, faults[kind].words);
}

static void by_http(struct live *live, unsigned kind)
{
    send_form(live, (enum action_kind)kind);
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
        const struct fault *fault = &faults[kind];
        struct text exports[3] = {0};
        uint64_t settled, time;
        if (!action_rows[kind].effect)
            continue;
        if (!fault->words)
            fail_msg("'%s' has no case in this test", action_rows[kind].words.all);
        uint64_t none = hash_of_session(fault, NULL, &settled, &time, &exports[0]);
        uint64_t ctl = hash_of_session(fault, by_ctl, &settled, &time, &exports[1]);
        uint64_t http = hash_of_session(fault, by_http, &settled, &time, &exports[2]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_the_same_in_a_scenario_by_ctl_and_by_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
