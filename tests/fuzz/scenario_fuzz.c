/* The scenario language: what is accepted keeps its words and places, and can be put on the stage
 * or is refused there; nothing is played. Only figure1 is built: generators take numbers of any
 * size, and other words may name files. */
#include "experiment/run/setup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_word(const struct word *word, unsigned lines)
{
    require(word->line >= 1 && word->line <= lines && word->column >= 1);
}

static void check_statements(const struct scenario *scenario, unsigned lines)
{
    unsigned last = 0;
    for (size_t i = 0; i < scenario->statements.count; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        check_word(&statement->word, lines);
        require(statement->word.line > last && statement->line && statement->line[0]);
        last = statement->word.line;
        for (size_t j = 0; j < statement->word_count; j++) {
            check_word(&statement->words[j], lines);
            require(statement->words[j].text != NULL);
        }
    }
}

static bool is_harmless(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->statements.count; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        bool topology = statement->kind == STATEMENT_TOPOLOGY;
        if (topology &&
            (statement->word_count != 1 || strcmp(statement->words[0].text, "figure1") != 0))
            return false;
        if (statement->kind == STATEMENT_TRAFFIC && statement->spec->file_word.text)
            return false;
        for (size_t j = 0; statement->kind == STATEMENT_MANAGER && j < statement->word_count; j++)
            if (strcmp(statement->words[j].text, "user_routes") == 0)
                return false;
    }
    return true;
}

static void put_on_stage(struct scenario *scenario)
{
    struct setup setup;
    struct run_record *record = mem_zalloc(1, sizeof *record);
    struct err err = {0};
    int status = setup_build(&setup, scenario, record, &err);
    require(status <= 0 && (status == 0 || err.message[0]));
    if (status == 0) {
        require(setup.instances.count == setup.places.count);
        setup_release(&setup);
    }
    run_record_release(record);
    mem_free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario;
    struct err err = {0};
    unsigned lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    int status = scenario_read_text(&scenario, "fuzz", (const char *)data, size, &err);
    if (status) {
        require(status < 0 && err.message[0] && strcmp(err.file, "fuzz") == 0);
        require(err.line <= lines);
        return 0;
    }
    check_statements(&scenario, lines);
    if (is_harmless(&scenario))
        put_on_stage(&scenario);
    scenario_release(&scenario);
    return 0;
}
