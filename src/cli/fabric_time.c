/* Simulated time for the command of `weft fabric`. */
#include "cli/fabric_time.h"

#include "base/parse.h"
#include "base/time.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool fabric_time_is_simulated(const struct fabric_time_options *given)
{
    return given->time && strcmp(given->time, "simulated") == 0;
}

static int read_price(const char *text, struct lockstep_options *options)
{
    size_t length = strcspn(text, "=");
    for (unsigned i = 0; text[length] && lockstep_price_names[i]; i++)
        if (strlen(lockstep_price_names[i]) == length &&
            strncmp(text, lockstep_price_names[i], length) == 0 &&
            time_parse(text + length + 1, &options->prices[i]) &&
            options->prices[i] <= LOCKSTEP_PRICE_MOST)
            return 0;
    return command_usage("--price %s: expected a call and a time up to 1ms, such as post-send=60ns",
                         text);
}

int fabric_time_read(const struct fabric_time_options *given, struct lockstep_options *options)
{
    bool simulated = fabric_time_is_simulated(given);
    double factor = 0;
    const char *rest = "";
    lockstep_options_init(options);
    if (given->time && !simulated && strcmp(given->time, "real") != 0)
        return command_usage("--time %s: expected 'real' or 'simulated'", given->time);
    if (!simulated && (given->charge || given->prices.count))
        return command_usage("%s needs --time simulated",
                             given->charge ? "--charge-cpu" : "--price");
    if (given->charge && (!parse_decimal(given->charge, &factor, &rest) || *rest || factor > 1e6))
        return command_usage("--charge-cpu %s: expected a factor", given->charge);
    options->charge = (uint64_t)(factor * 1e6 + 0.5);
    int result = 0;
    for (size_t i = 0; i < given->prices.count && result == 0; i++)
        result = read_price(given->prices.items[i], options);
    return result;
}

static void print_library(const char *preload, struct text *to)
{
    const char *slash = strrchr(preload, '/');
    text_printf(to, "%.*slibweft-time.so", slash ? (int)(slash + 1 - preload) : 0, preload);
}

int fabric_time_check(const char *preload, struct err *err)
{
    struct text library = {0};
    print_library(preload, &library);
    void *handle = dlopen(library.data, RTLD_LAZY | RTLD_LOCAL);
    int result = 0;
    if (!handle)
        result = err_set(err, ENOENT, "the library of simulated time cannot be loaded: %.300s",
                         dlerror());
    else if (!dlsym(handle, "weft_time_is_simulated"))
        result =
            err_set(err, EINVAL, "'%.200s' is not weft's library of simulated time", library.data);
    if (handle)
        dlclose(handle);
    text_release(&library);
    return result;
}

void fabric_time_prepare(const struct lockstep *lockstep, const char *preload,
                         struct text *libraries)
{
    text_printf(libraries, ":");
    print_library(preload, libraries);
    setenv(WEFT_TIME_VARIABLE, lockstep_path(lockstep), 1);
}

void fabric_time_summarize(const struct lockstep *lockstep, const struct lockstep_options *options)
{
    struct lockstep_counts counts;
    char time[TIME_TEXT_BYTES], late[TIME_TEXT_BYTES];
    lockstep_counts(lockstep, &counts);
    fprintf(stderr, "weft fabric: %s of simulated time; ", time_text(lockstep_now(lockstep), time));
    if (options->charge)
        fprintf(stderr, "computing cost %g of its processor time: times depend on this machine\n",
                (double)options->charge / 1e6);
    else
        fputs("times are those of the network, computing costs none\n", stderr);
    if (counts.late)
        fprintf(stderr,
                "weft fabric: %llu times a program computed so long that time went on without it, "
                "%s in all: these times depend on this machine\n",
                (unsigned long long)counts.late, time_text(counts.late_ps, late));
}
