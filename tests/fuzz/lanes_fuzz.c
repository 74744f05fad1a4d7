/* Files of lanes, each input read as both kinds (a line that is one kind's entry is mostly a remark
 * to the other): lanes and levels stay within their ranges, and any tables can be checked with
 * them, those with holes too. */
#include "routing/check/verify.h"
#include "routing/files/vl_map_read.h"
#include "small_network.h"

static void check_lanes(const struct network *network, const struct vl_map *lanes)
{
    require(lanes->count >= 1 && lanes->count <= VL_MAP_DISCARD);
    for (uint32_t source = 0; source < network->terminals.count; source++)
        for (unsigned dlid = 0; dlid <= NETWORK_TOP_LID; dlid += dlid < 20 ? 1 : 9999)
            require(vl_map_sl(lanes, source, (uint16_t)dlid) < VL_MAP_SLS ||
                    vl_map_sl(lanes, source, (uint16_t)dlid) == VL_MAP_NO_PATH);
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (unsigned i = 0; i < 49; i++)
            for (unsigned sl = 0; sl < VL_MAP_SLS; sl++)
                require(vl_map_vl(lanes, at, (uint8_t)(i / 7), (uint8_t)(i % 7), (uint8_t)sl) <
                        VL_MAP_SLS);
}

/* Made once: no input changes them. */
struct subject {
    struct network network;
    struct routes routes, holes; /* `holes` lacks an entry in each table */
};

static const struct subject *subject(void)
{
    static struct subject made;
    if (made.network.switches.count)
        return &made;
    small_network(&made.network);
    compute(&engine_fera, &made.network, &made.routes);
    compute(&engine_fera, &made.network, &made.holes);
    for (uint32_t at = 0; at < made.holes.switch_count; at++)
        routes_row(&made.holes, at)[8 + 2 * at] = PORT_NONE;
    return &made;
}

static void check_use(const struct subject *subject, const struct vl_map *lanes)
{
    struct verify_options options = {.vl_map = lanes};
    struct verify_report report;
    verify_routes(&subject->network, &subject->routes, &options, &report);
    require(report.vls == lanes->count && verify_passes(&report)); /* fera needs no lanes */
    verify_report_release(&report);
    verify_routes(&subject->network, &subject->holes, &options, &report);
    require(report.cycle.count == 0 && !verify_delivers(&report));
    verify_report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    if (!text)
        return 0;
    const struct subject *given = subject();
    struct vl_map lanes;
    vl_map_init(&lanes, &given->network);
    for (unsigned kind = 0; kind < 2; kind++) {
        struct err err = {0};
        char *copy = mem_strdup(text);
        int status =
            (kind ? vl_map_read_sl2vl : vl_map_read_path_sl)(&lanes, from_text("fuzz", copy, &err));
        if (status && err.line == 0) /* no entries at all */
            require(status < 0 && strcmp(err.file, "fuzz") == 0);
        else if (status)
            check_error(status, &err);
        mem_free(copy);
    }
    check_lanes(&given->network, &lanes);
    check_use(given, &lanes);
    vl_map_release(&lanes);
    mem_free(text);
    return 0;
}
