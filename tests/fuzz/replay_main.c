/* Runs a fuzz target without libFuzzer: every file of its corpus as it is, and then a number of
 * seeded mutations of each.
 *
 *     TARGET CORPUS-DIRECTORY [MUTATIONS]
 *
 * The same corpus gives the same inputs on every machine, so that a failure can be repeated. When
 * an input kills the target or takes longer than ten seconds, the input is kept in a file and its
 * name is printed. Mutations are what libFuzzer does first: flipped bits, interesting bytes, cuts,
 * repetitions and splices of two files; there is no feedback from coverage. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_LIMIT = 1 << 20, SECONDS_AN_INPUT = 10, CHANGES_AT_MOST = 8, DEFAULT_MUTATIONS = 500 };

struct input {
    uint8_t *bytes;
    size_t size;
};
typedef VEC(struct input) inputs;

/* What runs now, for the signal handler. */
static struct input current;
static char kept_name[256];

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void keep_input(int number)
{
    int file = open(kept_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        ssize_t written = write(file, current.bytes, current.size);
        (void)written;
        close(file);
    }
    say(number == SIGALRM ? "\nthe target hangs on the input in "
                          : "\nthe target died of the input in ");
    say(kept_name);
    say("\n");
    signal(number, SIG_DFL);
    raise(number);
}

static void run_input(const uint8_t *bytes, size_t size)
{
    /* A copy of exactly that size, so that a sanitizer sees the first byte read beyond it. */
    current = (struct input){.bytes = malloc(size ? size : 1), .size = size};
    if (!current.bytes)
        exit(2);
    memcpy(current.bytes, bytes, size);
    alarm(SECONDS_AN_INPUT);
    LLVMFuzzerTestOneInput(current.bytes, size);
    alarm(0);
    free(current.bytes);
}

/* Mutations */

static void flip_bit(struct rng *rng, struct input *input)
{
    input->bytes[rng_below(rng, input->size)] ^= (uint8_t)(1u << rng_below(rng, 8));
}

static void set_byte(struct rng *rng, struct input *input)
{
    static const uint8_t interesting[] = {0,    1,   2,   0x3f, 0x40, 0x7f, 0x80, 0x81, 0xfe, 0xff,
                                          '\n', ' ', '"', '[',  ']',  '0',  '9',  '#',  '-'};
    input->bytes[rng_below(rng, input->size)] = interesting[rng_below(rng, sizeof interesting)];
}

static void random_byte(struct rng *rng, struct input *input)
{
    input->bytes[rng_below(rng, input->size)] = (uint8_t)rng_next(rng);
}

static void cut_tail(struct rng *rng, struct input *input)
{
    input->size = rng_below(rng, input->size + 1);
}

static void cut_middle(struct rng *rng, struct input *input)
{
    size_t start = rng_below(rng, input->size), length = rng_below(rng, input->size - start + 1);
    memmove(input->bytes + start, input->bytes + start + length, input->size - start - length);
    input->size -= length;
}

/* Puts `length` bytes of `from` (which may be this input) in at a random place. */
static void insert(struct rng *rng, struct input *input, const struct input *from)
{
    size_t start = rng_below(rng, from->size), at = rng_below(rng, input->size + 1);
    size_t length = rng_below(rng, (from->size - start < 512 ? from->size - start : 512) + 1);
    if (input->size + length > INPUT_LIMIT)
        return;
    uint8_t piece[512];
    memcpy(piece, from->bytes + start, length);
    memmove(input->bytes + at + length, input->bytes + at, input->size - at);
    memcpy(input->bytes + at, piece, length);
    input->size += length;
}

/* The tail of another input from here on. */
static void append_tail(struct rng *rng, struct input *input, const struct input *from)
{
    size_t at = rng_below(rng, input->size), start = rng_below(rng, from->size);
    size_t length = from->size - start;
    if (at + length > INPUT_LIMIT)
        length = INPUT_LIMIT - at;
    memcpy(input->bytes + at, from->bytes + start, length);
    input->size = at + length;
}

