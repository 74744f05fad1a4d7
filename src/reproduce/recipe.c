/* Reads the recipe of an experiment: its sweeps, plots, computations and claims. */
#include "reproduce/recipe.h"

#include "base/line_reader.h"
#include "base/time.h"
#include "reproduce/measure.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 * 1024 };

/* ---- statements ---- */

static void read_title(struct recipe *recipe, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "a title", &word);
    if (recipe->title)
        word_error(cursor, &cursor->words[0], "a second title");
    recipe->title = word.text;
}

static void read_conditions(struct conditions *conditions, struct cursor *cursor,
                            const char *const *ends)
{
    struct word word;
    size_t before = conditions->count;
    while (!cursor_is_done(cursor)) {
        const char *text = cursor->words[cursor->at].text;
        for (const char *const *end = ends; *end; end++)
            if (strcmp(text, *end) == 0 && conditions->count > before)
                return;
        cursor_take(cursor, "NAME=VALUE", &word);
        if (!conditions_add(conditions, word.text, cursor->arena))
            word_error(cursor, &word, "'%.80s': expected NAME=VALUE", word.text);
    }
    if (conditions->count == before)
        cursor_take(cursor, "NAME=VALUE", &word);
}

/* The store of "../icpp03-fig07/removal.sweep" is icpp03-fig07-removal.db, whichever recipe names
 * it. */
static const char *name_store(struct recipe *recipe, const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const char *dot = strrchr(base, '.'), *folder = recipe->name;
    if (strncmp(file, "../", 3) == 0)
        folder = file + 3;
    return arena_printf(&recipe->arena, "%.*s-%.*s", (int)strcspn(folder, "/"), folder,
                        dot ? (int)(dot - base) : (int)strlen(base), base);
}

static void read_sweep(struct recipe *recipe, struct cursor *cursor)
{
    static const char *const ends[] = {"as", "quick", NULL};
    struct recipe_sweep sweep = {0};
    struct word word;
    cursor_take(cursor, "a sweep's file", &word);
    sweep.path = arena_printf(&recipe->arena, "%s/%s", recipe->folder, word.text);
    sweep.store = name_store(recipe, word.text);
    while (!cursor_is_done(cursor)) {
        unsigned which;
        cursor_take_choice(cursor, "part of the statement", ends, 2, &which);
        read_conditions(which ? &sweep.quick : &sweep.as, cursor, ends);
    }
    vec_push(&recipe->sweeps, sweep);
}

static void read_compute(struct recipe *recipe, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "a computation's name", &word);
    vec_push(&recipe->computations, word.text);
}

static const char *const plot_words[] = {"x", "y", "by", "where", "from", "to", NULL};
enum { WORD_X, WORD_Y, WORD_BY, WORD_WHERE, WORD_FROM, WORD_TO, PLOT_WORDS };

static bool is_plot_word(const char *text)
{
    for (unsigned i = 0; i < PLOT_WORDS; i++)
        if (strcmp(text, plot_words[i]) == 0)
            return true;
    return false;
}

static void read_ys(struct plot *plot, struct cursor *cursor)
{
    struct word word;
    do {
        cursor_take(cursor, "names of figures", &word);
        if (plot->y_count == PLOT_YS)
            word_error(cursor, &word, "more than %d of them", PLOT_YS);
        else
            plot->y[plot->y_count++] = word.text;
    } while (!cursor_is_done(cursor) && !is_plot_word(cursor->words[cursor->at].text));
}

static void read_plot_part(struct plot *plot, struct cursor *cursor)
{
    struct word word;
    unsigned which;
    cursor_take_choice(cursor, "part of a plot", plot_words, PLOT_WORDS, &which);
    switch (which) {
    case WORD_Y: read_ys(plot, cursor); break;
    case WORD_WHERE: read_conditions(&plot->where, cursor, plot_words); break;
    case WORD_FROM: cursor_take_time(cursor, &plot->from); break;
    case WORD_TO: cursor_take_time(cursor, &plot->to); break;
    default:
        cursor_take(cursor, "the name of a parameter or figure", &word);
        *(which == WORD_X ? &plot->x : &plot->by) = word.text;
    }
}

