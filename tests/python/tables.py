# SPDX-License-Identifier: MIT
"""benchmarks/peers/tables.py on its smallest set: what is not run stays in the file, and differences are those of splits."""

import json
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "found.json"

    def run(*words):
        command = [sys.executable, "-B", sys.argv[1], "--sets", "wine", "--splits", "2", "--jobs", "1", "--json", file, *words]
        subprocess.run(command, check=True)
        (wine,) = json.loads(file.read_text())["sets"]
        return {one["key"]: one for one in wine["contestants"]}

    first = run("--only", "bpm,logistic")
    assert list(first) == ["bpm", "logistic"]
    assert all(one["error_percent"] < 10 for one in first.values())
    found = run("--only", "svc-tuned")
    assert list(found) == ["bpm", "svc-tuned", "logistic"]
    assert found["bpm"]["splits"] == first["bpm"]["splits"]
    for ours, other in zip(found["bpm"]["splits"], found["svc-tuned"]["splits"]):
        assert ours["split"] == other["split"]
    errors = [[row["error_percent"] for row in found[key]["splits"]] for key in ("bpm", "svc-tuned")]
    expected = (sum(errors[0]) - sum(errors[1])) / 2
    assert abs(found["bpm"]["error_percent_difference"] - expected) < 1e-9
    refused = subprocess.run([sys.executable, "-B", sys.argv[1], "--sets", "iris"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--sets: there are breast_cancer" in refused.stderr
