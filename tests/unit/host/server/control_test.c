/* The commands of `weft ctl`: their effect on the fabric, and errors for invalid ones. */
#include "host/server/session.h"
#include "sma/sma.h"
#include "two_switches.h"

#include <errno.h>

struct stage {
    struct two_switches world;
    struct clients clients;
    struct text out;
};

static int set_up(void **state)
{
    struct stage *stage = mem_zalloc(1, sizeof *stage);
    struct attachment attachment = {0};
    two_switches_make(&stage->world);
    attachment.node = stage->world.a;
    clients_init(&stage->clients, stage->world.fabric, &attachment);
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    text_release(&stage->out);
    clients_release(&stage->clients);
    two_switches_end(&stage->world);
    mem_free(stage);
    return 0;
}

/* `line` has words separated by blanks. */
static int control(struct stage *stage, const char *command, bool json)
{
    char words[CTL_BYTES] = "";
    snprintf(words, sizeof words - 1, "%s", command);
    for (char *at = words; *at; at++)
        if (*at == ' ')
            *at = 0;
    text_clear(&stage->out);
    struct control_answer answer = {.json = json};
    int result = clients_control_run(&stage->clients, words, &answer);
    text_append(&stage->out, answer.text.length ? answer.text.data : "", answer.text.length);
    control_answer_release(&answer);
    fabric_run_network(stage->world.fabric, TIME_NEVER);
    return result;
}

static void assert_done(struct stage *stage, const char *command)
{
    if (control(stage, command, false) != 0)
        fail_msg("%s: %s", command, stage->out.data);
}

static struct fabric_totals totals_of(struct stage *stage)
{
    struct fabric_totals totals;
    fabric_totals(stage->world.fabric, &totals);
    return totals;
}

static void a_link_goes_down_and_up(void **state)
{
    struct stage *stage = *state;
    uint32_t port = two_switches_port(&stage->world, stage->world.s1, 2);
    assert_done(stage, "link down S0 2");
    assert_false(fabric_link_is_up(stage->world.fabric, port));
    assert_int_equal(totals_of(stage).links_down, 1);
    assert_done(stage, "link up S1 2");
    assert_true(fabric_link_is_up(stage->world.fabric, port));
}

static void a_switch_goes_down_and_comes_back(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "switch down S1");
    assert_false(fabric_node_is_up(stage->world.fabric, stage->world.s1));
    assert_done(stage, "switch up S1");
    assert_true(fabric_node_is_up(stage->world.fabric, stage->world.s1));
    assert_int_equal(control(stage, "switch down A", false), -EINVAL);
    assert_done(stage, "node down A");
    assert_false(fabric_node_is_up(stage->world.fabric, stage->world.a));
}

static void bit_errors_show_in_the_counters(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "errors S0 2 4711");
    assert_done(stage, "counters S0 2");
    assert_non_null(strstr(stage->out.data, "4711"));
    assert_done(stage, "counters S1");
    assert_null(strstr(stage->out.data, "4711"));
    assert_done(stage, "counters");
    assert_non_null(strstr(stage->out.data, "S0:2"));
    assert_int_equal(control(stage, "counters S0 2", true), 0);
    assert_non_null(strstr(stage->out.data, "\"symbol_error\": 4711"));
}

static void a_node_gets_another_guid(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "guid B 0xabcdef");
    assert_true(wire_get(fabric_node_info(stage->world.fabric, stage->world.b),
                         NODE_INFO_NODE_GUID) == 0xabcdef);
}

/* Sends one SMP from A to the adjacent switch. Returns whether it was answered. */
static bool is_answered(struct stage *stage, unsigned attribute)
{
    struct mad_file *file = mad_file_open(
        stage->clients.mads, two_switches_port(&stage->world, stage->world.a, 1), NULL);
    struct registration client = {.class = CLASS_SUBN_DIRECTED, .class_version = 1};
    struct sent_mad smp = make_smp(attribute, 1, (uint8_t[]){1}, 1);
    smp.head.agent = (uint32_t)mad_file_register(file, &client);
    mad_file_send(file, 0, &smp.head, smp.mad, MAD_BYTES);
    two_switches_run(&stage->world, stage->clients.mads, 0);
    bool answered = mad_file_next(file) != NULL;
    mad_file_close(file);
    return answered;
}

