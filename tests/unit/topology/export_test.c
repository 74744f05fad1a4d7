#include "support.h"

#include "topology/export.h"

static void write_slurm(const struct topology *topology, struct text *text)
{
    struct graph graph;
    graph_init(&graph, topology);
    topology_write_slurm(topology, &graph, text);
    graph_release(&graph);
}

static const char *write_dot(const struct topology *topology, struct text *text)
{
    struct graph graph;
    graph_init(&graph, topology);
    const char *program = topology_write_dot(topology, &graph, DRAWING_LIMITS, text);
    graph_release(&graph);
    return program;
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
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    struct topology t;
    struct text text = {0};
    must_generate(&t, "figure1", 1);
    assert_string_equal(write_dot(&t, &text), "dot");
    assert_int_equal(count_text(text.data, " -- "), 16);
    assert_int_equal(count_text(text.data, "taillabel"), 16);
    assert_non_null(strstr(text.data, "H15"));
    text_release(&text);
    topology_release(&t);
}

static void large_drawings_fold_hosts_and_then_switches(void **state)
{
    (void)state;
    struct topology t;
    struct text text = {0};
    must_generate(&t, "fattree 648", 1);
    assert_string_equal(write_dot(&t, &text), "neato");
    assert_int_equal(count_text(text.data, " -- "), 648);
    assert_int_equal(count_text(text.data, "18 hosts"), 36);
    assert_int_equal(count_text(text.data, "pos="), 54);
    topology_release(&t);
    text_clear(&text);
    must_generate(&t, "fattree 5832", 1);
    assert_string_equal(write_dot(&t, &text), "dot");
    assert_int_equal(count_text(text.data, " -- "), 18);
    assert_int_equal(count_text(text.data, "36 switches"), 18);
    topology_release(&t);
    text_clear(&text);
    must_generate(&t, "jellyfish 400", 1);
    assert_string_equal(write_dot(&t, &text), "sfdp");
    topology_release(&t);
    text_release(&text);
}

static void descriptions_cannot_break_a_drawing(void **state)
{
    (void)state;
    struct topology t;
    struct text text = {0};
    must_read(&t, "Switch 8 \"a\" # \"<b>&\"\"\n");
    write_dot(&t, &text);
    assert_non_null(strstr(text.data, "&lt;b&gt;&amp;&quot;"));
    assert_null(strstr(text.data, "<b>"));
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
