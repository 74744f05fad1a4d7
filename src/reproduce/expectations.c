/* experiments/expected: claims that are known not to hold. One line for a claim and preset, with
 * the reason that the table of claims shows:
 *
 *   san03-fig26/detection today differs "traps report a change at once" */
#include "base/line_reader.h"
#include "reproduce/claims.h"

enum { FILE_LIMIT = 256 * 1024 };

static int read_line(struct expectations *expectations, const struct recipes *recipes,
                     struct cursor *cursor)
{
    struct expectation expectation = {.quick = true, .full = true};
    struct word name, reason;
    unsigned preset, outcome;
    cursor_take(cursor, "a claim", &name);
    expectation.claim = recipes_find_claim(recipes, name.text);
    if (!expectation.claim)
        return word_error(cursor, &name, "there is no claim '%.80s'", name.text);
    cursor_take_choice(cursor, "preset", claim_preset_names, CLAIM_PRESETS, &preset);
    cursor_take_choice(cursor, "outcome", outcome_names, OUTCOMES, &outcome);
    if (cursor_accept(cursor, "quick"))
        expectation.full = false;
    else if (cursor_accept(cursor, "full"))
        expectation.quick = false;
    cursor_take(cursor, "a reason", &reason);
    expectation.preset = (enum claim_preset)preset;
    expectation.outcome = (enum outcome)outcome;
    expectation.reason = reason.text;
    vec_push(&expectations->items, expectation);
    return cursor_take_end(cursor);
}

int expectations_read(struct expectations *expectations, const struct recipes *recipes,
                      const char *path, struct err *err)
{
    struct line_reader *reader = from_file(path, err);
    struct cursor cursor;
    *expectations = (struct expectations){0};
    reader->limit = FILE_LIMIT;
    reader->arena = &expectations->arena;
    while (line_reader_next(reader, &cursor))
        reader->status = read_line(expectations, recipes, &cursor);
    if (reader->status)
        expectations_release(expectations);
    return reader->status;
}

void expectations_release(struct expectations *expectations)
{
    vec_release(&expectations->items);
    arena_release(&expectations->arena);
}

const struct expectation *expectation_find(const struct expectations *expectations,
                                           const struct claim *claim, enum claim_preset preset,
                                           bool quick)
{
    for (size_t i = 0; i < expectations->items.count; i++) {
        const struct expectation *expectation = &expectations->items.items[i];
        if (expectation->claim == claim && expectation->preset == preset &&
            (quick ? expectation->quick : expectation->full))
            return expectation;
    }
    return NULL;
}
