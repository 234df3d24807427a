"""adage's own indexes, measured by the example `compare`."""

import json
import subprocess

from . import BREADTHS, TARGETS
from .measuring import Measurement


class Adage:
    """Runs the example. The first run tries all breadths of the graph and decides which ones the repeats measure."""

    def __init__(self, program, folder, truth, filters):
        self.n_queries = len(truth.queries)
        self.command = [program, "--vectors", folder, "--rows", str(len(truth.base)), "--repeats", "1", "--json"]
        graph = [line for line in self.run(BREADTHS) if line["kind"] == "adage-graph"]
        enough = lambda target: [line["ef"] for line in graph if line["recall10"] >= target] or [BREADTHS[-1]]
        self.breadths = sorted({min(enough(target)) for target in TARGETS})
        self.command += ["--filters"] if filters else []
        self.measurements = {}

    def run(self, breadths):
        options = ["--ef", ",".join(map(str, breadths)), "--together", f"1,{self.n_queries}"]
        output = subprocess.run(self.command + options, check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in output.splitlines()]

    def repeat(self):
        for line in self.run(self.breadths):
            kind, ef, together = f"{line['kind']} {line['what']}".strip(), line["ef"], line["together"]
            settings = {"ef": ef} if "graph" in kind else {}
            new = Measurement(kind, settings, together, line["recall10"], [], line["bytes_per_vector"])
            measurement = self.measurements.setdefault((kind, ef, together), new)
            measurement.micros.append(line["cpu_us"])
            measurement.build_seconds.append(line["build_cpu_s"])
