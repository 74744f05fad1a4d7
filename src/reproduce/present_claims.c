/* The list of all claims, as text of 80 columns and as JSON: what the paper prints, where, and
 * which measured values count as the same. */
#include "reproduce/reproduce.h"

#include <math.h>

static void put_claim(struct text *out, const struct claim *claim)
{
    char tolerance[TOLERANCE_BYTES];
    bool is_result = claim->kind == CLAIM_RESULT;
    text_put_wrapped(out, 0, "%s/%s: %s%s%s%s", claim->experiment, claim->name, claim->text,
                     is_result ? "" : " [", is_result ? "" : claim_kind_names[claim->kind],
                     is_result ? "" : "]");
    text_puts(out, "    ");
    text_put_wrapped(out, 4, "paper: %s (%s)", claim->paper, claim->place);
    text_puts(out, "    ");
    text_put_wrapped(out, 4, "holds: %s; %s", claim_tolerance(claim, tolerance), claim->why);
}

static void write_bound(struct json *json, const struct claim_bound *bound, const char *included,
                        const char *excluded)
{
    if (!isnan(bound->value))
        json_double(json, bound->excluded ? excluded : included, bound->value);
}

static void write_claim(struct json *json, const struct claim *claim)
{
    char tolerance[TOLERANCE_BYTES];
    json_begin_object(json, NULL);
    json_string(json, "experiment", claim->experiment);
    json_string(json, "name", claim->name);
    json_string(json, "claim", claim->text);
    json_string(json, "kind", claim_kind_names[claim->kind]);
    json_string(json, "paper", claim->paper);
    json_string(json, "place", claim->place);
    json_string(json, "unit", claim->unit->name);
    write_bound(json, &claim->low, "from", "above");
    write_bound(json, &claim->high, "to", "below");
    json_string(json, "tolerance", claim_tolerance(claim, tolerance));
    json_string(json, "because", claim->why);
    json_end_object(json);
}

void claims_write_list(const struct recipes *recipes, const bool *chosen, bool json_form,
                       struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    if (json_form)
        json_begin_array(&json, NULL);
    for (size_t i = 0; i < recipes->count; i++)
        for (size_t c = 0; chosen[i] && c < recipes->items[i].claims.count; c++)
            if (json_form)
                write_claim(&json, &recipes->items[i].claims.items[c]);
            else
                put_claim(out, &recipes->items[i].claims.items[c]);
    if (json_form) {
        json_end_array(&json);
        text_putc(out, '\n');
    }
}
