"""The examples of CONTRIBUTING.md, built from its text.

An Example is one section of the guide and a folder with copies of the files that it changes. Only what a change concerns
is compiled again, with the flags of the build but without optimization; the rest is linked from the build."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


class Example:
    def __init__(self, title):
        self.source, self.build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
        self.folder = tempfile.TemporaryDirectory(prefix="weft.")
        self.copy = pathlib.Path(self.folder.name)
        self.section = self.read("CONTRIBUTING.md").split(f"## {title}\n")[1].split("\n## ")[0]
        self.objects, self.changed, self.flags, self.failed = {}, [], {}, False
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            name = (self.build / entry["file"]).resolve()
            if name.is_relative_to(self.source):
                self.flags.setdefault(str(name.relative_to(self.source)), entry["command"])

    def claim(self, text, holds, said=""):
        print("ok" if holds else "not ok", "-", text)
        if not holds:
            print(said)
        self.failed |= not holds

    def finish(self):
        sys.exit(self.failed)

    def run(self, *command, folder=None):
        return subprocess.run(list(map(str, command)), cwd=folder or self.copy, capture_output=True, text=True, check=False,
                              timeout=100)

    def read(self, path):
        """A file of the tree, with the changes of the example."""
        copied = self.copy / path
        return (copied if copied.exists() else self.source / path).read_text()

    def write(self, path, text):
        (self.copy / path).parent.mkdir(parents=True, exist_ok=True)
        (self.copy / path).write_text(text)
        self.changed.append(path)

    def code(self):
        """The blocks of C in the section."""
        return re.findall(r"```c\n(.*?)```", self.section, re.S)

    def lines(self):
        """The lines that the section adds, as (file, text). A text can go over several lines."""
        block = "".join(re.findall(r"```\n((?:src|tests|docs)/.*?)```", self.section, re.S))
        found = re.findall(r"^((?:src|tests|docs)/\S+):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$", block, re.M)
        return [(path, re.sub(r"\n[ \t]+", "\n", text)) for path, text in found]

    def insert(self, path, behind, text):
        """Puts the text behind the last match of a pattern."""
        old = self.read(path)
        end = list(re.finditer(behind, old))[-1].end()
        self.write(path, old[:end] + text.rstrip("\n") + "\n" + old[end:])

    def compile(self, *paths, like=None):
        """Compiles sources with the headers of the copy, which come first."""
        for path in paths:
            command = shlex.split(self.flags[like or path])
            for option in ("-MQ", "-MF"):
                del command[command.index(option) : command.index(option) + 2]
            command.remove("-MD")
            for changed in self.changed:  # a manual that a test reads
                command = [word.replace(str(self.source / changed), str(self.copy / changed)) for word in command]
            command[-1] = str(self.copy / path if (self.copy / path).exists() else self.source / path)
            self.objects[path] = self.copy / (path.replace("/", "_") + ".o")
            command[command.index("-o") + 1] = str(self.objects[path])
            first = next(i for i, word in enumerate(command) if word.startswith("-I"))
            command[first:first] = [f"-I{self.copy / 'src'}", f"-I{(self.source / path).parent}"]
            done = self.run(*command[:-2], "-O0", "-U_FORTIFY_SOURCE", *command[-2:], folder=self.build)
            self.claim(f"{path} compiles without a warning", done.returncode == 0 and not done.stderr, done.stderr)

    def link(self, target="weft"):
        """Links a program of the build; the objects of the example come before those of libraries. The commands of weft
        are in weft only."""
        objects = [made for path, made in self.objects.items() if target == "weft" or not path.startswith("src/cli/")]
        command = shlex.split(self.run("ninja", "-t", "commands", target, folder=self.build).stdout.splitlines()[-1])
        at = command.index("-o") + 1
        names = [path.replace("/", "_") for path in self.objects]
        command = [word for word in command
                   if not word.endswith(".o") or not any(name.endswith(pathlib.Path(word).stem) for name in names)]
        command[at : at + 1] = [str(self.copy / "program"), *map(str, objects)]
        done = self.run(*command, folder=self.build)
        self.claim(f"{target} links", done.returncode == 0, done.stderr)
        return self.copy / "program"

    def link_with(self, *libraries):
        """Links the objects of the example alone with libraries of the build."""
        flags = [word for word in shlex.split(next(iter(self.flags.values()))) if word.startswith("-fsanitize")]
        done = self.run("cc", *flags, "-o", self.copy / "program", *self.objects.values(), *libraries, "-lm", folder=self.build)
        self.claim("the example links", done.returncode == 0, done.stderr)
        return self.copy / "program"

    def manual_has(self, path, text):
        """A line of a manual, as its reader sees it."""
        self.claim(f"{path} has it", text in self.read(path))