static void read_plot(struct recipe *recipe, struct cursor *cursor)
{
    static const char *const kinds[PLOT_KINDS] = {"lines", "points", "bars", "stacked", "time"};
    struct plot plot = {.to = TIME_NEVER};
    struct word name, title;
    unsigned kind;
    cursor_take(cursor, "the plot's name", &name);
    cursor_take_choice(cursor, "kind of plot", kinds, PLOT_KINDS, &kind);
    cursor_take(cursor, "a title", &title);
    plot.name = name.text;
    plot.kind = (enum plot_kind)kind;
    plot.title = title.text;
    while (!cursor_is_done(cursor))
        read_plot_part(&plot, cursor);
    if (plot.y_count == 0 || (!plot.x && plot.kind != PLOT_TIME))
        word_error(cursor, &cursor->words[0], "a plot needs an x and a y");
    vec_push(&recipe->plots, plot);
}

static void read_label(struct recipe *recipe, struct cursor *cursor)
{
    struct word name, text;
    cursor_take(cursor, "the name of a figure or parameter", &name);
    cursor_take(cursor, "what it is called", &text);
    vec_push(&recipe->labels, ((struct recipe_label){name.text, text.text}));
}

/* ---- claims ---- */

const char *const claim_kind_names[] = {"result", "fitted", "check"};

static const struct claim_unit units[] = {
    {"", 1},          {"s", 1},        {"ms", 1e-3},    {"us", 1e-6},  {"%", 0.01},
    {"bit/s", 1},     {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"times", 1},  {"packets", 1},
    {"packets/s", 1}, {"SMPs", 1},     {"LIDs", 1},     {"blocks", 1}, {"entries", 1},
    {"ports", 1},     {"switches", 1}, {"links", 1},    {"hosts", 1},  {"functions", 1},
    {"requests", 1},  {"runs", 1},     {"a minute", 1},
};
enum { UNITS = sizeof units / sizeof units[0] };

/* A number of any sign, decimals allowed. */
static void take_real(struct cursor *cursor, const char *what, double *value)
{
    struct word word;
    char *end;
    if (cursor_take(cursor, what, &word) != 0)
        return;
    *value = strtod(word.text, &end);
    if (end == word.text || *end || !isfinite(*value))
        word_error(cursor, &word, "'%.80s': expected %s", word.text, what);
}

static void read_claim_unit(struct claim *claim, struct cursor *cursor)
{
    const char *names[UNITS];
    unsigned which;
    for (unsigned i = 0; i < UNITS; i++)
        names[i] = units[i].name;
    if (cursor_take_choice(cursor, "unit", names + 1, UNITS - 1, &which) == 0)
        claim->unit = &units[which + 1];
}

static void read_claim_bound(struct claim *claim, struct cursor *cursor, bool is_low, bool excluded)
{
    struct claim_bound *bound = is_low ? &claim->low : &claim->high;
    if (!isnan(bound->value))
        word_error(cursor, &cursor->words[cursor->at - 1], "a second %s bound",
                   is_low ? "lower" : "upper");
    take_real(cursor, "a number", &bound->value);
    bound->excluded = excluded;
}

static void read_claim_parts(struct claim *claim, struct cursor *cursor)
{
    static const char *const parts[] = {"unit", "from", "above", "to", "below", "because"};
    enum { UNIT, FROM, ABOVE, TO, BELOW, BECAUSE };
    unsigned which = UNIT;
    struct word word = {0};
    while (which != BECAUSE &&
           cursor_take_choice(cursor, "part of a claim", parts, BECAUSE + 1, &which) == 0)
        if (which == UNIT)
            read_claim_unit(claim, cursor);
        else if (which != BECAUSE)
            read_claim_bound(claim, cursor, which <= ABOVE, which == ABOVE || which == BELOW);
    cursor_take(cursor, "the reason for the tolerance", &word);
    claim->why = word.text;
}

/* The optional kind, and the word `paper`. */
static void read_claim_kind(struct claim *claim, struct cursor *cursor)
{
    const char *names[CLAIM_KINDS + 1];
    unsigned which;
    memcpy(names, claim_kind_names, sizeof claim_kind_names);
    names[CLAIM_KINDS] = "paper";
    if (cursor_take_choice(cursor, "part of a claim", names, CLAIM_KINDS + 1, &which) != 0 ||
        which == CLAIM_KINDS)
        return;
    claim->kind = (enum claim_kind)which;
    cursor_take_exact(cursor, "paper");
}

