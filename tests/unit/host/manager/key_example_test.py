#!/usr/bin/env python3
"""The example key of CONTRIBUTING.md: key_example_test.py SOURCE-ROOT BUILD-ROOT

The tests of the configuration run with the example: they compare all keys with the manual. A file then sets the key."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from guide import Example  # noqa: E402

PROGRAM = """#include "host/manager/config.h"
#include <stdio.h>
int main(int count, char **words)
{
    struct config config;
    struct text text = {0};
    struct err err = {0};
    config_init(&config);
    if (count > 1 && config_set(&config, "log_indent", words[1], &err) < 0)
        puts(err.message);
    config_print(&config, &text);
    printf("%u\\n%s", config.log.indent, text.data);
    text_release(&text);
    config_release(&config);
    return 0;
}
"""
# What each line follows, as the text says.
BEHIND = [r"    const char \*prefix;[^\n]*\n", r"[^\n]*log\.prefix[^\n]*\n", r'[^\n]*"%s ", log->options\.prefix\);\n',
          r"\.BR log_prefix [^\n]*\n(?:(?!\.TP)[^\n]*\n)*"]
TEST = "tests/unit/host/manager/config_test.c"

guide = Example("Adding a configuration key")
lines = guide.lines()
guide.claim("the guide has four places", len(lines) == len(BEHIND))
for (path, line), behind in zip(lines, BEHIND):
    guide.insert(path, behind, line)
guide.compile("src/host/files/event_log.c")
guide.objects.clear()
guide.compile(*(name for name in guide.flags if name.startswith("src/host/manager/")), TEST)
target = next(name for name in guide.run("ninja", "-t", "targets", "all", folder=guide.build).stdout.split(": ")
              if name.endswith("host_config_test"))
target = target.split("\n")[-1]
done = guide.run(guide.link(target))
guide.claim("the tests of the configuration hold, also that the manual has all keys", done.returncode == 0,
            done.stdout + done.stderr)
guide.write(TEST, PROGRAM)
guide.compile(TEST)
program = guide.link(target)
for words, expected in ((), "0\n"), (("2",), "2\n"), (("41",), "log_indent: '41': expected"):
    said = guide.run(program, *words).stdout
    guide.claim(f"log_indent {' '.join(words)}", said.startswith(expected), said)
guide.claim("the printed configuration has the default", "#log_indent 0\n" in guide.run(program).stdout, guide.run(program).stdout)
guide.finish()