static void smps_are_dropped_by_link_and_attribute(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "drop 100% attribute nodeinfo");
    assert_false(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_true(is_answered(stage, ATTRIBUTE_NODE_DESCRIPTION));
    assert_done(stage, "drop 0% attribute 0x11");
    assert_true(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_done(stage, "drop 100% S0 2");
    assert_true(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_done(stage, "drop 100.0% S0 1 attribute NodeInfo");
    assert_false(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_true(is_answered(stage, ATTRIBUTE_NODE_DESCRIPTION));
}

static void agents_are_muted_and_healed(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "agent mute S0");
    assert_false(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_done(stage, "agent heal S0");
    assert_true(is_answered(stage, ATTRIBUTE_NODE_INFO));
    assert_done(stage, "agent slow S0 50ms");
}

static void an_invalid_command_is_an_error_without_effect(void **state)
{
    struct stage *stage = *state;
    static const char *const nonsense[] = {
        "",
        "dance",
        "link",
        "link down S0",
        "link down S0 2 3",
        "link sideways S0 2",
        "link down S9 2",
        "link down S0 5",
        "link down S0 x",
        "link down S0 -1",
        "link down S0 4",
        "switch down",
        "drop",
        "drop 5",
        "drop 101%",
        "drop 100.1%",
        "drop %",
        "drop -1%",
        "drop 5% S0",
        "drop 5% S0 1 attribute",
        "drop 5% S0 1 attribute Nonsense",
        "drop 5% attribute 0x10000",
        "drop 5% attribute NodeInfo S0 1",
        "agent slow S0",
        "agent slow S0 fast",
        "agent mute S0 5ms",
        "agent tired S0",
        "guid B",
        "guid B zero",
        "guid B 0x11111111111111111",
        "errors S0 2 many",
        "status now",
        "path A",
        "path A C",
        "deadlock S0",
        "stop it",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    };
    uint64_t before = totals_of(stage).events;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        if (control(stage, nonsense[i], false) >= 0)
            fail_msg("'%s' was taken", nonsense[i]);
        assert_true(stage->out.length > 0);
    }
    assert_int_equal(totals_of(stage).events, before);
    assert_int_equal(totals_of(stage).links_down, 0);
    assert_false(stage->clients.stop);
}

static void reports_fit_a_terminal(void **state)
{
    struct stage *stage = *state;
    static const char *const reports[] = {"status", "counters S0", "counters S0 1", "path A B",
                                          "deadlock"};
    struct mad_file *file = mad_file_open(
        stage->clients.mads, two_switches_port(&stage->world, stage->world.a, 1), NULL);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        assert_done(stage, reports[i]);
        for (const char *at = stage->out.data; *at;) {
            size_t length = strcspn(at, "\n");
            if (length > 80)
                fail_msg("%s: %.*s", reports[i], (int)length, at);
            at += length + (at[length] == '\n');
        }
    }
    mad_file_close(file);
    assert_int_equal(control(stage, "status", true), 0);
    assert_non_null(strstr(stage->out.data, "\"switches\": 2"));
    assert_non_null(strstr(stage->out.data, "\"trace\": \""));
}

/* No manager wrote tables: the packet gets as far as the first switch. */
static void a_path_says_where_it_ends(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "path A B");
    assert_non_null(strstr(stage->out.data, "A to B: LID 0"));
    assert_non_null(strstr(stage->out.data, "no manager has a path"));
    assert_int_equal(control(stage, "path S0 B", true), 0);
    assert_non_null(strstr(stage->out.data, "\"arrives\": false"));
    assert_non_null(strstr(stage->out.data, "from an adapter"));
    assert_int_equal(control(stage, "deadlock", true), 0);
    assert_non_null(strstr(stage->out.data, "\"deadlock\": false"));
}

static void the_server_can_be_stopped(void **state)
{
    struct stage *stage = *state;
    assert_done(stage, "stop");
    assert_true(stage->clients.stop);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(a_link_goes_down_and_up),
        CLAIM(a_switch_goes_down_and_comes_back),
        CLAIM(bit_errors_show_in_the_counters),
        CLAIM(a_node_gets_another_guid),
        CLAIM(smps_are_dropped_by_link_and_attribute),
        CLAIM(agents_are_muted_and_healed),
        CLAIM(an_invalid_command_is_an_error_without_effect),
        CLAIM(reports_fit_a_terminal),
        CLAIM(a_path_says_where_it_ends),
        CLAIM(the_server_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
