/* Memory, descriptors, CPU time and start time of this process, read from /proc (proc(5)),
 * getrusage() and getrlimit() at each scrape. */
#include "host/metrics/process.h"

#include "host/metrics/format.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t count_descriptors(void)
{
    uint64_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

/* Fields 22 to 24 of proc(5)'s stat: start time in ticks, virtual bytes, resident pages. */
static void read_stat(unsigned long long *start, unsigned long long *virtual_bytes,
                      long long *resident)
{
    char line[1024] = "";
    FILE *file = fopen("/proc/self/stat", "re");
    if (file && !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    const char *at = strrchr(line, ')'); /* the name may contain anything */
    *start = *virtual_bytes = 0;
    *resident = 0;
    if (at)
        sscanf(at + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu "
               "%llu %lld",
               start, virtual_bytes, resident);
}

static double boot_time(void)
{
    char line[256];
    unsigned long long seconds = 0;
    FILE *file = fopen("/proc/stat", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "btime %llu", &seconds) == 1)
            break;
    if (file)
        fclose(file);
    return (double)seconds;
}

void process_metrics_print(struct text *out)
{
    unsigned long long start, virtual_bytes;
    long long resident;
    struct rusage usage;
    struct rlimit files;
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &files);
    read_stat(&start, &virtual_bytes, &resident);
    metric_gauge(out, "process_resident_memory_bytes", "Resident memory size in bytes.",
                 (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE));
    metric_gauge(out, "process_virtual_memory_bytes", "Virtual memory size in bytes.",
                 virtual_bytes);
    metric_gauge(out, "process_open_fds", "Number of open file descriptors.", count_descriptors());
    metric_gauge(out, "process_max_fds", "Maximum number of open file descriptors.",
                 files.rlim_cur);
    metric_family(out, "process_cpu_seconds_total", "counter",
                  "Total user and system CPU time spent in seconds.");
    metric_begin(out, "process_cpu_seconds_total");
    metric_end_double(out, (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    metric_family(out, "process_start_time_seconds", "gauge",
                  "Start time of the process since unix epoch in seconds.");
    metric_begin(out, "process_start_time_seconds");
    text_printf(out, " %.2f\n", boot_time() + (double)start / (double)sysconf(_SC_CLK_TCK));
}