static void read_claim(struct recipe *recipe, struct cursor *cursor)
{
    struct claim claim = {.experiment = recipe->name,
                          .unit = &units[0],
                          .low.value = NAN,
                          .high.value = NAN,
                          .file = cursor->file,
                          .line = cursor->words[0].line};
    struct word name, text, paper, place;
    cursor_take(cursor, "the claim's name", &name);
    cursor_take(cursor, "the claim", &text);
    read_claim_kind(&claim, cursor);
    cursor_take(cursor, "the value as printed", &paper);
    cursor_take_exact(cursor, "at");
    cursor_take(cursor, "a place in the paper", &place);
    read_claim_parts(&claim, cursor);
    if (cursor->status)
        return;
    claim.name = name.text;
    claim.text = text.text;
    claim.paper = paper.text;
    claim.place = place.text;
    for (size_t i = 0; i < recipe->claims.count; i++)
        if (strcmp(recipe->claims.items[i].name, claim.name) == 0)
            word_error(cursor, &name, "a second claim '%.80s'", claim.name);
    if (isnan(claim.low.value) && isnan(claim.high.value))
        word_error(cursor, &cursor->words[0], "a claim needs a bound: from, above, to or below");
    if (claim.low.value > claim.high.value ||
        (claim.low.value == claim.high.value && (claim.low.excluded || claim.high.excluded)))
        word_error(cursor, &cursor->words[0], "no value is within these bounds");
    vec_push(&recipe->claims, claim);
}

static void read_point(struct recipe *recipe, struct cursor *cursor)
{
    struct word plot, x, text = {.text = "paper"};
    struct printed_point point = {0};
    cursor_take(cursor, "the plot's name", &plot);
    cursor_take(cursor, "a value of x", &x);
    take_real(cursor, "a value of y", &point.y);
    if (!cursor_is_done(cursor))
        cursor_take(cursor, "a name in the legend", &text);
    if (cursor->status)
        return;
    point.plot = plot.text;
    point.x = x.text;
    point.text = text.text;
    for (size_t i = 0; i < recipe->plots.count; i++)
        if (strcmp(recipe->plots.items[i].name, point.plot) == 0) {
            if (recipe->plots.items[i].kind == PLOT_TIME)
                word_error(cursor, &plot, "a plot over time has no points");
            vec_push(&recipe->points, point);
            return;
        }
    word_error(cursor, &plot, "there is no plot '%.80s' above", point.plot);
}

/* ---- measures ---- */

static void read_measure(struct recipe *recipe, struct cursor *cursor)
{
    struct claim *claim =
        recipe->claims.count ? &recipe->claims.items[recipe->claims.count - 1] : NULL;
    if (!claim || claim->measure.value)
        word_error(cursor, &cursor->words[0], "a measure follows its claim");
    else
        measure_read(&claim->measure, recipe, cursor);
}

static void read_table(struct recipe *recipe, struct cursor *cursor)
{
    struct recipe_table table = {0};
    struct word name, parameter;
    cursor_take(cursor, "the table's name", &name);
    cursor_take(cursor, "the name of a parameter", &parameter);
    table.name = name.text;
    table.parameter = parameter.text;
    read_conditions(&table.rows, cursor, (const char *const[]){NULL});
    vec_push(&recipe->tables, table);
}

const char *recipe_table_find(const struct recipe_table *table, const char *value)
{
    for (size_t i = 0; i < table->rows.count; i++)
        if (fnmatch(table->rows.items[i].name, value, 0) == 0)
            return table->rows.items[i].values[0];
    return "";
}

/* ---- the file ---- */

static int read_line(struct recipe *recipe, struct cursor *cursor)
{
    static const char *const names[] = {"title", "sweep", "compute", "plot", "label",
                                        "point", "claim", "measure", "let",  "table"};
    static void (*const readers[])(struct recipe *, struct cursor *) = {
        read_title, read_sweep, read_compute, read_plot,       read_label,
        read_point, read_claim, read_measure, definition_read, read_table};
    unsigned index;
    if (cursor_take_choice(cursor, "statement", names, sizeof names / sizeof names[0], &index) == 0)
        readers[index](recipe, cursor);
    return cursor_take_end(cursor);
}

