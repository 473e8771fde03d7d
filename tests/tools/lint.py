#!/usr/bin/env python3
"""lint.py CHECK [BUILD] - one static check of the source tree; `lint.py --list` names them.

Prints what is wrong, file and line first, and exits 1; exits 77 (skipped) when a tool is missing.
BUILD is the build directory that `purity` and `symbols` look at (build).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
SOURCE_DIRS = ["include", "lib", "daemon", "cli", "plugins", "fuzz", "tests", "bench"]
LINES_MARK, LINES_MAX = 80, 120
SKIP = 77


def run(*cmd, **kw):
    return subprocess.run(cmd, cwd=TOP, text=True, capture_output=True, **kw)


def need(*tools):
    for t in tools:
        if not shutil.which(t):
            print(f"{t} is not installed")
            sys.exit(SKIP)


def tracked(*suffixes):
    """Files of the tree that are ours: what git knows, or everything in an exported tree."""
    r = run("git", "ls-files")
    if r.returncode == 0:
        names = r.stdout.splitlines()
    else:
        names = [str(p.relative_to(TOP)) for p in TOP.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(("build", "out/", ".git/"))]
    return sorted(n for n in names if (TOP / n).is_file() and
                  (not suffixes or n.endswith(suffixes)) and "/corpus/" not in n)


def c_files(*suffixes):
    return [n for n in tracked(*(suffixes or (".c", ".h"))) if n.split("/")[0] in SOURCE_DIRS]


def text(name):
    return (TOP / name).read_text(encoding="utf-8", errors="replace")


def check_format():
    """layout: clang-format changes nothing"""
    need("clang-format")
    r = run("clang-format", "--dry-run", "-Werror", *c_files())
    return [l for l in r.stderr.splitlines() if "error:" in l]


def check_functions():
    """length: over 80 lines needs `/* long: reason */` inside, over 120 is refused"""
    bad = []
    for name in c_files(".c"):
        start, lines = None, text(name).splitlines()
        for i, line in enumerate(lines, 1):
            if line == "{":
                start = i
            elif line == "}" and start:
                n = i - start + 1
                marked = any("/* long:" in l for l in lines[start - 1:i])
                if n > LINES_MAX or (n > LINES_MARK and not marked):
                    bad.append(f"{name}:{start}: function of {n} lines")
                start = None
    return bad


def public_headers():
    return sorted(str(p.relative_to(TOP / "include")) for p in (TOP / "include").rglob("*.h"))


def check_headers():
    """public headers: each compiles alone as C and as C++, and is installed"""
    listed = re.findall(r"'(causeway/[\w/]+\.h)'", text("include/meson.build"))
    bad = [f"include/{h}: not in include/meson.build" for h in public_headers() if h not in listed]
    tries = [("gcc", "c", "c11"), ("clang", "c", "c11"), ("clang", "c++", "c++11"),
             ("g++", "c++", "c++11")]
    for cc, lang, std in tries:
        if not shutil.which(cc):
            continue
        for h in public_headers():
            r = run(cc, "-x", lang, f"-std={std}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                    "-fsyntax-only", "-Iinclude", "-", input=f"#include <{h}>\n")
            if r.returncode:
                why = [l for l in r.stderr.splitlines() if "error" in l]
                bad.append(f"include/{h}: {cc} as {lang}: {why[0] if why else 'failed'}")
    return bad


# What a library without I/O, clock and global state may ask of its surroundings.
ALLOWED = set("""
memchr memcmp memcpy memmove memset strchr strcmp strlen strncmp strnlen strrchr strspn strcspn strstr
strtoul strtoull strtol strtoll snprintf vsnprintf malloc calloc realloc free aligned_alloc
posix_memalign qsort bsearch __errno_location
__stack_chk_fail __memcpy_chk __memset_chk __memmove_chk __snprintf_chk __vsnprintf_chk
__isoc99_strtoul __cpu_model __cpu_features2 __cpu_indicator_init _GLOBAL_OFFSET_TABLE_ crc32_gzip_refl
""".split())


def check_purity(build="build"):
    """lib/: no I/O, clock, environment, DPDK, mutable globals"""
    bad = []
    for name in [n for n in c_files() if n.startswith(("lib/", "include/"))]:
        for i, line in enumerate(text(name).splitlines(), 1):
            if re.match(r'\s*#\s*include\s*[<"](rte_|time\.h|unistd|sys/|pcap|jansson|assert)', line):
                bad.append(f"{name}:{i}: {line.strip()}")
    lib = TOP / build / "lib" / "libcauseway.a"
    if not lib.exists() or "__asan" in run("nm", str(lib)).stdout:
        return bad
    defined, wanted = set(), {}
    obj = "?"
    for line in run("objdump", "-t", str(lib)).stdout.splitlines():
        if ":     file format" in line:
            obj = line.split(":")[0]
        m = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
        if not m:
            continue
        flags, section, symbol = m.groups()
        if section == "*UND*":
            wanted[symbol] = obj
            continue
        defined.add(symbol)
        if "O" in flags and re.match(r"\.(data|bss|tdata|tbss)(?!\.rel\.ro)|\*COM\*", section):
            bad.append(f"lib ({obj}): mutable {symbol} in {section}")
    for symbol in sorted(set(wanted) - defined - ALLOWED):
        bad.append(f"lib ({wanted[symbol]}): calls {symbol}, which is not in the list of lint.py")
    return bad


def declared(cc="cc"):
    """Functions and data that the public headers declare with external linkage, by the preprocessor."""
    every = "".join(f"#include <{h}>\n" for h in public_headers())
    body, ours = [], False
    for line in run(cc, "-E", "-Iinclude", "-x", "c", "-", input=every).stdout.splitlines():
        m = re.match(r'# \d+ "(.*?)"', line)
        if m:
            ours = m[1].startswith("include/causeway")
        elif ours:
            body.append(line)
    # Bodies of functions, structures and initialisers are no declarations.
    body, n = "\n".join(body), 1
    while n:
        body, n = re.subn(r"\{[^{}]*\}", "#", body)
    body = re.sub(r"static [^;#]*\)\s*#", "", body)
    names = set()
    for one in body.split(";"):
        one = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", one, flags=re.S).strip()
        if one.startswith(("typedef", "static")):
            continue
        if one.startswith("extern"):
            names.update(re.findall(r"\b(cw_\w+)(?:\[\w*\])*\s*(?:,|$)", one))
        elif "(" in one:
            names.update(re.findall(r"\b(cw_\w+)\s*\(", one)[:1])
    return names


def check_symbols(build="build"):
    """libcauseway.so: exports what the public headers declare, and nothing else"""
    lib = TOP / build / "lib" / "libcauseway.so"
    if not lib.exists():
        print("no shared library in this build")
        sys.exit(SKIP)
    out = run("nm", "-D", "--defined-only", str(lib)).stdout
    names = {l.split()[-1].split("@")[0] for l in out.splitlines()}
    names = {n for n in names if not re.match(r"CAUSEWAY_\d", n)}
    wanted = declared()
    if not names or not wanted:
        return [f"{lib}: exports nothing, or the headers declare nothing"]
    return [f"{lib.name}: exports {n}, which no public header declares"
            for n in sorted(names - wanted)] + [
            f"{lib.name}: does not export {n}" for n in sorted(wanted - names)]


def check_words():
    """leftovers: no notes to self, no blanks at line ends, newline at the end"""
    bad = []
    note = re.compile(r"(//|/\*|#|\*|<!--|\.\\\")\s*(TODO|FIXME|XXX)\b|\b(TODO|FIXME):")
    for name in tracked(".c", ".h", ".py", ".sh", ".md", ".build", ".yang", ".json", ".txt", ".1",
                        ".8", ".map"):
        if name == "tests/tools/lint.py":
            continue
        body = text(name)
        for i, line in enumerate(body.splitlines(), 1):
            if note.search(line):
                bad.append(f"{name}:{i}: {line.strip()[:60]}")
            if line.rstrip() != line and not name.endswith(".md"):
                bad.append(f"{name}:{i}: blank at the end of the line")
        if body and not body.endswith("\n"):
            bad.append(f"{name}: no newline at the end")
    return bad


def shell_scripts():
    for name in tracked():
        with open(TOP / name, "rb") as f:
            head = f.readline(80)
        m = re.match(rb"#!\s*/(?:usr/)?bin/(?:env )?(ba)?sh\b", head)
        if m:
            yield name, "bash" if m[1] else "sh"


def check_scripts():
    """scripts: parse, are executable, and shellcheck (if it is there) has no warning"""
    # Variables of a library that is sourced: 2034, 2154. A name with a dash: 2100. ulimit -l: 3045.
    check = ["shellcheck", "-S", "warning", "-e", "SC2034,SC2154,SC2100,SC3045", "-f", "gcc"]
    bad, by_shell = [], {}
    for name, shell in shell_scripts():
        r = run(shell, "-n", name)
        bad += [f"{name}: {l}" for l in r.stderr.splitlines()[:3]]
        if not os.access(TOP / name, os.X_OK) and not name.endswith(("lib.sh", "rc")):
            bad.append(f"{name}: not executable")
        by_shell.setdefault(shell, []).append(name)
    if shutil.which("shellcheck"):
        for shell, names in by_shell.items():
            bad += run(*check, "-s", shell, *names).stdout.splitlines()
    for name in tracked(".py"):
        try:
            compile(text(name), name, "exec")
        except SyntaxError as e:
            bad.append(f"{name}:{e.lineno}: {e.msg}")
    return bad


def check_man():
    """man pages: mandoc has nothing to say; each leads to pages that are there, and to causeway(1)"""
    need("mandoc")
    pages = {pathlib.Path(n).name: n for n in tracked() if re.search(r"(^|/)man/.*\.[1-9]$", n)}
    bad = run("mandoc", "-T", "lint", "-W", "warning", *pages.values()).stdout.splitlines()
    for page, name in pages.items():
        body, _, see = text(name).partition(".Sh SEE ALSO")
        here, there = (set(re.findall(r"^\.Xr (causeway\S*) (\d)", part, re.M)) for part in (body, see))
        bad += [f"{name}: there is no page {n}({s})" for n, s in here | there if f"{n}.{s}" not in pages]
        wanted = here | {("causeway", "1")} if page != "causeway.1" else here
        bad += [f"{name}: SEE ALSO lacks {n}({s})" for n, s in wanted - there]
    return bad


def anchors(body):
    """The anchors that a forge makes of the headings."""
    out = set()
    for h in re.findall(r"^#+\s+(.+?)\s*#*$", body, re.M):
        h = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).lower()
        out.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", h)))
    return out


def check_links():
    """documents: every relative link leads to a file, every #part to a heading"""
    bad = []
    for name in tracked(".md"):
        body = re.sub(r"```.*?```", "", text(name), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", body):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, part = target.partition("#")
            at = (TOP / name).parent / path if path else TOP / name
            if not at.exists():
                bad.append(f"{name}: {target}: no such file")
            elif part and at.suffix == ".md" and part not in anchors(at.read_text()):
                bad.append(f"{name}: {target}: no such heading")
    return bad


def check_elements():
    """IPoIB: docs/ipoib.md's tables name tests that exist, and every test named after a section or a fault"""
    bad, named = [], {}
    known = unit_tests()
    rows = re.findall(r"^\| (\d+) \|.*?\|(.*)\|$", text("docs/ipoib.md"), flags=re.M)
    for number, cell in rows:
        tests = re.findall(r"`([sf]\d\w+|rfc_?\d\w+)`", cell)
        named.update({t: number for t in tests})
        bad += [f"docs/ipoib.md: row {number}: there is no test {t}" for t in tests if t not in known]
        bad += [f"docs/ipoib.md: row {number}: no test"] if not tests else []
        for said, script in re.findall(r'"([^"]+)" in `([^`]+)`', cell):
            if f'"{said}"' not in text(script):
                bad.append(f"docs/ipoib.md: row {number}: {script} has no check \"{said}\"")
    if [int(n) for n, _ in rows[:26]] != list(range(1, 27)):
        bad.append("docs/ipoib.md: RFC 4391 has the elements 1 to 26")
    for test, name in known.items():
        if re.match(r"tests/unit/(ipoib\w*|wire_ib)\.c", name) and re.match(r"[sf]\d", test) and test not in named:
            bad.append(f"{name}: {test} is in no table of docs/ipoib.md")
    return bad


def check_configs():
    """documents: a block below <!-- FILE --> is that file"""
    bad, shown = [], set()
    for name in tracked(".md"):
        for file, body in re.findall(r"^<!-- (lab/\S+) -->\n```\w*\n(.*?)^```$", text(name), re.S | re.M):
            shown.add(file)
            if not (TOP / file).exists() or body != text(file):
                bad.append(f"{name}: the block below {file} is not that file")
    return bad + [f"{name}: no document shows it" for name in tracked()
                  if name.startswith("lab/pnc/") and name not in shown]


def unit_tests():
    """Name of each cmocka test: the file that has it."""
    return {t: n for n in tracked(".c") if n.startswith("tests/unit/")
            for t in re.findall(r"cmocka_unit_test\((\w+)\)", text(n))}


def yang_nodes(name):
    """Paths of the data nodes of a YANG module, below its top container: ub2e/udp/port."""
    body = re.sub(r'"[^"]*"|//[^\n]*', '""', text(name))
    out, stack = set(), []
    for word, arg, mark in re.findall(r'([\w:-]+)?\s*("{2}|[\w:./-]+)?\s*([{};])', body):
        if word in ("container", "list", "leaf", "leaf-list") and mark == "{":
            stack.append(arg)
            out.add("/".join(n for n in stack[1:] if n))
        elif mark == "{":
            stack.append("causeway" if word == "module" else None)
        elif mark == "}":
            stack.pop()
    return {p[len("causeway/"):] for p in out if p.startswith("causeway/")}


def rule_rows(bad):
    """Table of docs/ub2e.md's rules: the tests and the leaves that stand in it."""
    tests, leaves = set(), set()
    known, nodes = unit_tests(), yang_nodes("yang/causeway.yang")
    sections = []
    for section, rule, setting, cell in re.findall(
            r"^\| (\d[\d.]*) \| (.*?) \| ?(.*?) ?\| (.*?) ?\|$", text("docs/ub2e.md"), re.M):
        sections.append(section)
        for leaf in re.findall(r"`([^`]+)`", setting):
            leaves.add(leaf)
            bad += [] if leaf in nodes else [f"docs/ub2e.md: {rule}: there is no setting {leaf}"]
        named = re.findall(r"`([^`]+)`", cell)
        bad += [] if named else [f"docs/ub2e.md: {rule}: no test"]
        for t in named:
            if t not in known and not ("/" in t and (TOP / t).is_file()):
                bad.append(f"docs/ub2e.md: {rule}: there is no test {t}")
        tests.update(named)
    for s in ["3", "4", "4.1", "4.2", "5", "5.1", "5.2", "5.2.1", "5.2.2", "5.3"]:
        bad += [] if s in sections else [f"docs/ub2e.md: nothing about section {s}"]
    bad += [f"docs/ub2e.md: setting {n} is in no row" for n in sorted(nodes - leaves)
            if n.startswith("ub2e/") and n.count("/") > 1]
    bad += [f"{f}: {t} is in no table of docs/ub2e.md" for t, f in known.items()
            if re.match(r"tests/unit/ub2e_", f) and re.match(r"s\d_", t) and t not in tests]


def drop_rows(bad):
    """Table of docs/ub2e.md's drops: each is provoked by a test that is there and speaks of it."""
    listed = text("include/causeway/drop.h").split("#define CW_NOTES")[0]
    drops = {n: i for i, n in re.findall(r'\tX\((\w+),\s+"([\w-]+)"', listed)}
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) ?\|$", text("docs/ub2e.md"), re.M))
    faults = text("cli/traffic_fault.c")
    for n in sorted(set(drops) ^ set(rows)):
        bad.append(f"docs/ub2e.md: drop {n} is only " + ("here" if n in rows else "in drop.h"))
    for n in set(drops) & set(rows):
        for t in re.findall(r"`([^`]+)`", rows[n]) or ["no test"]:
            body = text(t) if (TOP / t).is_file() else ""
            if t == "lab/faults.sh":
                body = faults
            if not re.search(rf'CW_DROP_{drops[n]}\b|(?<![\w-]){n}(?![\w-])', body):
                bad.append(f"docs/ub2e.md: {n}: not in {t}")


