/* What the topology tests share: fabrics from text and from generators, and their text again. */
#ifndef WEFT_TESTS_TOPOLOGY_SUPPORT_H
#define WEFT_TESTS_TOPOLOGY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/line_reader.h"
#include "topology/generators/generate.h"
#include "topology/graph.h"

#include <stdio.h>
#include <string.h>

static inline void must_read(struct topology *topology, const char *text)
{
    struct err err;
    char message[1024];
    topology_init(topology);
    if (topology_read(topology, from_text("net", text, &err)))
        fail_msg("%s", err_text(&err, message, sizeof message));
}

static inline void must_read_file(struct topology *topology, const char *path)
{
    struct err err;
    char message[1024];
    topology_init(topology);
    if (topology_read(topology, from_file(path, &err)))
        fail_msg("%s", err_text(&err, message, sizeof message));
}

/* `words` is one string: "irregular 16 hosts=14". */
static inline void must_generate(struct topology *topology, const char *words, uint64_t seed)
{
    char copy[256];
    const char *list[16] = {""};
    size_t count = 0;
    struct err err;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word && count < 16; word = strtok(NULL, " "))
        list[count++] = word;
    topology_init(topology);
    if (topology_generate(topology, list[0], list + 1, count - 1, seed, &err))
        fail_msg("%s: %s", words, err.message);
}

static inline uint32_t must_find(const struct topology *topology, const char *name)
{
    uint32_t node = topology_find(topology, name);
    if (node == TOPOLOGY_NONE)
        fail_msg("no node %s", name);
    return node;
}

static inline const struct topology_port *port_of(const struct topology *topology, const char *name,
                                                  unsigned port)
{
    return &topology->ports.items[topology_port_index(topology, must_find(topology, name), port)];
}

/* Fails unless the two ports are linked with each other. */
static inline void assert_linked(const struct topology *topology, const char *a, unsigned a_port,
                                 const char *b, unsigned b_port)
{
    uint32_t one = topology_port_index(topology, must_find(topology, a), a_port);
    uint32_t two = topology_port_index(topology, must_find(topology, b), b_port);
    assert_int_equal(topology->ports.items[one].peer, two);
    assert_int_equal(topology->ports.items[two].peer, one);
}

/* Compares everything that the format of ibnetdiscover contains; node names become keys there. */
static inline void assert_same_fabric(const struct topology *a, const struct topology *b)
{
    assert_int_equal(a->nodes.count, b->nodes.count);
    assert_int_equal(a->ports.count, b->ports.count);
    for (size_t i = 0; i < a->nodes.count; i++) {
        const struct topology_node *x = &a->nodes.items[i], *y = &b->nodes.items[i];
        assert_string_equal(x->description, y->description);
        assert_int_equal(x->guid, y->guid);
        assert_int_equal(x->system_guid, y->system_guid);
        assert_int_equal(x->vendor_id, y->vendor_id);
        assert_int_equal(x->device_id, y->device_id);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->first_port, y->first_port);
        assert_int_equal(x->port_count, y->port_count);
        assert_int_equal(x->enhanced_port0, y->enhanced_port0);
    }
    for (size_t i = 0; i < a->ports.count; i++) {
        const struct topology_port *x = &a->ports.items[i], *y = &b->ports.items[i];
        assert_int_equal(x->guid, y->guid);
        assert_int_equal(x->node, y->node);
        assert_int_equal(x->peer, y->peer);
        assert_int_equal(x->lid, y->lid);
        assert_int_equal(x->lmc, y->lmc);
        assert_int_equal(x->width, y->width);
        assert_int_equal(x->speed, y->speed);
        assert_int_equal(x->length_mm, y->length_mm);
    }
}

static inline void assert_survives_writing(const struct topology *topology)
{
    struct text text = {0};
    struct topology again;
    topology_write_ibnetdiscover(topology, &text);
    must_read(&again, text.data);
    assert_same_fabric(topology, &again);
    topology_release(&again);
    text_release(&text);
}

#endif
