/* The measure of a claim: an expression over the evidence of its experiment, stated in the file
 * `figure` below the claim (experiments/README.md describes the language):
 *
 *   let     ratio = fault.time[change=addition] / fault.time[change=removal]
 *   measure mean(networks: ratio) explain "{count(networks: ratio)} networks"
 *
 * measure_read.c reads it into a tree of terms, measure.c evaluates it. A value is a number, a
 * range, or a mean with its confidence interval; NaN stands for "not measured". A figure without
 * `runs:` around it is the mean over networks of the runs that the conditions in force select. Of
 * conditions on the same parameter only the innermost counts. */
#ifndef WEFT_REPRODUCE_MEASURE_H
#define WEFT_REPRODUCE_MEASURE_H

#include "base/line_reader.h"
#include "reproduce/evidence.h"

enum { MEASURED_BYTES = 96 };

/* What a measure yields, in the units of figures: seconds, shares, bits/s, counts. */
struct measured {
    double least, most;        /* equal for a single value; NaN: not measured */
    double half_width;         /* of the 95 % confidence interval of a mean; NaN: none */
    char text[MEASURED_BYTES]; /* an explanation that is shown in brackets; may be "" */
};
struct measured measured_value(double value);
/* From the smaller to the larger of two values; not measured if one is NaN. */
struct measured measured_range(double one, double other);

struct measured measure_evaluate(const struct measure *measure, const struct evidence *evidence,
                                 const char *preset);

/* ---- reading: the rest of a statement; an error is that of the cursor ---- */

/* EXPRESSION [explain "TEXT"] */
void measure_read(struct measure *measure, struct recipe *recipe, struct cursor *cursor);
/* NAME = EXPRESSION: adds it to recipe->definitions. */
void definition_read(struct recipe *recipe, struct cursor *cursor);

/* ---- the tree ---- */

enum term_kind {
    TERM_NUMBER,
    TERM_FIGURE,    /* name */
    TERM_PARAMETER, /* $name: the number of a parameter, or of a table */
    TERM_WHERE,     /* of[0] under a condition */
    TERM_OPERATION, /* of[0] OPERATOR of[1] */
    TERM_CALL, /* FUNCTION(of[0], of[1], ...); of a summary, of[0] is a loop or ALL's operand */
    TERM_LOOP, /* for each value of a parameter, network or run: of[0] */
};

enum operation {
    OPERATION_ELSE,
    OPERATION_IF,
    OPERATION_AND,
    OPERATION_LESS,
    OPERATION_AT_MOST,
    OPERATION_MORE,
    OPERATION_AT_LEAST,
    OPERATION_EQUAL,
    OPERATION_PLUS,
    OPERATION_MINUS,
    OPERATION_TIMES,
    OPERATION_OVER,
    OPERATION_POWER,
};

enum call {
    CALL_LOW,
    CALL_HIGH,
    CALL_MIN,
    CALL_MAX,
    CALL_ABS,
    CALL_FLOOR,
    CALL_RATIO,
    CALL_POINTS, /* of a series, as those up to CALL_ONSET */
    CALL_GROUPS,
    CALL_BEGIN,
    CALL_END,
    CALL_FINAL,
    CALL_ONSET,
    CALL_ALL, /* summaries over loops, from here on */
    CALL_RANGE,
    CALL_STEPS,
    CALL_LEAST,
    CALL_MOST,
    CALL_MEAN,
    CALL_SHARE,
    CALL_SUM,
    CALL_COUNT,
    CALL_FIRST,
    CALL_LAST,
    CALL_RISES,
    CALL_POWER,
    CALL_FIT,
    CALL_POWER_LAW,
    CALL_GEOMETRIC,
    CALL_RANK,
    CALL_LINE,
    CALL_LIST,
    CALLS,
};

enum { OPERANDS = 4 };
struct term {
    enum term_kind kind;
    enum operation operation;
    enum call call;
    const char *name; /* of a figure, parameter or series */
    double number;
    struct condition condition;       /* of a loop without values: all that there are */
    const struct recipe_table *table; /* of a parameter, and of a condition "rate=$half" */
    const struct term *of[OPERANDS];
};

/* A part of an explanation: words, then a value. */
struct piece {
    const char *words;
    const struct term *term; /* NULL: no value follows */
    char format;             /* 'f', 'g', or 'n': a count with its noun */
    int digits;
    const char *noun;
    struct piece *next;
};

#endif