int recipe_read(struct recipe *recipe, const char *folder, struct err *err)
{
    const char *slash = strrchr(folder, '/');
    struct cursor cursor;
    *recipe = (struct recipe){0};
    recipe->folder = arena_strdup(&recipe->arena, folder);
    recipe->name = arena_strdup(&recipe->arena, slash ? slash + 1 : folder);
    struct line_reader *reader = from_file(arena_printf(&recipe->arena, "%s/figure", folder), err);
    reader->limit = FILE_LIMIT;
    reader->arena = &recipe->arena;
    while (line_reader_next(reader, &cursor))
        reader->status = read_line(recipe, &cursor);
    int status = reader->status;
    if (status == 0 && !recipe->title)
        status = err_at(err, EINVAL, reader->file, 0, "no 'title' statement");
    for (size_t i = 0; i < recipe->claims.count && status == 0; i++)
        if (!recipe->claims.items[i].measure.value)
            status = err_at(err, EINVAL, recipe->claims.items[i].file, recipe->claims.items[i].line,
                            "the claim '%.80s' has no measure", recipe->claims.items[i].name);
    if (status)
        recipe_release(recipe);
    return status;
}

void recipe_release(struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->sweeps.count; i++) {
        conditions_release(&recipe->sweeps.items[i].as);
        conditions_release(&recipe->sweeps.items[i].quick);
    }
    for (size_t i = 0; i < recipe->plots.count; i++)
        conditions_release(&recipe->plots.items[i].where);
    vec_release(&recipe->sweeps);
    vec_release(&recipe->computations);
    vec_release(&recipe->plots);
    vec_release(&recipe->labels);
    vec_release(&recipe->points);
    vec_release(&recipe->claims);
    vec_release(&recipe->definitions);
    for (size_t i = 0; i < recipe->tables.count; i++)
        conditions_release(&recipe->tables.items[i].rows);
    vec_release(&recipe->tables);
    arena_release(&recipe->arena);
}

const char *recipe_label(const struct recipe *recipe, const char *name)
{
    for (size_t i = 0; i < recipe->labels.count; i++)
        if (strcmp(recipe->labels.items[i].name, name) == 0)
            return recipe->labels.items[i].text;
    return name;
}

/* ---- all of them ---- */

static int compare_recipes(const void *a, const void *b)
{
    return strcmp(((const struct recipe *)a)->name, ((const struct recipe *)b)->name);
}

static int add_recipe(struct recipes *recipes, const char *path, const char *name, struct err *err)
{
    struct recipe recipe;
    struct arena arena = {0};
    int status = 0;
    if (access(arena_printf(&arena, "%s/%s/figure", path, name), F_OK) == 0) {
        status = recipe_read(&recipe, arena_printf(&arena, "%s/%s", path, name), err);
        if (status == 0)
            vec_push(recipes, recipe);
    }
    arena_release(&arena);
    return status;
}

int recipes_read(struct recipes *recipes, const char *path, struct err *err)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    int status = 0;
    if (!directory)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    while (status == 0 && (entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            status = add_recipe(recipes, path, entry->d_name, err);
    closedir(directory);
    if (recipes->count)
        qsort(recipes->items, recipes->count, sizeof *recipes->items, compare_recipes);
    if (status == 0 && recipes->count == 0)
        status = err_at(err, ENOENT, path, 0, "no experiments here: none has a file 'figure'");
    if (status)
        recipes_release(recipes);
    return status;
}

void recipes_release(struct recipes *recipes)
{
    for (size_t i = 0; i < recipes->count; i++)
        recipe_release(&recipes->items[i]);
    vec_release(recipes);
}

const struct claim *recipes_find_claim(const struct recipes *recipes, const char *name)
{
    const char *slash = strchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : 0;
    for (size_t i = 0; slash && i < recipes->count; i++) {
        const struct recipe *recipe = &recipes->items[i];
        if (strlen(recipe->name) != length || strncmp(recipe->name, name, length) != 0)
            continue;
        for (size_t c = 0; c < recipe->claims.count; c++)
            if (strcmp(recipe->claims.items[c].name, slash + 1) == 0)
                return &recipe->claims.items[c];
    }
    return NULL;
}
