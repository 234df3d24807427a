"""Prints what the package costs: import, size, time of a context, threads, memory. Run it in an environment that has the wheel."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import adage

N_LESSONS = 50


def book_of(folder: str) -> adage.Playbook:
    book = adage.Playbook(folder)
    book.learn_many(
        adage.Draft(f"deploying service {number} to region {number * 7}", f"Use pool {number}.", f"pool {number + 1} broke")
        for number in range(N_LESSONS)
    )
    return book


def micros(call: Callable[[], object], n_calls: int) -> float:
    """The median time of a call, in microseconds."""
    times = []
    for _ in range(n_calls):
        began = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1_000


def imports() -> None:
    code = "import time; t = time.perf_counter(); import adage; print(1000 * (time.perf_counter() - t))"
    took = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(11)]
    print(f"import: {statistics.median(took):.1f} ms")
    compiled = next(Path(adage.__file__).parent.glob("_native*"))
    print(f"compiled part: {compiled.stat().st_size / 1e6:.1f} MB")


def contexts(book: adage.Playbook) -> None:
    query = "deploy service 7 to region 49"
    whole = micros(lambda: book.context(query, peek=True), 2_000)
    request = adage._playbook.encode({"query": query, "peek": True})
    native = micros(lambda: book._native.context(request, None), 2_000)
    print(f"context, query known: {whole:.1f} µs, of which the compiled part {native:.1f} µs")
    new = iter(range(10_000))
    print(f"context, new query: {micros(lambda: book.context(f'deploy service {next(new)}', peek=True), 200):.0f} µs")
    print(f"context, counted: {micros(lambda: book.context(query), 500):.0f} µs")


def threads(book: adage.Playbook) -> None:
    """New queries, so that the model runs: its time is spent without the interpreter's lock."""

    def work(number: int, n_calls: int) -> None:
        for step in range(n_calls):
            book.context(f"deploy service {number} again, step {step} of {n_threads}", peek=True)

    for n_threads in (1, 2, 8):
        n_calls = 400 // n_threads
        began = time.perf_counter()
        running = [threading.Thread(target=work, args=(number, n_calls)) for number in range(n_threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        print(f"{n_threads} threads: {400 / (time.perf_counter() - began):.0f} contexts per second")


def resident() -> float:
    """Megabytes in memory (Linux)."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_000


def memory(book: adage.Playbook, n_learns: int, n_contexts: int) -> None:
    marks = []
    for step in range(10):
        for number in range(n_learns // 10):
            book.learn(f"topic {number % 40} of area {number % 7}", f"Use value {(step + number) % 90}.", source="agent")
        for number in range(n_contexts // 10):
            book.context(f"topic {number % 40} of area {number % 7}")
        marks.append(f"{resident():.0f}")
    print(f"memory after each tenth of {n_learns} learns and {n_contexts} contexts: {' '.join(marks)} MB")


if __name__ == "__main__":
    imports()
    with book_of(tempfile.mkdtemp()) as book:
        contexts(book)
        threads(book)
        memory(book, *(int(word) for word in sys.argv[1:] or ("10000", "100000")))
