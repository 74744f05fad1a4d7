#include "support.h"

#include "topology/drawing/export.h"

#include <math.h>

static void write_slurm(const struct topology *topology, struct text *text)
{
    struct graph graph;
    graph_init(&graph, topology);
    topology_write_slurm(topology, &graph, text);
    graph_release(&graph);
}

static void draw(const struct topology *topology, enum drawing_format format, struct text *text)
{
    struct graph graph;
    graph_init(&graph, topology);
    assert_true(topology_draw(topology, &graph, DRAWING_LIMITS, format, text));
    graph_release(&graph);
}

static unsigned count_text(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void slurm_gets_leaves_pods_and_a_top(void **state)
{
    struct topology t;
    struct text text = {0};
    must_generate(&t, "fattree m=4,3,2 w=1,2,2", 1);
    write_slurm(&t, &text);
    assert_string_equal(text.data, "# topology.conf for Slurm's topology/tree, written by weft\n"
                                   "SwitchName=L0_0 Nodes=H[0-3]\n"
                                   "SwitchName=L0_1 Nodes=H[4-7]\n"
                                   "SwitchName=L0_2 Nodes=H[8-11]\n"
                                   "SwitchName=L1_0 Nodes=H[12-15]\n"
                                   "SwitchName=L1_1 Nodes=H[16-19]\n"
                                   "SwitchName=L1_2 Nodes=H[20-23]\n"
                                   "SwitchName=level2_0 Switches=L0_[0-2]\n"
                                   "SwitchName=level2_1 Switches=L1_[0-2]\n"
                                   "SwitchName=top0 Switches=level2_0,level2_1\n");
    text_release(&text);
    topology_release(&t);
}

static void slurm_names_are_hosts_once_each_and_switches_unique(void **state)
{
    struct topology t;
    struct text text = {0};
    must_read(&t, "Switch 8 \"a\" # \"leaf one\"\n[1] \"h\"[1]\n[2] \"h\"[2]\n[3] \"i\"[1]\n"
                  "[4] \"b\"[4]\n[5] \"j\"[1]\nSwitch 8 \"b\" # \"leaf two\"\n[1] \"k\"[1]\n"
                  "Hca 2 \"h\" # \"n09 HCA-1\"\nHca 1 \"i\" # \"n10 mlx5_0\"\n"
                  "Hca 1 \"j\" # \"n11,x\"\nHca 1 \"k\" # \"n9\"\n");
    write_slurm(&t, &text);
    assert_string_equal(text.data, "# topology.conf for Slurm's topology/tree, written by weft\n"
                                   "SwitchName=leaf Nodes=n09,n10,n11_x\n"
                                   "SwitchName=S-0000000000200001 Nodes=n9\n"
                                   "SwitchName=top0 Switches=leaf,S-0000000000200001\n");
    text_release(&text);
    topology_release(&t);
}

static void json_has_every_node_and_link(void **state)
{
    struct topology t;
    struct text text = {0};
    must_generate(&t, "figure1 speed=SDR", 1);
    topology_write_json(&t, &text);
    assert_int_equal(count_text(text.data, "\"kind\":\"switch\""), 8);
    assert_int_equal(count_text(text.data, "\"kind\":\"adapter\""), 7);
    assert_int_equal(count_text(text.data, "\"a_port\":"), 16);
    assert_non_null(strstr(text.data, "{\"a\":\"S-0000000000200000\",\"a_port\":1,"
                                      "\"b\":\"S-0000000000200001\",\"b_port\":1,"
                                      "\"width\":\"4x\",\"speed\":\"SDR\",\"length_mm\":20000}"));
    text_release(&text);
    topology_release(&t);
}

static void small_drawings_show_ports_and_hosts(void **state)
{
    struct topology t;
    struct text text = {0};
    must_generate(&t, "figure1", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(count_text(text.data, " -- "), 16);
    assert_int_equal(count_text(text.data, "taillabel"), 16);
    assert_non_null(strstr(text.data, "H15"));
    text_clear(&text);
    draw(&t, DRAWING_SVG, &text);
    assert_int_equal(count_text(text.data, "fill=\"none\" d=\"M"), 16);
    assert_int_equal(count_text(text.data, "class=\"p\""), 32);
    assert_non_null(strstr(text.data, "<title>H15</title>"));
    text_release(&text);
    topology_release(&t);
}

static void large_drawings_fold_hosts_and_then_switches(void **state)
{
    struct topology t;
    struct text text = {0};
    must_generate(&t, "fattree 648", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(count_text(text.data, " -- "), 648);
    assert_int_equal(count_text(text.data, "18 hosts"), 36);
    assert_int_equal(count_text(text.data, "pos="), 54);
    topology_release(&t);
    text_clear(&text);
    must_generate(&t, "fattree 5832", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(count_text(text.data, " -- "), 18);
    assert_int_equal(count_text(text.data, "36 switches"), 18);
    topology_release(&t);
    text_clear(&text);
    must_generate(&t, "jellyfish 400", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(count_text(text.data, "shape=point"), 400);
    topology_release(&t);
    text_release(&text);
}

static void descriptions_cannot_break_a_drawing(void **state)
{
    struct topology t;
    struct text text = {0};
    must_read(&t, "Switch 8 \"a\" # \"<b>&\"\"\n");
    draw(&t, DRAWING_SVG, &text);
    assert_non_null(strstr(text.data, "&lt;b&gt;&amp;&quot;"));
    assert_null(strstr(text.data, "<b>"));
    text_clear(&text);
    draw(&t, DRAWING_DOT, &text);
    assert_non_null(strstr(text.data, "label=\"<b>&\\\"\""));
    text_release(&text);
    topology_release(&t);
}

/* Boxes of labels, from the positions ("pos=") in a drawing. */
struct place {
    double x, y;
};

static size_t read_places(const char *dot, struct place *places, size_t room)
{
    size_t count = 0;
    for (const char *at = dot; (at = strstr(at, " [pos=\"")); at++)
        if (count < room && sscanf(at, " [pos=\"%lf,%lf!", &places[count].x, &places[count].y) == 2)
            count++;
    return count;
}

/* Whether the middle of the box is on the line between two other places. */
static bool covers(struct place box, struct place from, struct place to)
{
    double dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
    double along = ((box.x - from.x) * dx + (box.y - from.y) * dy) / square;
    double across = ((box.x - from.x) * dy - (box.y - from.y) * dx);
    return along > 0.01 && along < 0.99 && across * across < 0.01 * square;
}

/* The boxes of switches do not overlap. Where `clear`, no link crosses the middle of a box. */
static void check_places(const char *kind, double width, double height, bool clear)
{
    struct topology t;
    struct text text = {0};
    struct place places[160];
    unsigned from, to;
    must_generate(&t, kind, 1);
    draw(&t, DRAWING_DOT, &text);
    size_t count = read_places(text.data, places, 160);
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            double x = fabs(places[i].x - places[j].x), y = fabs(places[i].y - places[j].y);
            if (x < width && y < height)
                fail_msg("%s: switches %zu and %zu overlap", kind, i, j);
        }
    for (const char *at = text.data; clear && (at = strstr(at, "\n  s")); at++)
        for (size_t i = 0; sscanf(at, "\n  s%u -- s%u", &from, &to) == 2 && i < count; i++)
            if (i != from && i != to && covers(places[i], places[from], places[to]))
                fail_msg("%s: the link from %u to %u crosses switch %zu", kind, from, to, i);
    text_release(&text);
    topology_release(&t);
}

static void direct_networks_are_placed_without_overlaps(void **state)
{
    static const char *const grids[] = {"torus dims=6x5", "torus dims=4x4", "mesh dims=5x4",
                                        "hyperx dims=4x4", "ring switches=9"};
    static const char *const others[] = {
        "torus dims=4x4x4", "torus dims=3x5x4", "mesh dims=3x3x3", "hypercube n=5",
        "hypercube n=7",    "dragonfly",        "jellyfish",       "torus dims=3x3 parallel=2"};
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        check_places(grids[i], 0.75, 0.42, true);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        check_places(others[i], 0.75, 0.42, false);
}

static void a_grid_has_straight_rows_and_a_dragonfly_close_groups(void **state)
{
    struct topology t;
    struct text text = {0};
    struct place places[40];
    must_generate(&t, "mesh dims=4x3", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(read_places(text.data, places, 40), 12);
    for (size_t i = 0; i < 12; i++) /* S0_0, S1_0, S2_0, S3_0, S0_1 … */
        assert_true(fabs(places[i].x - places[i % 4].x) < 0.01 &&
                    fabs(places[i].y - places[i - i % 4].y) < 0.01);
    topology_release(&t);
    text_clear(&text);
    must_generate(&t, "dragonfly", 1);
    draw(&t, DRAWING_DOT, &text);
    assert_int_equal(read_places(text.data, places, 40), 36);
    for (size_t i = 0; i < 36; i++)
        for (size_t j = 0; j < 36; j++) {
            double distance = hypot(places[i].x - places[j].x, places[i].y - places[j].y);
            assert_true(i / 4 == j / 4 || distance > 1);
            assert_true(i / 4 != j / 4 || distance < 2);
        }
    topology_release(&t);
    text_release(&text);
}

static void lines_and_legend_show_width_and_speed(void **state)
{
    struct topology t;
    struct text text = {0};
    must_read(&t, "Switch 8 \"a\" # \"a\"\n[1] \"b\"[1] # \"b\" lid 0 4xHDR\n"
                  "[2] \"b\"[2] # \"b\" lid 0 12xHDR\n[3] \"b\"[3] # \"b\" lid 0 4xEDR\n"
                  "Switch 8 \"b\" # \"b\"\n");
    draw(&t, DRAWING_SVG, &text);
    assert_non_null(strstr(text.data, "4x HDR: 1 link<"));
    assert_non_null(strstr(text.data, "12x HDR: 1 link<"));
    assert_non_null(strstr(text.data, "4x EDR: 1 link<"));
    assert_int_equal(count_text(text.data, "stroke=\"#40505f\" stroke-width=\"1.3\"/>"), 2);
    assert_int_equal(count_text(text.data, "stroke=\"#40505f\" stroke-width=\"2.9\"/>"), 2);
    assert_int_equal(
        count_text(text.data, "stroke=\"#c05a00\" stroke-width=\"1.3\" stroke-dasharray=\"9 5\"/>"),
        2);
    text_release(&text);
    topology_release(&t);
}

static void long_names_keep_both_ends_and_do_not_overlap(void **state)
{
    struct topology t;
    struct text text = {0};
    struct place places[8];
    must_read(&t, "Switch 8 \"a\" # \"a\"\n[1] \"h\"[1]\n[2] \"i\"[1]\n[3] \"b\"[1]\n"
                  "Switch 8 \"b\" # \"b\"\n[2] \"c\"[3]\n"
                  "Switch 8 \"c\" # \"c\"\n[1] \"j\"[1]\n"
                  "Hca 1 \"h\" # \"compute-partition-one-rack-07-node-1\"\n"
                  "Hca 1 \"i\" # \"compute-partition-one-rack-07-node-2\"\n"
                  "Hca 1 \"j\" # \"compute-partition-one-rack-07-node-3\"\n");
    draw(&t, DRAWING_DOT, &text);
    assert_non_null(strstr(text.data, "compute-pa…07-node-2"));
    size_t count = read_places(text.data, places, 8);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(places[i].y - places[j].y) > 0.5 ||
                        fabs(places[i].x - places[j].x) > 20 * 0.08 + 0.2);
    text_release(&text);
    topology_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurm_gets_leaves_pods_and_a_top),
        cmocka_unit_test(slurm_names_are_hosts_once_each_and_switches_unique),
        cmocka_unit_test(json_has_every_node_and_link),
        cmocka_unit_test(small_drawings_show_ports_and_hosts),
        cmocka_unit_test(large_drawings_fold_hosts_and_then_switches),
        cmocka_unit_test(descriptions_cannot_break_a_drawing),
        cmocka_unit_test(direct_networks_are_placed_without_overlaps),
        cmocka_unit_test(a_grid_has_straight_rows_and_a_dragonfly_close_groups),
        cmocka_unit_test(lines_and_legend_show_width_and_speed),
        cmocka_unit_test(long_names_keep_both_ends_and_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
