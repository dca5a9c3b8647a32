"""The pages for users of other simulators against the program.

    peer_pages.py PROGRAM REPOSITORY PAGE...

Tables with the heading "| <peer> | here | of |" have in their second column, between backticks, what the peer's word is here:
the path of a key in an experiment (`network.link.rate`), such a path and a value (`backend.variant: cubic`), a command with or without an
option (`astrolabe run --flows`), or a file that docs/results.md explains (`flows.csv`). The third column names the kinds that have
the keys, as `astrolabe describe` knows them. Parts of both columns are separated by semicolons; a single part of the third is for all of
the second. Everything is looked up in what `astrolabe describe --markdown`, `--help` and the page of results say, so that a key that is
renamed breaks this test. YAML on the pages is run, on every engine.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SECTIONS = {"workload": "workloads", "network": "networks", "backend": "backends", "cluster.device": "devices"}
CODE = re.compile(r"`([^`]+)`")


def answer(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


class Reference:
    """Keys and their types, by section and component: what `describe --markdown` prints."""

    def __init__(self, program):
        self.components = {}
        section = name = ""
        for line in answer(program, "describe", "--markdown").splitlines():
            if line.startswith("## "):
                section = line[3:]
            elif line.startswith("### "):
                name = line[4:].strip("`")
                self.components.setdefault((section, name), {})
            elif line.startswith("| `"):
                key, kind = (cell.strip() for cell in line.strip("|").split("|")[:2])
                self.components[section, name][key.strip("`")] = kind

    def kinds(self, section):
        return {name for where, name in self.components if where == section}

    def type_of(self, path, kind):
        """The type of a key by its path in an experiment; None: there is no such key."""
        if kind == "study":
            return self.components["files", "study"].get(path)
        for section, where in SECTIONS.items():
            if path == f"{section}.kind":
                return "one of " + ", ".join(self.kinds(where))
            if path.startswith(section + "."):
                return self.components.get((where, kind), {}).get(path[len(section) + 1:])
        if path in SECTIONS:
            return "mapping"
        if path.startswith("cluster."):
            key = path[len("cluster."):]
            found = self.components["files", "cluster"].get(key)
            collective = re.fullmatch(r"collectives\.[a-z_]+\.(.*)", key)
            if found is None and collective:
                found = self.components.get(("algorithms", kind), {}).get(collective.group(1))
            return found
        return self.components["files", "experiment"].get(path)


def is_of_type(value, kind):
    """Names are those of the type; numbers and quantities are numbers. What a type does not list is not refused."""
    if kind.startswith("one of "):
        return value in re.split(r", or |, | or ", kind[len("one of "):])
    return not kind.startswith("integer") or value.isdigit()


class Page:
    def __init__(self, program, reference, results, path):
        self.program, self.reference, self.results, self.path = program, reference, results, path
        self.wrong = []
        self.checked = 0
        self.help = {}

    def check(self):
        in_table = False
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if len(cells) == 3 and cells[1:] == ["here", "of"]:
                in_table = True
            elif not cells:
                in_table = False
            elif in_table and not set(line) <= set("|- "):
                self.check_row(number, cells)
        return self

    def check_row(self, number, cells):
        if len(cells) != 3:
            self.wrong.append(f"{self.path.name}:{number}: {len(cells)} cells")
            return
        here, of = (re.split(r";(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", cell) for cell in cells[1:])
        if len(of) not in (1, len(here)):
            self.wrong.append(f"{self.path.name}:{number}: {len(here)} parts here, {len(of)} of")
            return
        for i, part in enumerate(here):
            kinds = CODE.findall(of[i if len(of) > 1 else 0]) or [""]
            for word in CODE.findall(part):
                self.checked += 1
                for kind in kinds:
                    why = self.refusal(word, kind)
                    if why:
                        self.wrong.append(f"{self.path.name}:{number}: '{word}': {why}")

    def refusal(self, word, kind):
        if word.startswith("astrolabe "):
            return self.command_refusal(word.split()[1:])
        if re.fullmatch(r"[a-z_]+\.(csv|json|pcapng)", word):
            return "" if word in self.results else "no file that docs/results.md explains"
        path, _, value = word.partition(": ")
        found = self.reference.type_of(path, kind)
        if found is None:
            return f"no key of {kind or 'an experiment'}"
        if value and not is_of_type(value, found):
            return f"'{value}' is not of type '{found}'"
        return ""

    def command_refusal(self, words):
        command, options = words[0], words[1:]
        if command not in self.help:
            done = subprocess.run([self.program, command, "--help"], capture_output=True, text=True, check=False)
            self.help[command] = done.stdout if f"Usage: astrolabe {command} " in done.stdout else None
        if self.help[command] is None:
            return "no such command"
        missing = [option for option in options if not re.search(rf"(^|[\s,]){re.escape(option)}\b", self.help[command])]
        return f"no option {missing[0]}" if missing else ""

    def run_examples(self, backends):
        """Whole experiments on the page."""
        for text in re.findall(r"```yaml\n(.*?)```", self.path.read_text(encoding="utf-8"), re.S):
            if not text.startswith("schema:"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "example.yaml"
                file.write_text(text, encoding="utf-8")
                for backend in ["as it is", *backends]:
                    change = [] if backend == "as it is" else ["--set", f"backend.kind={backend}"]
                    done = subprocess.run([self.program, "run", str(file), *change], capture_output=True, text=True, check=False)
                    self.checked += 1
                    if done.returncode != 0:
                        self.wrong.append(f"{self.path.name}: the example on {backend}: {done.stderr}")


def expect_refusals(reference, results, program):
    """What this test is for: keys, kinds, values, options and files that are not there."""
    page = Page(program, reference, results, pathlib.Path("none"))
    for word, kind in [("network.link.rat", "flat"), ("network.links.rate", "flat"), ("backend.variant: reno", "tcp"),
                       ("backend.window", "fluidd"), ("backend.kind: udp", ""), ("cluster.collectives.all_reduce.window", "ring"),
                       ("cluster.rank", ""), ("background.lod", ""), ("repeats", "study"), ("astrolabe run --flow-monitor", ""),
                       ("astrolabe simulate", ""), ("flow.csv", "")]:
        if not page.refusal(word, kind):
            yield f"'{word}' of '{kind}' is taken"


def main(program, repository, *pages):
    root = pathlib.Path(repository)
    reference = Reference(program)
    results = (root / "docs/results.md").read_text(encoding="utf-8")
    backends = reference.kinds("backends") & {"fluid", "packet", "tcp"}
    wrong = list(expect_refusals(reference, results, program))
    for name in pages:
        page = Page(program, reference, results, root / name).check()
        if page.checked < 15:
            page.wrong.append(f"{name}: only {page.checked} words in tables")
        page.run_examples(sorted(backends))
        print(f"{name}: {page.checked} checked")
        wrong += page.wrong
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
