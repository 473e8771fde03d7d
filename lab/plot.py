#!/usr/bin/env python3
"""plot.py [--tall] OUT.svg LABEL=FILE.json... - the rate over time of `causeway copy -j` runs.

        --series OUT.svg AXES LABEL=FILE... - lines of "x y" from files, into an SVG only

Draws lines into an SVG, and bars of each run on the terminal: one line high, or eight with --tall.
"""
import json
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, COLUMNS = 720, 300, 60, 40, 60
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"]


def rates(name):
    """(time, Mbit/s) between samples, the end of the run included."""
    with open(name, encoding="utf-8") as f:
        run = json.load(f)
    points = run["samples"] + [[run["seconds"], run["octets"] - run["resumed_at"]]]
    out = []
    for (t0, n0), (t1, n1) in zip(points, points[1:]):
        if t1 - t0 > 0.01:
            out.append((t1, (n1 - n0) * 8 / (t1 - t0) / 1e6))
    return out


def points(name):
    """(x, y) of each line."""
    with open(name, encoding="utf-8") as f:
        return [tuple(map(float, line.split()[:2])) for line in f]


def svg(runs, axes="seconds; Mbit/s of payload"):
    """Lines: label -> [(x, y)], with what the axes are."""
    end = max((r[-1][0] for r in runs.values() if r), default=1)
    top = max((v for r in runs.values() for _, v in r), default=1) or 1
    x = lambda t: LEFT + t / end * (WIDTH - LEFT - 10)
    y = lambda v: HEIGHT - BOTTOM - v / top * (HEIGHT - BOTTOM - 30)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(5):
        v, t = top * i / 4, end * i / 4
        out.append(f'<path d="M{LEFT} {y(v):.1f}H{WIDTH - 10}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.0f}</text>'
                   f'<text x="{x(t):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                   f'text-anchor="middle">{t:.1f}</text>')
    for i, (label, run) in enumerate(runs.items()):
        path = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in run)
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{path}"/>'
                   f'<text x="{LEFT + 10 + (WIDTH - LEFT) // max(len(runs), 7) * i}" y="18" fill="{colour}">{label}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
               f'{axes}</text></svg>')
    return "\n".join(out) + "\n"


def columns(run):
    """Mean rates; each column stands for the same time."""
    end = run[-1][0]
    cells = [[] for _ in range(min(COLUMNS, len(run)))]
    for t, v in run:
        cells[min(int(t / end * len(cells)), len(cells) - 1)].append(v)
    last, out = 0, []
    for c in cells:
        last = sum(c) / len(c) if c else last
        out.append(last)
    return out


def terminal(label, run):
    """Eight heights in one line."""
    if not run:
        return f"{label}: too short to draw"
    end, top = run[-1][0], max(v for _, v in run) or 1
    line = "".join("▁▂▃▄▅▆▇█"[min(int(v / top * 8), 7)] for v in columns(run))
    return f"{label} {line} up to {top:.0f} Mbit/s in {end:.1f} s"


def chart(label, run):
    """Eight lines of eight heights each, with what the axes are."""
    if not run:
        return f"{label}: too short to draw"
    bars = columns(run)
    bars = [v for v in bars for _ in range(max(1, COLUMNS // len(bars)))]
    top = max(bars) or 1
    out = [f"{label}, Mbit/s of payload"]
    for row in range(7, -1, -1):
        heights = (min(max(int(v / top * 64) - 8 * row, 0), 8) for v in bars)
        mark = f"{top * (row + 1) / 8:6.0f} ┤" if row % 2 else "       │"
        out.append(mark + "".join(" ▁▂▃▄▅▆▇█"[h] for h in heights))
    out.append("     0 └" + "─" * len(bars))
    out.append(" " * 8 + "0 s" + f"{run[-1][0]:.1f} s".rjust(len(bars) - 3))
    return "\n".join(out)


def main(args):
    draw = terminal
    if args[:1] == ["--series"] and len(args) > 3:
        with open(args[1], "w", encoding="utf-8") as f:
            f.write(svg({a.partition("=")[0]: points(a.partition("=")[2]) for a in args[3:]}, args[2]))
        return 0
    if args[:1] == ["--tall"]:
        draw = chart
        args = args[1:]
    if len(args) < 2 or any("=" not in a for a in args[1:]):
        print(__doc__, file=sys.stderr)
        return 2
    sys.stdout.reconfigure(encoding="utf-8")
    runs = {a.partition("=")[0]: rates(a.partition("=")[2]) for a in args[1:]}
    with open(args[0], "w", encoding="utf-8") as f:
        f.write(svg(runs))
    for label, run in runs.items():
        print(draw(label, run))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
