#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the program `peers` compares, from Python: BayesPointClassifier beside scikit-learn's SVC of the same kernel, on
MNIST, with McNemar's exact test of the digits that one of the two has wrong. The keys are those of `peers`. PYTHONPATH or
an installed wheel brings bpm (docs/python.md), BPM_DATA_DIR the digits.
"""
import argparse
import gzip
import json
import os
import pathlib
import time

import numpy as np
import sklearn
from scipy.stats import binomtest
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from bpm import BayesPointClassifier


def ours(**words):
    return BayesPointClassifier("polynomial", soft_boundary="hard", bias=0, random_state=1, **words)


def unit_doubles(pixels):
    return normalize(pixels.astype(float))


# The machine, and what becomes of the bytes beforehand, which is not timed.
peers = {
    "ours-float": (ours(), lambda pixels: pixels.astype(np.float32) / 255),
    "ours-byte": (ours(gamma=1 / 255**2), lambda pixels: pixels),
    "ours-byte-normalise": (ours(unit_inputs=True), lambda pixels: pixels),
    "sklearn-polynomial": (SVC(kernel="poly", degree=5, gamma=1.0, coef0=1.0, C=10.0, cache_size=4000), unit_doubles),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--train", type=int, default=60000, metavar="N", help="training digits (default: all)")
parser.add_argument("--test", type=int, default=10000, metavar="N", help="test digits (default: all)")
parser.add_argument("--only", default=",".join(peers), metavar="a,b,...", help="only these, of " + ", ".join(peers))
parser.add_argument("--json", metavar="FILE", help="writes the results for programs")
parser.add_argument("--quiet", action="store_true", help="prints nothing")
options = parser.parse_args()
wanted = options.only.split(",")
if not set(wanted) <= set(peers):
    parser.error("--only: there are " + ", ".join(peers))
folder = pathlib.Path(os.environ.get("BPM_DATA_DIR", "")) / "mnist"
if not (folder / "train-images-idx3-ubyte.gz").is_file():
    print("MNIST is not there: BPM_DATA_DIR names no folder that holds mnist/")
    raise SystemExit(77)


def read(name, skip, count):
    with gzip.open(folder / f"{name}-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=skip).reshape(-1, 784 if skip == 16 else 1)[:count]


images, test_images = read("train-images-idx3", 16, options.train), read("t10k-images-idx3", 16, options.test)
digits, test_digits = read("train-labels-idx1", 8, options.train).ravel(), read("t10k-labels-idx1", 8, options.test).ravel()

results = {"data": "mnist", "train_size": len(images), "test_size": len(test_images), "threads": os.cpu_count(),
           "scikit_learn": sklearn.__version__, "peers": [], "pairs": []}
wrong, reference = {}, "sklearn-polynomial"
for key in wanted:
    machine, inputs_of = peers[key]
    inputs, test_inputs = inputs_of(images), inputs_of(test_images)
    start = time.perf_counter()
    machine.fit(inputs, digits)
    fitted = time.perf_counter()
    found = machine.predict(test_inputs)
    end = time.perf_counter()
    wrong[key] = found != test_digits
    row = {"key": key, "error_percent": 100 * float(np.mean(wrong[key])), "train_seconds": fitted - start,
           "predict_seconds": end - fitted}
    results["peers"].append(row)
    if not options.quiet:
        print(f"{key:20} {row['error_percent']:6.2f} % wrong, fit {row['train_seconds']:.2f} s, "
              f"predict {row['predict_seconds']:.2f} s", flush=True)
for key in wanted:
    if key == reference or reference not in wrong:
        continue
    only_ours, only_other = int(np.sum(wrong[key] & ~wrong[reference])), int(np.sum(~wrong[key] & wrong[reference]))
    p = float(binomtest(only_ours, only_ours + only_other).pvalue) if only_ours + only_other > 0 else 1.0
    results["pairs"].append({"ours": key, "other": reference, "only_ours_wrong": only_ours, "only_other_wrong": only_other,
                             "mcnemar_p": p})
    if not options.quiet:
        print(f"{key}: {only_ours} digits wrong that the SVC has right, {only_other} the other way; p = {p:.2g}")
if options.json:
    pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
