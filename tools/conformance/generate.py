#!/usr/bin/env python3
"""Writes recorded cases for `engine verify`: models, inputs, and what a reference answers."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import time
from collections import Counter
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    __package__ = "conformance"

from conformance.families import all_cases  # noqa: E402
from conformance.model import Case  # noqa: E402
from conformance.pool import Pool  # noqa: E402
from conformance.record import Verdict  # noqa: E402
from conformance.selection import committed  # noqa: E402


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="folder that gets one folder per case")
    parser.add_argument("--only", metavar="PATTERN", help="cases whose name matches (shell pattern, or a part of it)")
    parser.add_argument("--committed", action="store_true", help="only the small set that the repository keeps")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--force", action="store_true", help="write cases again that are there already")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--report", type=Path, help="also write every verdict to this JSON file")
    parsed = parser.parse_args()
    if not parsed.list and parsed.output is None:
        parser.error("--output is needed")
    return parsed


def chosen(options: argparse.Namespace) -> list[Case]:
    """The cases the command line asks for."""
    cases = all_cases()
    if options.committed:
        cases = committed(cases)
    if options.only:
        pattern = options.only if any(c in options.only for c in "*?[") else f"*{options.only}*"
        cases = [c for c in cases if fnmatch.fnmatchcase(c.name, pattern)]
    return cases


def is_complete(folder: Path) -> bool:
    """Whether a case was written to the end (its arrays come last)."""
    return (folder / "case_0.npz").exists()


def main() -> int:
    """Runs the generator; 0 when every case was written."""
    options = arguments()
    cases = chosen(options)
    if options.list:
        print("\n".join(c.name for c in cases))
        return 0
    begun = time.monotonic()
    todo = cases if options.force else [c for c in cases if not is_complete(options.output / c.name)]
    verdicts: list[Verdict] = []
    terminal = sys.stderr.isatty()

    def done(verdict: Verdict) -> None:
        verdicts.append(verdict)
        if terminal:
            print(f"\r\x1b[K{len(verdicts)}/{len(todo)} {verdict.name}"[:110], end="", file=sys.stderr, flush=True)

    pool = Pool(options.jobs, options.output)
    if todo:
        pool.run(todo, done)
    if terminal:
        print("\r\x1b[K", end="", file=sys.stderr)
    print_report(verdicts)
    if options.report:
        options.report.write_text(json.dumps([v.as_json() for v in verdicts], indent=1) + "\n")
    failed = sum(v.source == "failed" for v in verdicts)
    if failed:
        print(f"the workers' output: {pool.log}")
    seconds = time.monotonic() - begun
    print(f"{len(verdicts) - failed} written, {len(cases) - len(todo)} there already, {failed} failed, {seconds:.0f} s")
    return 1 if failed else 0


def print_report(verdicts: list[Verdict]) -> None:
    """Which cases do not follow the interpreter, and why; then how many follow what."""
    surprising = sorted((v for v in verdicts if v.surprising), key=lambda v: v.name)
    if surprising:
        width = min(48, max(len(v.name) for v in surprising))
        print(f"{'case':<{width}}  {'expects':<11}  because")
        for verdict in surprising:
            print(f"{verdict.name:<{width}}  {verdict.source:<11}  {verdict.why}")
    for source, count in sorted(Counter(v.source for v in verdicts).items()):
        print(f"{count:>6}  {source}")


if __name__ == "__main__":
    sys.exit(main())
