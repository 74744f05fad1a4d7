/* report_samples run|empty|sweep STORE [TEXT]: makes a store for tests of `weft report`. */
#include "report_samples.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "run") == 0)
        sample_run(argv[2], 2000, argc > 3 ? argv[3] : NULL);
    else if (argc == 3 && strcmp(argv[1], "empty") == 0)
        sample_empty_run(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "sweep") == 0)
        sample_sweep(argv[2]);
    else
        return fprintf(stderr, "usage: report_samples run|empty|sweep STORE [TEXT]\n"), 2;
    return 0;
}
