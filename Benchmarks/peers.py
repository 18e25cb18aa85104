"""Times the engine beside onnxruntime and coreai-core's interpreter, in one run on one machine.

usage: peers.py MODELS [NAME...] [--engine PATH] [--rounds N] [--seconds S] [--json FILE] [--limit RATIO]

MODELS is the folder that models.py wrote. First every peer's outputs are checked against torch's; only then it is
timed. Rounds interleave the peers, each in a process of its own; a peer's time is the median over the rounds of its
median call. onnxruntime gets all cores. `--engine none` leaves the engine out. With --limit the exit status is 1 when
the engine takes more than RATIO times onnxruntime's time on a model.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools/fixtures"))

import interpreter  # noqa: E402

RTOL, ATOL = 1e-3, 1e-4


class Case:
    """A model's inputs, states and torch's answers, as models.py stored them."""

    def __init__(self, folder, name):
        self.name, self.folder = name, folder
        self.asset, self.onnx, self.file = (folder / f"{name}.{kind}" for kind in ("aimodel", "onnx", "npz"))
        with np.load(self.file) as arrays:
            stored = dict(arrays)
        self.inputs = take(stored, "input_")
        self.states = take(stored, "state_")
        self.states_after = take(stored, "expected_state_")
        self.expected = {k: v for k, v in take(stored, "expected_").items() if not k.startswith("state_")}

    def check(self, who, outputs, states):
        """Ends the run when an output is not torch's."""
        for name, value in (self.expected | self.states_after).items():
            computed = (outputs | states)[name]
            if computed.shape != value.shape or not np.allclose(computed, value, RTOL, ATOL):
                sys.exit(f"{self.name}: {who} computed another {name} than torch")


class Engine:
    """The `engine` command, through its subcommands verify and bench."""

    name = "engine"

    def __init__(self, path):
        self.path = path

    def check(self, case):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / case.name
            place.mkdir()
            (place / "model.aimodel").symlink_to(case.asset.resolve())
            (place / "case_0.npz").symlink_to(case.file.resolve())
            run([self.path, "verify", folder, "--unit", "cpu", "--rtol", RTOL, "--atol", ATOL])

    def time(self, case, seconds):
        with tempfile.TemporaryDirectory() as folder:
            command = [self.path, "bench", case.asset, "--unit", "cpu", "--json"]
            for name, value in case.inputs.items():
                file = Path(folder) / f"{name}.npy"
                np.save(file, value)
                command += ["--input", f"{name}={file}"]
            result = json.loads(run(command))
        times = result["latency_ms"]
        keys = ("load_ms", "specialize_ms", "peak_bytes")
        return {"p50": times["p50"], "min": times["min"]} | {key: result.get(key) for key in keys}


class OnnxRuntime:
    """onnxruntime's CPU provider on all cores."""

    name = "onnxruntime"

    def check(self, case):
        outputs = self.session(case).run(None, case.inputs | case.states)
        names = [item.name.removeprefix("new_") for item in self.session(case).get_outputs()]
        case.check(self.name, dict(zip(names, outputs)), {})

    def time(self, case, seconds):
        return json.loads(run([sys.executable, __file__, case.folder, case.name, "--seconds", seconds, "--child"]))

    def session(self, case):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count()
        return onnxruntime.InferenceSession(case.onnx, options, providers=["CPUExecutionProvider"])

    def time_here(self, case, seconds):
        begin = time.perf_counter()
        session = self.session(case)
        load = time.perf_counter() - begin
        given = case.inputs | case.states
        for _ in range(3):
            session.run(None, given)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            begin = time.perf_counter()
            session.run(None, given)
            times.append(time.perf_counter() - begin)
        return {"p50": statistics.median(times) * 1e3, "min": min(times) * 1e3, "load_ms": load * 1e3}


class Interpreter:
    """coreai-core's interpreter for Linux: the reference, not built for speed."""

    name = "interpreter"

    def check(self, case):
        outputs, states, _, _ = interpreter.run(case.asset, case.inputs, case.states)
        case.check(self.name, outputs, states)

    def time(self, case, seconds):
        _, _, times, load = interpreter.run(case.asset, case.inputs, case.states, repeat=6)
        times = times[1:]
        return {"p50": statistics.median(times) * 1e3, "min": min(times) * 1e3, "load_ms": load * 1e3}


def take(arrays, prefix):
    """The arrays whose names begin with `prefix`, without it."""
    return {name[len(prefix) :]: value for name, value in arrays.items() if name.startswith(prefix)}


def run(command):
    """A command's standard output; ends the run where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(case, peers, rounds, seconds):
    """Each peer's results over interleaved rounds."""
    for peer in peers:
        peer.check(case)
    samples = {peer.name: [] for peer in peers}
    for number in range(rounds):
        order = peers if number % 2 == 0 else peers[::-1]
        for peer in order:
            samples[peer.name].append(peer.time(case, seconds))
    return {name: summarize(rows) for name, rows in samples.items()}


def summarize(rows):
    """The median over the rounds of every number, but the least of `min`."""
    known = [key for key, value in rows[0].items() if value is not None]
    return {key: (min if key == "min" else statistics.median)(row[key] for row in rows) for key in known}


def ratio(results, above, below):
    """How many times `below`'s time `above` takes, if both were timed."""
    if above in results and below in results:
        return results[above]["p50"] / results[below]["p50"]
    return None


def table(all_results, peers):
    """The results as text."""
    columns = "".join(f"{peer.name + ' ms':>16}" for peer in peers)
    lines = [f"{'model':<10}{columns}{'engine/ort':>12}{'interp/engine':>15}"]
    for name, results in all_results.items():
        line = f"{name:<10}" + "".join(f"{results[peer.name]['p50']:>16.3f}" for peer in peers)
        for pair, width in ((("engine", "onnxruntime"), 12), (("interpreter", "engine"), 15)):
            value = ratio(results, *pair)
            line += f"{'-' if value is None else f'{value:.2f}':>{width}}"
        lines.append(line)
    return "\n".join(lines)


def machine():
    """What the numbers were measured on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE", ""),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--engine", default=".build/release/engine")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    names = options.names or ["mlp", "cnn", "minilm", "decode"]
    if options.child:
        print(json.dumps(OnnxRuntime().time_here(Case(options.models, names[0]), options.seconds)))
        return

    peers = [OnnxRuntime(), Interpreter()]
    if options.engine != "none":
        peers.insert(0, Engine(options.engine))
    results = {}
    for name in names:
        results[name] = measure(Case(options.models, name), peers, options.rounds, options.seconds)
        print(f"{name}: outputs agree, timed", file=sys.stderr)
    print(table(results, peers))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "models": results}, indent=2) + "\n")
    ratios = {name: ratio(results[name], "engine", "onnxruntime") or 0 for name in names}
    slow = [name for name in names if options.limit and ratios[name] > options.limit]
    if slow:
        sys.exit(f"slower than {options.limit} times onnxruntime: {', '.join(slow)}")


if __name__ == "__main__":
    main()
