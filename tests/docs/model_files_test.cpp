// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/machine/input_encoding.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/model_file.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"
#include "standardising.hpp"
#include "temporary_folder.hpp"

TEST_CASE("docs/model-files.md: its reader in Python predicts what the classifier does") {
  const auto has_numpy = [](const std::string& python) {
    return std::system((python + " -c 'import numpy' >/dev/null 2>&1").c_str()) == 0;
  };
  const std::string python = has_numpy("python3") ? "python3" : "/usr/bin/python3";
  if (!has_numpy(python)) {
    WARN("There is no Python with NumPy: the reader was not tried");
    return;
  }
  std::ifstream page(BPM_SOURCE_DIR "/docs/model-files.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  const std::size_t begin = text.find("```python\n") + 10;
  REQUIRE(begin > 10);
  const std::string reader = text.substr(begin, text.find("```", begin) - begin);

  const int classes = GENERATE(2, 3);
  const examples_test::TemporaryFolder folder;
  const auto [inputs, labels] = test_support::noisy_rings(80, classes, 0.05);
  const bpm::OneVsRest machine(bpm::BayesPointMachine(bpm::Gaussian::from_width(1)));
  auto parts = test_support::standardising(machine).fit(inputs, labels).parts();
  // So that some probabilities are as small as they may be, and offsets move labels.
  parts.slope *= 10;
  if (classes > 2) parts.offsets[0] += parts.slope / 4;
  const bpm::Classifier fitted(std::move(parts));
  const auto model = folder.path() / "model";
  bpm::save(fitted, model);
  const auto script = folder.path() / "reader.py";
  std::ofstream(script)
      << reader
      << "\nx = np.loadtxt(sys.argv[2])\n"
         "labels, p = labels_and_probabilities(sys.argv[1], x.copy())\n"
         "np.savetxt(sys.argv[3], np.hstack([outputs(sys.argv[1], x.copy()), labels[:, None], p]), "
         "fmt='%.17g')\n";
  std::ofstream queries(folder.path() / "queries");
  queries.precision(9);
  queries << inputs << '\n';
  queries.close();
  const auto answers = folder.path() / "answers";
  const std::string command = python + " " + script.string() + " " + model.string() + " " +
                              (folder.path() / "queries").string() + " " + answers.string();
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream found(answers);
  const Eigen::MatrixXd expected = fitted.decision_values(inputs);
  const std::vector<int> predicted = fitted.predict(inputs);
  const Eigen::MatrixXd probabilities = fitted.predict_probability(inputs);
  const auto rows = static_cast<double>(fitted.parts().probability_rows);
  CHECK(probabilities.minCoeff() <= 1 / ((rows + 2) * (classes - 1)) * (1 + 1e-12));
  CHECK(fitted.parts().offsets.size() == (classes == 2 ? 0U : 3U));
  for (Eigen::Index i = 0; i < expected.rows(); ++i) {
    for (Eigen::Index c = 0; c < expected.cols(); ++c) {
      double value = 0;
      REQUIRE(found >> value);
      CHECK(std::abs(value - expected(i, c)) < 1e-5);
    }
    int label = -1;
    REQUIRE(found >> label);
    CHECK(label == predicted[static_cast<std::size_t>(i)]);
    for (int c = 0; c < classes; ++c) {
      double probability = -1;
      REQUIRE(found >> probability);
      if (classes == 2 && c == 0) continue;  // The other is of the second class.
      CHECK(std::abs(probability - probabilities(i, classes == 2 ? 0 : c)) < 1e-5);
    }
  }
}
