#include "support.h"

#include "topology/analysis/summary.h"
#include "topology/drawing/export.h"
#include "topology/drawing/layout.h"

/* A chain of switches with these names. */
static void make_chain(struct topology *topology, const char *const *names, uint32_t count)
{
    struct text net = {0};
    for (uint32_t i = 0; i < count; i++) {
        text_printf(&net, "Switch 4 \"%u\" # \"%s\"\n", i, names[i]);
        if (i)
            text_printf(&net, "[1] \"%u\"[2]\n", i - 1);
    }
    must_read(topology, net.data);
    text_release(&net);
}

/* The rooms of switches with these names, as "name:members …". */
static void assert_rooms(const char *const *names, uint32_t count, const char *wanted)
{
    struct topology t;
    struct graph graph;
    struct rooms rooms;
    struct text found = {0};
    make_chain(&t, names, count);
    graph_init(&graph, &t);
    rooms_find(&rooms, &t, &graph);
    text_puts(&found, "");
    for (uint32_t i = 0; i < rooms.count; i++) {
        uint32_t members = 0;
        for (uint32_t s = 0; s < graph.switch_count; s++)
            members += rooms.of[s] == (int32_t)i;
        text_printf(&found, "%s%s:%u", i ? " " : "", rooms.name[i], members);
    }
    assert_string_equal(found.length ? found.data : "", wanted);
    text_release(&found);
    rooms_release(&rooms);
    graph_release(&graph);
    topology_release(&t);
}
#define ASSERT_ROOMS(wanted, ...)                                                                  \
    assert_rooms((const char *const[]){__VA_ARGS__},                                               \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), wanted)

static void a_name_begins_with_its_room(void **state)
{
    ASSERT_ROOMS("r2:2 r12:2", "r12-leaf3", "r2-leaf1", "r12-leaf1", "r2-leaf2");
    ASSERT_ROOMS("rack07:2 rack08:2", "rack07-sw1", "rack07-sw2", "rack08-sw1", "rack08-sw2");
    ASSERT_ROOMS("ib-a01:2 ib-a02:2", "ib-a01-u12", "ib-a01-u13", "ib-a02-u12", "ib-a02-u13");
    ASSERT_ROOMS("a01:2 a02:2", "a01u12", "a01u13", "a02u12", "a02u13");
    ASSERT_ROOMS("east:2 west:2", "west-sw1", "west-sw2", "east-sw1", "east-sw2");
    ASSERT_ROOMS("MF0;rack1:2 MF0;rack2:2", "MF0;rack1-a:X/U1", "MF0;rack1-b:X/U1",
                 "MF0;rack2-a:X/U1", "MF0;rack2-b:X/U1");
}

static void of_nested_places_the_rooms_are_neither_one_nor_single_switches(void **state)
{
    ASSERT_ROOMS("dc1-row1:2 dc1-row2:2", "dc1-row1-rack1-sw1", "dc1-row1-rack2-sw1",
                 "dc1-row2-rack1-sw1", "dc1-row2-rack2-sw1");
}

static void names_without_a_pattern_have_no_rooms(void **state)
{
    ASSERT_ROOMS("", "S0", "S1", "S2", "S3");
    ASSERT_ROOMS("", "a-1", "b-1", "c-1", "d-1");
    ASSERT_ROOMS("", "x-1", "x-2", "x-3", "x-4"); /* one room is none */
    ASSERT_ROOMS("", "r1-", "r1--", "r2-", "r2:");
    ASSERT_ROOMS("", "one", "r1-a", "two", "r1-b", "three", "r2-a", "four", "r2-b", "five");
}

static void switches_of_other_names_are_in_no_room(void **state)
{
    ASSERT_ROOMS("r1:2 r2:2", "spine", "r1-a", "r1-b", "r2-a", "r2-b");
}

static void hostile_names_are_harmless(void **state)
{
    ASSERT_ROOMS("<b>1:2 <b>2:2", "<b>1<a", "<b>1<c", "<b>2<a", "<b>2<c");
    ASSERT_ROOMS("r1:2 r2:2", "r1\xff-a", "r1\xff-b", "r2\xff-a", "r2\xff-b");
    ASSERT_ROOMS("", "-", "--", "-1-", "1");
    ASSERT_ROOMS("00000000000000000000000000000001:2 99999999999999999999999999999999:2",
                 "99999999999999999999999999999999-a", "99999999999999999999999999999999-b",
                 "00000000000000000000000000000001-a", "00000000000000000000000000000001-b");
}

/* Rooms r0 … of `size` switches each, connected without structure. */
static void make_irregular(struct topology *topology, uint32_t rooms, uint32_t size)
{
    struct text net = {0};
    uint32_t count = rooms * size;
    for (uint32_t i = 0; i < count; i++) {
        text_printf(&net, "Switch 8 \"%u\" # \"r%u-sw%u\"\n[8] \"h%u\"[1]\n", i, i % rooms,
                    i / rooms, i);
        if (i)
            text_printf(&net, "[1] \"%u\"[%u]\n", (i - 1) / 2, 2 + (i - 1) % 2);
        if (i && i % 3 == 0)
            text_printf(&net, "[4] \"%u\"[5]\n", i / 3);
        text_printf(&net, "Hca 1 \"h%u\" # \"r9-node%u\"\n", i, i);
    }
    must_read(topology, net.data);
    text_release(&net);
}

