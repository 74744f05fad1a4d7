/* What fails, as the arguments of `weft whatif --fail` say it: words for a small fabric, each ended
 * by a line break. They are refused with a reason, or each failure names a node and a port of the
 * fabric, and what is written of it for a scenario reads back as the same failure. */
#include "experiment/whatif/whatif.h"
#include "input.h"
#include "small_fabric.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };

/* "fail link S1 2": the arguments are the words behind "fail". */
static void check_text(const struct topology *topology, const struct whatif_failure *failure)
{
    struct whatif_failures again = {0};
    struct text text = {0};
    struct err err = {0};
    const char *words[WORDS];
    size_t count = 0;
    whatif_write_failure(topology, failure, &text);
    promise(text.length > 0 && !strchr(text.data, '\n'));
    char *at = text.data;
    for (char *word; count < WORDS && (word = strsep(&at, " "));)
        words[count++] = word;
    bool fails = strcmp(words[0], "fail") == 0;
    if (!strchr(text.data, '"')) {
        promise(whatif_read_failures(&again, topology, words + fails, count - fails, &err) == 0);
        promise(again.count == 1 && again.items[0].node == failure->node);
    }
    vec_release(&again);
    text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct topology *topology = small_topology();
    struct whatif_failures failures = {0};
    struct err err = {0};
    const char *words[WORDS];
    size_t count = 0;
    if (!size || memchr(data, 0, size))
        return 0;
    char *text = mem_alloc(size + 1), *at = text;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *word; count < WORDS && (word = strsep(&at, "\n"));)
        words[count++] = word;
    int status = whatif_read_failures(&failures, topology, words, count, &err);
    promise(status == 0 || (err.message[0] && memchr(err.message, 0, sizeof err.message)));
    for (size_t i = 0; status == 0 && i < failures.count; i++) {
        const struct whatif_failure *failure = &failures.items[i];
        promise(failure->node == TOPOLOGY_NONE || failure->node < topology->nodes.count);
        promise(failure->port == TOPOLOGY_NONE || failure->port < topology->ports.count);
        check_text(topology, failure);
    }
    vec_release(&failures);
    mem_free(text);
    return 0;
}
