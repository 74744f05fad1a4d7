/* Policies of quality of service, in either syntax, and OpenSM's options: what is accepted gives
 * every question a service level and every link maps and tables that fit it; what is not names its
 * line and changes nothing. */
#include "subnet/qos.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_data(const struct qos *qos)
{
    for (size_t i = 0; i < qos->rules.count; i++) {
        const struct qos_rule *rule = &qos->rules.items[i];
        require(rule->level < qos->levels.count);
        require(rule->first_range + (size_t)rule->range_count <= qos->ranges.count);
    }
    for (size_t i = 0; i < qos->members.count; i++)
        require(qos->members.items[i].group < qos->groups.count);
    for (size_t i = 0; i < qos->levels.count; i++)
        require(qos->levels.items[i].sl < QOS_SLS);
    require(qos->fallback == QOS_NO_LEVEL || qos->fallback < qos->levels.count);
}

static void check_port(const struct qos *qos, const struct qos_layout *layout, unsigned vls,
                       unsigned cap, unsigned high_cap)
{
    struct qos_port port = {.class = QOS_SWITCH_EXTERNAL,
                            .vls = (uint8_t)vls,
                            .high_cap = (uint8_t)high_cap,
                            .low_cap = (uint8_t)cap,
                            .mtu = 4096};
    struct qos_list high, low;
    uint8_t map[QOS_SLS / 2];
    unsigned used = 0, served = 0;
    qos_make_map(qos, layout, &port, map);
    qos_make_arbitration(qos, layout, &port, true, &high);
    qos_make_arbitration(qos, layout, &port, false, &low);
    require(high.count <= high_cap && low.count <= cap);
    for (unsigned i = 0; i < low.count; i++)
        served |= (unsigned)(low.entries[i].weight != 0) << low.entries[i].vl;
    for (unsigned i = 0; i < high.count; i++)
        served |= (unsigned)(high.entries[i].weight != 0) << high.entries[i].vl;
    for (unsigned sl = 0; sl < QOS_SLS; sl++) {
        unsigned vl = map[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
        require(vl < vls || (vl == QOS_DISCARD && !qos->levels_first));
        used |= 1u << vl;
    }
    /* Who writes tables may starve a VL; levels never do. */
    require(!qos->levels_first || !cap || (used & ~served) == 0);
    qos_high_limit(qos, layout, &port);
}

/* 13 of 64 questions, others for each of five numbers of VLs that follow one another. */
static void check_answers(const struct qos *qos, const struct qos_layout *layout, unsigned vls)
{
    for (unsigned i = vls % 5; i < 64; i += 5) {
        struct qos_endpoint party = {
            .port_guid = i, .type = (uint8_t)(i % 4), .self = i & 1, .description = "a"};
        struct qos_request question = {.source_groups = qos_groups_of(qos, &party),
                                       .destination_groups = i,
                                       .target_guid = i * 7,
                                       .service = i * 0x1234,
                                       .p_key = (uint16_t)(i | 0x8000),
                                       .class = (uint16_t)i,
                                       .has_service = i & 2,
                                       .has_p_key = i & 4,
                                       .has_class = i & 8};
        uint8_t sl = 0xFF, vl = (uint8_t)(i % layout->vls);
        uint8_t level = qos_resolve(qos, layout, &question, vl, &sl);
        require(level == QOS_NO_LEVEL || level < qos->levels.count);
        require(sl < QOS_SLS);
        require(!layout->levels || qos_allows(layout, sl, vl));
    }
}

/* Routes can use any number of VLs; a link has one of five. */
static void check_policy(const struct qos *qos)
{
    static const uint8_t links[] = {1, 2, 4, 8, 15};
    static const uint8_t caps[][2] = {{0, 0}, {8, 8}, {8, 1}, {64, 0}, {64, 64}};
    check_data(qos);
    for (unsigned vls = 1; vls <= 15; vls++) {
        struct qos_layout layout;
        struct err refusal;
        qos_make_layout(qos, vls, &layout, &refusal);
        require(layout.vls >= 1 && layout.vls <= vls);
        check_answers(qos, &layout, vls);
        for (unsigned i = 0; i < 25; i++)
            check_port(qos, &layout, links[i / 5], caps[i % 5][0], caps[i % 5][1]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {"max_vls", "ca_high_limit", "rtr_vlarb_high",
                                          "sw0_vlarb_low", "swe_sl2vl"};
    enum { SIZE_LIMIT = 1 << 14 };
    struct qos qos;
    struct err err = {0};
    if (size > SIZE_LIMIT || memchr(data, 0, size))
        return 0;
    char *text = mem_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    qos_init(&qos);
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        qos_set_option(&qos, options[i], text, &err);
    qos.on = true;
    check_policy(&qos);
    int status = qos_read(&qos, from_text("fuzz", text, &err));
    if (status)
        require(status < 0 && err.message[0] && strcmp(err.file, "fuzz") == 0 && !qos.levels.count);
    else
        check_policy(&qos);
    qos_release(&qos);
    mem_free(text);
    return 0;
}