static void an_irregular_network_is_placed_by_rooms(void **state)
{
    struct topology t;
    struct graph graph;
    struct layout layout = {0};
    make_irregular(&t, 6, 5);
    graph_init(&graph, &t);
    layout_network(&t, &graph, &layout);
    assert_string_equal(layout_kind_names[layout.kind], "rooms");
    assert_int_equal(layout.rooms.count, 6);
    /* Frames do not overlap, and only the switches of the room are inside. */
    struct layout_box frames[6];
    layout_room_boxes(&layout.rooms, graph.switch_count, layout_box_size, layout.room_places,
                      frames);
    for (uint32_t room = 0; room < 6; room++)
        for (uint32_t s = 0; s < graph.switch_count; s++) {
            struct layout_point at = layout.room_places[s];
            bool inside = at.x > frames[room].left && at.x < frames[room].right &&
                          at.y > frames[room].bottom && at.y < frames[room].top;
            assert_int_equal(inside, layout.rooms.of[s] == (int32_t)room);
        }
    for (uint32_t a = 0; a < 6; a++)
        for (uint32_t b = a + 1; b < 6; b++)
            assert_true(frames[a].right < frames[b].left || frames[b].right < frames[a].left ||
                        frames[a].top < frames[b].bottom || frames[b].top < frames[a].bottom);
    layout_release(&layout);
    graph_release(&graph);
    topology_release(&t);
}

static void a_recognised_structure_comes_before_rooms(void **state)
{
    struct topology t;
    struct graph graph;
    struct layout layout = {0};
    must_generate(&t, "dragonfly 2 4 2", 1); /* G0_0 … */
    graph_init(&graph, &t);
    layout_network(&t, &graph, &layout);
    assert_string_equal(layout_kind_names[layout.kind], "dragonfly");
    assert_true(layout.rooms.count > 1);
    layout_release(&layout);
    graph_release(&graph);
    topology_release(&t);
}

static void a_network_without_rooms_has_no_frames(void **state)
{
    struct topology t;
    struct graph graph;
    struct layout layout = {0};
    struct layout_box unchanged = {1, 2, 3, 4};
    must_generate(&t, "ring 6", 1);
    graph_init(&graph, &t);
    layout_network(&t, &graph, &layout);
    assert_int_equal(layout.rooms.count, 0);
    layout_room_boxes(&layout.rooms, graph.switch_count, layout_box_size, layout.room_places,
                      &unchanged);
    assert_true(unchanged.left == 1 && unchanged.top == 4);
    layout_release(&layout);
    graph_release(&graph);
    topology_release(&t);
}

static bool draw(const struct topology *topology, bool by_rooms, struct text *dot)
{
    struct drawing_limits limits = DRAWING_LIMITS;
    struct graph graph;
    limits.by_rooms = by_rooms;
    graph_init(&graph, topology);
    bool drawn = topology_draw(topology, &graph, limits, DRAWING_DOT, dot);
    graph_release(&graph);
    return drawn;
}

static void a_drawing_has_a_frame_for_each_room(void **state)
{
    struct topology t;
    struct text dot = {0}, asked = {0};
    make_irregular(&t, 6, 5);
    assert_true(draw(&t, false, &dot));
    assert_non_null(strstr(dot.data, "label=\"r5\", style=dashed"));
    assert_null(strstr(dot.data, "  r6 ["));
    topology_release(&t);
    must_generate(&t, "dragonfly 2 4 2", 1);
    assert_true(draw(&t, true, &asked));
    assert_non_null(strstr(asked.data, "label=\"G1\", style=dashed"));
    topology_release(&t);
    text_release(&dot);
    text_release(&asked);
}

static void a_drawing_by_rooms_is_refused_without_rooms(void **state)
{
    struct topology t;
    struct text dot = {0};
    must_generate(&t, "ring 6", 1);
    assert_false(draw(&t, true, &dot));
    text_release(&dot);
    topology_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_begins_with_its_room),
        cmocka_unit_test(of_nested_places_the_rooms_are_neither_one_nor_single_switches),
        cmocka_unit_test(names_without_a_pattern_have_no_rooms),
        cmocka_unit_test(switches_of_other_names_are_in_no_room),
        cmocka_unit_test(hostile_names_are_harmless),
        cmocka_unit_test(an_irregular_network_is_placed_by_rooms),
        cmocka_unit_test(a_recognised_structure_comes_before_rooms),
        cmocka_unit_test(a_network_without_rooms_has_no_frames),
        cmocka_unit_test(a_drawing_has_a_frame_for_each_room),
        cmocka_unit_test(a_drawing_by_rooms_is_refused_without_rooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
