#!/usr/bin/python3
"""adding.py DOC... - do what documents of docs/adding-*.md say, one after the other in a copy of the source tree.

Its code blocks are marked in the fence: `file=PATH` makes a file; `in=PATH before=LINE` or
`after=LINE` adds lines beside the last (before) or first (after) line that, stripped, is LINE; a
`diff` block with `in=PATH` replaces its - lines by its + lines;
`save=NAME` makes a file in the place where `run` blocks are run, with the built programs in PATH;
`output` is what the run block in front of it prints. Then the tests named in the meson.build lines
that were added are run. Prints TAP.

Behind each document its edits are undone; what none of them touches is compiled once, without optimization.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+) (.+?)\n(.*?)^```$", re.M | re.S)
count = 0


def tap(good, name, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in why.splitlines()[-25:] if not good else []:
        print(f"# {line}")
    return good


def copy_tree(to):
    r = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True)
    names = r.stdout.decode().split("\0")[:-1] if r.returncode == 0 else None
    if names is None:
        shutil.copytree(TOP, to, ignore=shutil.ignore_patterns("build*", ".git", "out"))
        return
    for name in names:
        if (TOP / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, to / name)


def insert(path, how, mark, lines):
    """How a person would: beside the line that the document names."""
    body = path.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(body) if line.strip() == mark]
    if not at:
        return f"{path.name} has no line '{mark}'"
    i = at[-1] if how == "before" else at[0] + 1
    path.write_text("".join(body[:i]) + lines + "".join(body[i:]))
    return ""


def patch(path, body):
    old = "".join(l[1:] for l in body.splitlines(keepends=True) if l[0] in " -")
    new = "".join(l[1:] for l in body.splitlines(keepends=True) if l[0] in " +")
    text = path.read_text()
    if text.count(old) != 1:
        return f"{path.name} has these lines {text.count(old)} times:\n{old}"
    path.write_text(text.replace(old, new))
    return ""


def apply(tree, place, lang, info, body):
    """Carry one block out: (file, error), or None for blocks that are no edits."""
    if lang == "diff":
        return info[3:], patch(tree / info[3:], body)
    if m := re.fullmatch(r"file=(\S+)", info):
        (tree / m[1]).parent.mkdir(parents=True, exist_ok=True)
        (tree / m[1]).write_text(body)
        return m[1], ""
    if m := re.fullmatch(r"in=(\S+) (before|after)=(.+)", info):
        return m[1], insert(tree / m[1], m[2], m[3], body)
    if m := re.fullmatch(r"save=(\S+)", info):
        (place / m[1]).write_text(body)
        return m[1], ""
    return None


def build(tree, env, tests, daemon):
    targets = ["causeway"] + ["causewayd"] * daemon + [f"tests/test_{t}" for t in tests]
    setup = [["meson", "setup", "build", "-Dwireshark=disabled", "-Doptimization=0", "-Ddebug=false"]]
    for cmd in (setup if not (tree / "build").exists() else []) + [["ninja", "-C", "build", *targets]]:
        r = subprocess.run(cmd, cwd=tree, env=env, capture_output=True, text=True)
        if r.returncode:
            return r.stdout[-3000:] + r.stderr[-1000:]
    return ""


def follow(doc, tree, place):
    """Returns the files of the tree that were edited."""
    blocks = FENCE.findall((TOP / doc).read_text())
    tests, edited = [], set()
    for lang, info, body in blocks:
        done = apply(tree, place, lang, info, body)
        if done:
            tap(not done[1], f"{info.split()[0]}", done[1])
        if done and not info.startswith("save="):
            edited.add(done[0])
        if done and done[0] == "tests/meson.build":
            tests += re.findall(r"'(\w+)'", body)
    env = dict(os.environ, PATH=f"{tree}/build:{os.environ['PATH']}")
    why = build(tree, env, tests, any("in=daemon/" in b[1] for b in blocks))
    if tap(not why, "it builds", why):
        for name in tests + ["lint_format", "lint_headers", "lint_words"]:
            r = subprocess.run(["meson", "test", "-C", "build", "--no-rebuild", name,
                                "--print-errorlogs"], cwd=tree, capture_output=True, text=True)
            tap(r.returncode == 0, f"meson test {name}", r.stdout)
        run_blocks(blocks, place, env)
    return edited


def undo(tree, edited):
    """With new times, so that ninja sees it."""
    for name in edited:
        (tree / name).unlink()
        if (TOP / name).is_file():
            shutil.copy(TOP / name, tree / name)


def main(docs):
    with tempfile.TemporaryDirectory() as t:
        tree = pathlib.Path(t) / "tree"
        tree.mkdir()
        copy_tree(tree)
        for doc in docs:
            print(f"# {doc}")
            place = pathlib.Path(t) / pathlib.Path(doc).stem
            place.mkdir()
            undo(tree, follow(doc, tree, place))


def run_blocks(blocks, place, env):
    printed = ""
    for _, info, body in blocks:
        if info == "run":
            r = subprocess.run(["sh", "-e"], input=body, cwd=place, env=env, capture_output=True,
                               text=True)
            printed = r.stdout
            tap(not r.stderr, body.splitlines()[0], r.stderr)
        elif info == "output":
            tap(printed == body, "it prints what the document shows",
                f"printed:\n{printed}\nthe document shows:\n{body}")


if __name__ == "__main__":
    main(sys.argv[1:])
    print(f"1..{count}")
