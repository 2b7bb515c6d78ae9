# SPDX-License-Identifier: MIT
"""README's program in Python, with the package that is installed in the environment."""

import pickle
import sys

import numpy as np

import bpm

assert bpm.__file__.startswith(sys.argv[1]), bpm.__file__

random = np.random.RandomState(1)
inputs = random.uniform(-1, 1, (500, 2)).astype(np.float32)
labels = np.where(inputs[:, 0] * inputs[:, 1] > 0, 7, 3)
machine = bpm.BayesPointClassifier().fit(inputs, labels)

others = random.uniform(-1, 1, (500, 2)).astype(np.float32)
classes = machine.predict(others)
seven = machine.predict_proba(others)[:, 1]
for i in range(5):
    print(f"{classes[i]}, 7 by {seven[i]:.0%}")
assert np.mean(classes == np.where(others[:, 0] * others[:, 1] > 0, 7, 3)) > 0.95
assert np.array_equal(pickle.loads(pickle.dumps(machine)).predict_proba(others)[:, 1], seven)
