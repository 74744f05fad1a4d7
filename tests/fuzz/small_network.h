/* What the targets of src/routing's file readers share: a network for the files to be about.
 *
 * Four switches (0x1 … 0x4, LIDs 1 … 4) in a ring, with a second link between the first two; an
 * adapter at each (0x10 … 0x13, LIDs 8, 10, 12, 14 and the odd ones behind them), the last with a
 * second port at the first switch (LID 16). Names are short, so that a fuzzer finds them. */
#ifndef WEFT_FUZZ_SMALL_NETWORK_H
#define WEFT_FUZZ_SMALL_NETWORK_H

#include "routing/engine/engine.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/* As a reader of files hands it on: terminated, and without NUL bytes before. NULL for an input
 * that would have been refused as no text. */
static inline char *text_of(const uint8_t *data, size_t size)
{
    if (memchr(data, 0, size))
        return NULL;
    char *text = mem_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* An error is negative and says what is wrong, and where. */
static inline void check_error(int status, const struct err *err)
{
    require(status < 0);
    require(err->message[0] && memchr(err->message, 0, sizeof err->message));
    require(strcmp(err->file, "fuzz") == 0 && err->line > 0);
}

static inline void small_network(struct network *network)
{
    network_init(network);
    for (unsigned i = 0; i < 4; i++)
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 6);
    for (unsigned i = 0; i < 4; i++)
        network_link(network, i, 1, (i + 1) % 4, 2);
    network_link(network, 0, 3, 1, 3);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t terminal =
            network_add_terminal(network, 0x10 + i, (uint16_t)(8 + 2 * i), 1, i % 4, 4 + i / 4);
        network->terminals.items[terminal].node_guid = i < 4 ? 0x10 + i : 0x13;
        network_name(network, terminal, "h");
    }
    network->manager = 0;
    require(network_finish(network) == 0);
}

static inline void compute(const struct engine *engine, const struct network *network,
                           struct routes *routes)
{
    struct engine_options options = {0};
    struct err err;
    require(engine->compute(network, &options, routes, &err) == 0);
}

#endif
