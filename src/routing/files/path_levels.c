/* The service levels of paths as files: read into routes, where all sources at a switch share them.
 */
#include "routing/files/path_levels.h"

#include "routing/files/vl_map_read.h"
#include "routing/model/vl_map.h"

#include <errno.h>
#include <inttypes.h>

/* The SL by which all sources at the switch send to the LID. False if they differ. */
static bool level_at(const struct vl_map *map, uint32_t at, uint16_t lid, uint8_t *level)
{
    const struct network *network = map->network;
    uint32_t first = network->first_terminal[at], end = network->first_terminal[at + 1];
    uint32_t source = first < end ? network->terminals_at[first] : NETWORK_SWITCH | at;
    uint8_t found = vl_map_sl(map, source, lid);
    *level = found == VL_MAP_NO_PATH ? 0 : found;
    for (uint32_t i = first + 1; i < end; i++)
        if (vl_map_sl(map, network->terminals_at[i], lid) != found)
            return false;
    return true;
}

static int take_levels(struct routes *routes, const struct vl_map *map, const char *name,
                       struct err *err)
{
    const struct network *network = map->network;
    size_t cells = (size_t)routes->switch_count * routes->stride;
    uint8_t *levels = mem_zalloc(cells + 1, 1), most = 0;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t lid = 1; lid <= network->top_lid && lid < routes->stride; lid++) {
            uint8_t *level = &levels[(size_t)at * routes->stride + lid];
            if (!level_at(map, at, (uint16_t)lid, level)) {
                char label[NETWORK_LABEL_BYTES];
                mem_free(levels);
                return err_at(err, EINVAL, name, 0,
                              "adapters at %s have different service levels to LID %u",
                              network_label(network, NETWORK_SWITCH | at, label), lid);
            }
            most = *level > most ? *level : most;
        }
    mem_free(routes->service_levels);
    routes->service_levels = levels;
    routes->vls = (uint8_t)(most + 1);
    return 0;
}

int path_levels_read(struct routes *routes, const struct network *network,
                     struct line_reader *lines)
{
    struct vl_map map;
    vl_map_init(&map, network);
    int rc = vl_map_read_path_sl(&map, lines);
    if (!rc)
        rc = take_levels(routes, &map, lines->file, lines->err);
    vl_map_release(&map);
    return rc;
}

static void write_source(const struct routes *routes, const struct network *network,
                         const char *kind, uint64_t guid, uint16_t base, uint32_t at,
                         struct text *out)
{
    text_printf(out, "%s 0x%016" PRIx64 ", base LID %u\n", kind, guid, base);
    for (uint32_t lid = 1; lid <= network->top_lid && lid < routes->stride; lid++)
        if (network->owner[lid] != NETWORK_NONE)
            text_printf(out, "0x%04x : %u\n", lid, routes_level(routes, at, lid));
}

void path_levels_write(const struct routes *routes, const struct network *network, struct text *out)
{
    for (uint32_t i = 0; i < network->terminals.count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        write_source(routes, network, "Channel Adapter", terminal->guid, terminal->lid,
                     terminal->at, out);
    }
    for (uint32_t i = 0; i < network->switches.count; i++) {
        const struct network_switch *node = &network->switches.items[i];
        write_source(routes, network, "Switch", node->guid, node->lid, i, out);
    }
}