static void change(struct rng *rng, struct input *input, const inputs *corpus)
{
    const struct input *other = &corpus->items[rng_below(rng, corpus->count)];
    if (!input->size) {
        input->bytes[input->size++] = (uint8_t)rng_next(rng);
        return;
    }
    switch (rng_below(rng, 9)) {
    case 0:
    case 1: flip_bit(rng, input); break;
    case 2: set_byte(rng, input); break;
    case 3: random_byte(rng, input); break;
    case 4: cut_tail(rng, input); break;
    case 5: cut_middle(rng, input); break;
    case 6: insert(rng, input, input); break;
    case 7:
        if (other->size)
            insert(rng, input, other);
        break;
    case 8:
        if (other->size)
            append_tail(rng, input, other);
        break;
    }
}

static void run_mutations(const inputs *corpus, size_t index, unsigned long mutations)
{
    struct rng rng;
    rng_seed(&rng, index, 0);
    struct input mutant = {.bytes = mem_alloc(INPUT_LIMIT)};
    for (unsigned long i = 0; i < mutations; i++) {
        mutant.size = corpus->items[index].size;
        memcpy(mutant.bytes, corpus->items[index].bytes, mutant.size);
        for (uint64_t left = 1 + rng_below(&rng, CHANGES_AT_MOST); left; left--)
            change(&rng, &mutant, corpus);
        run_input(mutant.bytes, mutant.size);
    }
    mem_free(mutant.bytes);
}

/* Corpus */

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int read_input(const char *directory, const char *name, inputs *corpus)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    struct text content = {0};
    int result = file ? text_read(&content, file, INPUT_LIMIT) : -errno;
    if (file)
        fclose(file);
    if (result) {
        fprintf(stderr, "%s: %s\n", path, strerror(-result));
        text_release(&content);
        return result;
    }
    vec_push(corpus, ((struct input){(uint8_t *)content.data, content.length}));
    return 0;
}

/* In alphabetical order: the order of the directory differs between machines. */
static int read_corpus(const char *directory, inputs *corpus)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_input, alphasort);
    if (count <= 0) {
        fprintf(stderr, "%s: %s\n", directory, count ? strerror(errno) : "no corpus");
        return -1;
    }
    int result = 0;
    for (int i = 0; i < count; i++) {
        result = result ? result : read_input(directory, entries[i]->d_name, corpus);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static unsigned long mutations_wanted(int argc, char **argv)
{
    const char *text = argc > 2 ? argv[2] : getenv("WEFT_FUZZ_MUTATIONS");
    return text ? strtoul(text, NULL, 10) : DEFAULT_MUTATIONS;
}

int main(int argc, char **argv)
{
    inputs corpus = {0};
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s CORPUS-DIRECTORY [MUTATIONS]\n", argv[0]);
        return 2;
    }
    if (read_corpus(argv[1], &corpus))
        return 2;
    const char *slash = strrchr(argv[0], '/');
    snprintf(kept_name, sizeof kept_name, "%s.input", slash ? slash + 1 : argv[0]);
    static const int deadly[] = {
        SIGABRT, SIGALRM,
#ifndef __SANITIZE_ADDRESS__ /* it reports these itself, and then aborts */
        SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
#endif
    };
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], keep_input);

    unsigned long mutations = mutations_wanted(argc, argv);
    for (size_t i = 0; i < corpus.count; i++) {
        run_input(corpus.items[i].bytes, corpus.items[i].size);
        run_mutations(&corpus, i, mutations);
    }
    printf("%zu files, %lu mutations of each\n", corpus.count, mutations);
    for (size_t i = 0; i < corpus.count; i++)
        mem_free(corpus.items[i].bytes);
    vec_release(&corpus);
    return 0;
}
