/* The table of engines. */
#include "routing/paper/fera.h"
#include "routing/paper/published.h"

#include <string.h>

const struct engine engine_pira_fera = {
    .name = "pira+fera",
    .summary = "PIRa's tables at once, FERa's when they are ready",
    .compute = fera_compute,
    .provisional = &engine_pira,
};
const struct engine engine_pira_dr = {
    .name = "pira+dr",
    .summary = "PIRa's tables at once, DR's when they are ready",
    .compute = dr_compute,
    .provisional = &engine_pira,
    .renames = true,
    .published = published_dr,
};

static const struct engine *const engines[] = {
    &engine_fera,  &engine_pira,   &engine_dr,   &engine_minhop,    &engine_updn,
    &engine_ftree, &engine_dor,    &engine_auto, &engine_pira_fera, &engine_pira_dr,
    &engine_sssp,  &engine_dfsssp, &engine_lash, &engine_nue,
};
enum { ENGINE_COUNT = sizeof engines / sizeof engines[0] };

const struct engine *engine_at(size_t index)
{
    return index < ENGINE_COUNT ? engines[index] : NULL;
}

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
