/* Draws charts by gnuplot. The script for gnuplot is the work of experiments/reproduce/gnuplot.py,
 * which draws the figures of the papers as well; it gets what a page would get. */
#include "base/file.h"
#include "experiment/chart/chart.h"
#include "experiment/chart/program.h"

#include <errno.h>
#include <string.h>

enum { COLUMNS = 2000 }; /* resolution of a curve */

const char *chart_format_of(const char *path)
{
    static const char *const formats[] = {"svg", "png", "pdf"};
    const char *end = strrchr(path, '.');
    for (unsigned i = 0; end && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(end + 1, formats[i]) == 0)
            return formats[i];
    return NULL;
}

int chart_draw(const struct chart *charts, size_t count, const struct chart_plot *plot,
               struct err *err)
{
    struct text data = {0}, script = {0}, picture = {0}, name = {0};
    const char *format = chart_format_of(plot->path);
    if (!format)
        return err_at(err, EINVAL, plot->path, 0, "expected a name in .svg, .png or .pdf");
    chart_json_write(&(struct json){.out = &data, .pretty = true}, NULL, charts, count, COLUMNS);
    text_printf(&name, "%s/reproduce/gnuplot.py", plot->experiments);
    const char *const python[] = {
        "python3", "-E", "-s", "-B", name.data, format, plot->log ? plot->log : "", NULL};
    int status = program_filter(python, "python3", &data, &script, err);
    if (status == 0)
        status = program_filter((const char *const[]){"gnuplot", "-", NULL}, "gnuplot-nox", &script,
                                &picture, err);
    if (status == 0)
        status = file_write(plot->path, &picture, err);
    if (status == 0 && plot->keep) {
        text_clear(&name);
        text_printf(&name, "%s.gp", plot->path);
        status = file_write(name.data, &script, err);
    }
    text_release(&data);
    text_release(&script);
    text_release(&picture);
    text_release(&name);
    return status;
}
