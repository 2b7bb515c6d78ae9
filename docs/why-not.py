#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What docs/why-not.md says of scikit-learn (Debian: python3-sklearn): its forest, Gaussian process and network on
the seven sets, standardised, 20 random splits of the papers' sizes, and its forest on MNIST.

  BPM_DATA_DIR=... docs/why-not.py [forest|process|network|mnist|steps ...]

steps: a made table that a forest is right for, by the forest and by the command line bpm (BPM names the program).
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

data = pathlib.Path(os.environ["BPM_DATA_DIR"])
warnings.simplefilter("ignore", ConvergenceWarning)


def network(seed):
    return GridSearchCV(MLPClassifier((64,), solver="lbfgs", max_iter=200, random_state=seed), {"alpha": [0.1, 1, 10]},
                        cv=3, scoring="neg_log_loss")


makers = {
    "forest": lambda seed: RandomForestClassifier(500, random_state=seed),
    "process": lambda seed: GaussianProcessClassifier(
        ConstantKernel(1.0, (1e-2, 1e4)) * RBF(1.0, (1e-2, 1e3)), random_state=seed),
    "network": network,
}


def on_sets(name):
    sets = {}
    for path in sorted((data / "benchmarks").glob("*.csv")):
        table = numpy.genfromtxt(path, delimiter=",")
        if numpy.isnan(table[0]).any():
            table = table[1:]
        inputs, labels = table[:, :-1], table[:, -1]
        count = round(0.6 * len(labels)) if len(labels) < 2000 else 400
        errors, losses, seconds = [], [], []
        for split in range(1, 21):
            order = numpy.random.RandomState(split).permutation(len(labels))
            train, test = order[:count], order[count:]
            scaling = StandardScaler().fit(inputs[train])
            machine = makers[name](split)
            start = time.perf_counter()
            machine.fit(scaling.transform(inputs[train]), labels[train])
            seconds.append(time.perf_counter() - start)
            found = machine.predict_proba(scaling.transform(inputs[test]))
            errors.append(100 * numpy.mean(machine.classes_[found.argmax(1)] != labels[test]))
            # A forest's votes may say 0: as near to it as bpm may come.
            edge = 1 / (count + 2)
            losses.append(log_loss(labels[test], found.clip(edge, 1 - edge)))
        sets[path.stem] = {"train_size": count, "error_percent": round(numpy.mean(errors), 2),
                           "se": round(numpy.std(errors, ddof=1) / 20 ** 0.5, 2),
                           "log_loss": round(numpy.mean(losses), 3), "fit_seconds": round(numpy.mean(seconds), 3)}
    mean = {key: round(numpy.mean([s[key] for s in sets.values()]), 3) for key in ("error_percent", "log_loss", "fit_seconds")}
    return {**sets, "mean": mean}


def on_mnist():
    def read(name, head):
        return numpy.frombuffer(gzip.open(data / "mnist" / (name + ".gz")).read(), numpy.uint8, offset=head)

    train, test = (read(n + "-images-idx3-ubyte", 16).reshape(-1, 784) / numpy.float32(255) for n in ("train", "t10k"))
    train_labels, test_labels = (read(n + "-labels-idx1-ubyte", 8) for n in ("train", "t10k"))
    machine = RandomForestClassifier(500, random_state=1, n_jobs=2)
    start = time.perf_counter()
    machine.fit(train, train_labels)
    middle = time.perf_counter()
    found = machine.predict(test)
    return {"error_percent": 100 * float(numpy.mean(found != test_labels)), "train_seconds": round(middle - start, 1),
            "test_seconds": round(time.perf_counter() - middle, 2)}


def on_steps():
    """4000 rows each to train and to test, 30 columns from 0 to 1: four of them decide, by a tree of depth 6 with
    random cuts and random labels at its leaves; a tenth of the labels is wrong. Five seeds."""
    rows = []
    for seed in range(1, 6):
        random = numpy.random.RandomState(seed)
        inputs = random.rand(8000, 30)
        node = numpy.zeros(8000, int)
        for depth in range(6):
            columns, cuts = random.randint(0, 4, 2 ** depth), random.uniform(0.3, 0.7, 2 ** depth)
            node = 2 * node + (inputs[numpy.arange(8000), columns[node]] > cuts[node])
        labels = random.randint(0, 2, 64)[node] ^ (random.rand(8000) < 0.1)
        start = time.perf_counter()
        forest = RandomForestClassifier(500, random_state=seed).fit(inputs[:4000], labels[:4000])
        seconds = time.perf_counter() - start
        row = {"forest_error_percent": 100 * float(numpy.mean(forest.predict(inputs[4000:]) != labels[4000:])),
               "forest_seconds": seconds}
        with tempfile.TemporaryDirectory() as folder:
            table = numpy.column_stack([inputs, labels])
            for name, part in (("train", table[:4000]), ("test", table[4000:])):
                numpy.savetxt(f"{folder}/{name}.csv", part, delimiter=",", fmt="%.6g")
            start = time.perf_counter()
            bpm = os.environ.get("BPM", "build/release/examples/bpm")
            subprocess.run([bpm, "choose", "--label", "last", "--quiet", f"{folder}/train.csv", f"{folder}/model"], check=True)
            row["bpm_seconds"] = time.perf_counter() - start
            subprocess.run([bpm, "evaluate", "--label", "last", "--quiet", "--json", f"{folder}/found.json",
                            f"{folder}/model", f"{folder}/test.csv"], check=True)
            row["bpm_error_percent"] = json.loads(pathlib.Path(f"{folder}/found.json").read_text())["error_percent"]
        rows.append(row)
    return {key: {"mean": round(numpy.mean([r[key] for r in rows]), 2),
                  "se": round(numpy.std([r[key] for r in rows], ddof=1) / 5 ** 0.5, 2)} for key in rows[0]}


results = {"scikit_learn": sklearn.__version__}
for wanted in sys.argv[1:] or [*makers, "mnist", "steps"]:
    results[wanted] = {"mnist": on_mnist, "steps": on_steps}.get(wanted, lambda: on_sets(wanted))()
print(json.dumps(results, indent=1))