def check_rules():
    """UB2E: docs/ub2e.md has every rule's setting and test, and a test for every drop"""
    bad = []
    rule_rows(bad)
    drop_rows(bad)
    return bad


def check_used():
    """public functions: somebody calls each of them: another file, or a test"""
    bodies = {n: re.sub(r"/\*.*?\*/|//[^\n]*", "", text(n), flags=re.S) for n in tracked(".c", ".h")}
    where = {}
    for name, body in bodies.items():
        for word in set(re.findall(r"\bcw_\w+", body)):
            where.setdefault(word, set()).add(name)
    bad = []
    for name in [n for n in bodies if n.startswith("include/")]:
        for f in re.findall(r"^(?!CW_INLINE|static)\w[\w \t*]*?\b\**(cw_\w+)\(", bodies[name], flags=re.M):
            calls = len(re.findall(rf"\b{f}\b", bodies[name]))
            others = {n for n in where[f] if not n.startswith("include/")}
            made = any(re.search(rf"^\w[\w \t*]*?\b\**{f}\([^;{{]*\)\s*{{", bodies[n], flags=re.M)
                       for n in others)
            if len(where[f]) + calls - 1 < (3 if made else 2):
                bad.append(f"{name}: no other file calls {f}")
    return bad


CHECKS = {k[6:]: v for k, v in list(globals().items()) if k.startswith("check_")}


def main(args):
    if args == ["--list"]:
        for name, f in CHECKS.items():
            print(f"{name:10} {f.__doc__}")
        return 0
    if not args or args[0] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    f = CHECKS[args[0]]
    bad = f(*args[1:]) if args[0] in ("purity", "symbols") else f()
    print("\n".join(bad) if bad else f"{args[0]}: ok")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
