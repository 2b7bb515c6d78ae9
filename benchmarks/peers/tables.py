#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""BayesPointClassifier beside scikit-learn's own classifiers, each with its defaults but where its name says so, on
scikit-learn's own sets: no data has to be brought. Prints a table for each set: error, log loss, seconds of a fit, means over
random halves; in brackets the mean difference to the tuned SVC and its standard error. PYTHONPATH or an installed wheel
brings bpm (docs/python.md).

Splits run side by side, every fit on one thread, whose own seconds count. A file that --json names may be there already,
of an earlier run or of docs/results: what is not run now stays in it. At the end come the tables of docs/why-not.md, of all
that the file has; --splits 0 prints these alone.
"""
import argparse
import json
import os
import pathlib
import time
import warnings

for library in ("OMP", "OPENBLAS", "MKL"):  # Before NumPy reads them.
    os.environ[library + "_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402
from sklearn import datasets  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.gaussian_process import GaussianProcessClassifier  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import GridSearchCV, train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402


def steps(seed):
    """Four of 30 columns decide, by a tree of depth 6 with random cuts and random labels at its leaves; a tenth of the
    labels is wrong."""
    random = np.random.RandomState(seed)
    inputs = random.rand(2000, 30)
    node = np.zeros(2000, int)
    for depth in range(6):
        columns, cuts = random.randint(0, 4, 2**depth), random.uniform(0.3, 0.7, 2**depth)
        node = 2 * node + (inputs[np.arange(2000), columns[node]] > cuts[node])
    return inputs, random.randint(0, 2, 64)[node] ^ (random.rand(2000) < 0.1)


def made(seed, **words):
    return datasets.make_classification(2000, 20, random_state=seed, **words)


# A split's number is the seed of a made set, which is drawn anew, and that of its halves.
sets = {
    "breast_cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda seed: datasets.load_wine(return_X_y=True),
    "moons": lambda seed: datasets.make_moons(500, noise=0.3, random_state=seed),
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "flipped": lambda seed: made(seed, n_informative=10, flip_y=0.15),
    "classes_20": lambda seed: made(seed, n_informative=10, n_redundant=0, n_classes=20, n_clusters_per_class=1),
    "steps": steps,
}


def ours(name):
    import bpm

    return getattr(bpm, name)(n_jobs=1)


def tuned_svc(inputs, labels):
    """C and gamma by five folds; probabilities, which take five more fits, of the machine that won alone."""
    scale = 1 / (inputs.shape[1] * inputs.var())
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [scale * 2.0**k for k in range(-3, 4)]}
    found = GridSearchCV(SVC(), grid, cv=5, refit=False).fit(inputs, labels)
    return SVC(probability=True, random_state=1, **found.best_params_)


# Each is made by the training part, or without looking at it. Names as in docs/why-not.md.
contestants = {
    "bpm": ("`BayesPointClassifier()`", lambda *part: ours("BayesPointClassifier")),
    "bpm-cv": ("`BayesPointClassifierCV()`", lambda *part: ours("BayesPointClassifierCV")),
    "svc": ("`SVC()`", lambda *part: SVC(probability=True, random_state=1)),
    "svc-tuned": ("`SVC`, C and gamma by folds", tuned_svc),
    "boosting": ("`HistGradientBoostingClassifier()`", lambda *part: HistGradientBoostingClassifier(random_state=1)),
    "forest": ("`RandomForestClassifier(500)`", lambda *part: RandomForestClassifier(500, random_state=1)),
    "logistic": ("`LogisticRegression()`", lambda *part: LogisticRegression(max_iter=1000)),
    "process": ("`GaussianProcessClassifier`", lambda *part: GaussianProcessClassifier(
        ConstantKernel(1.0, (1e-2, 1e4)) * RBF(1.0, (1e-2, 1e3)))),
}
reference = "svc-tuned"


def measured(name, key, split):
    """One row of a contestant, or None of a Gaussian process that would take minutes."""
    warnings.simplefilter("ignore")  # Of searches at the edge of their range.
    inputs, labels = sets[name](split)
    train, test, train_labels, test_labels = train_test_split(
        inputs, labels, test_size=0.5, stratify=labels, random_state=split
    )
    classes = len(np.unique(labels))
    if key == "process" and len(train) * classes >= 2000:
        return None
    start = time.process_time()
    scaling = StandardScaler().fit(train)
    train = scaling.transform(train)
    machine = contestants[key][1](train, train_labels).fit(train, train_labels)
    fitted = time.process_time()
    found = machine.predict_proba(scaling.transform(test))
    predicted = time.process_time()
    wrong = machine.predict(scaling.transform(test)) != test_labels
    # Some say 0 of what occurs then: all are clipped alike.
    edge = 1 / (len(train) + 2)
    return {
        "split": split,
        "error_percent": 100 * float(np.mean(wrong)),
        "log_loss": float(log_loss(test_labels, found.clip(edge, 1 - edge), labels=machine.classes_)),
        "fit_seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    }


def summarise(of_set):
    """Means of every contestant, and its differences to the reference on the splits that both have."""
    against = {row["split"]: row for one in of_set["contestants"] if one["key"] == reference for row in one["splits"]}
    for one in of_set["contestants"]:
        for measure in ("error_percent", "log_loss", "fit_seconds", "predict_seconds"):
            one[measure] = float(np.mean([row[measure] for row in one["splits"]]))
            differences = [
                row[measure] - against[row["split"]][measure] for row in one["splits"] if row["split"] in against
            ]
            if len(differences) > 1 and "seconds" not in measure:
                one[measure + "_difference"] = float(np.mean(differences))
                one[measure + "_se"] = float(np.std(differences, ddof=1) / len(differences) ** 0.5)


def table(of_set):
    print(f"\n{of_set['name']}: {of_set['train_size']} rows to train, {of_set['columns']} columns, {of_set['classes']} classes")
    print(f"{'':10}{'error %':>8}{'':17}{'log loss':>8}{'':19}{'fit s':>7}")
    for one in of_set["contestants"]:
        line = f"{one['key']:10}"
        for measure, places in (("error_percent", 2), ("log_loss", 3)):
            beside = ""
            if one["key"] != reference and measure + "_se" in one:
                beside = f" ({one[measure + '_difference']:+.{places}f}, {one[measure + '_se']:.{places}f})"
            line += f"{one[measure]:8.{places}f}{beside:{15 + 2 * places - 2}}"
        print(f"{line}{one['fit_seconds']:7.2f}")


def page(results):
    """The tables of docs/why-not.md."""
    found = {one["name"]: {row["key"]: row for row in one["contestants"]} for one in results["sets"]}
    for head, measure, digits in (("error %", "error_percent", ".1f"), ("log loss", "log_loss", ".3f")):
        columns = [(name, measure, digits) for name in sets]
        heads = [head, *(name.replace("_", " ") for name in sets)]
        if measure == "error_percent":
            columns.append(("digits", "fit_seconds", ".2f"))
            heads.append("digits, s a fit")
        print(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
        for key, (title, _) in contestants.items():
            if any(key in one for one in found.values()):
                cells = [format(found[n][key][m], d) if key in found.get(n, {}) else "-" for n, m, d in columns]
                print(f"| {' | '.join([title, *cells])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(sets), metavar="a,b,...", help="only these, of " + ", ".join(sets))
    parser.add_argument("--only", default=",".join(contestants), metavar="a,b,...",
                        help="only these contestants, of " + ", ".join(contestants))
    parser.add_argument("--splits", type=int, default=10, metavar="N", help="random halves of each set (default: 10; 0: nothing is run)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="fits side by side (default: as many as there are processors)")
    parser.add_argument("--json", metavar="FILE", help="writes the results for programs, into what FILE has")
    parser.add_argument("--quiet", action="store_true", help="prints nothing")
    options = parser.parse_args()
    wanted, names = options.only.split(","), options.sets.split(",")
    if not set(wanted) <= set(contestants):
        parser.error("--only: there are " + ", ".join(contestants))
    if not set(names) <= set(sets):
        parser.error("--sets: there are " + ", ".join(sets))
    if options.splits < 0:
        parser.error("--splits: must be 0 or more")
    if {"bpm", "bpm-cv"} & set(wanted):
        import bpm

        if not hasattr(bpm, "BayesPointClassifierCV"):
            wanted = [key for key in wanted if key != "bpm-cv"]

    whole = {}
    if options.json and pathlib.Path(options.json).is_file():
        whole = json.loads(pathlib.Path(options.json).read_text())
    results = whole.get("result", whole)
    results |= {"scikit_learn": sklearn.__version__, "sets": results.get("sets", [])}
    for name in names if options.splits > 0 else []:
        inputs, labels = sets[name](1)
        of_set = next((one for one in results["sets"] if one["name"] == name), {"contestants": []})
        of_set |= {"name": name, "train_size": len(labels) // 2, "columns": inputs.shape[1],
                   "classes": len(np.unique(labels))}
        jobs = [(key, split) for key in wanted for split in range(1, options.splits + 1)]
        rows = Parallel(n_jobs=options.jobs)(delayed(measured)(name, *job) for job in jobs)
        for key in wanted:
            of_key = [row for job, row in zip(jobs, rows) if job[0] == key and row is not None]
            of_set["contestants"] = [one for one in of_set["contestants"] if one["key"] != key]
            if of_key:
                of_set["contestants"].append({"key": key, "splits": of_key})
        of_set["contestants"].sort(key=lambda one: list(contestants).index(one["key"]))
        summarise(of_set)
        results["sets"] = [one for one in results["sets"] if one["name"] != name] + [of_set]
        results["sets"].sort(key=lambda one: list(sets).index(one["name"]))
        if not options.quiet:
            table(of_set)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(whole, indent=1) + "\n")
    if not options.quiet:
        page(results)


if __name__ == "__main__":
    main()
