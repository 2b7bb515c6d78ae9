// SPDX-License-Identifier: MIT
// Two pictures of what a Bayes point is: figure 1 of R. Herbrich, T. Graepel, C. Campbell, "Robust
// Bayes Point Machines" (ESANN 2000), and a version space that can be looked at.
#include <Eigen/Core>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "common/chain_check.hpp"
#include "common/figure.hpp"
#include "common/json_file.hpp"
#include "common/program.hpp"
#include "experiment.hpp"
#include "figures.hpp"
#include "options.hpp"

namespace {

using namespace bpm_examples;

/// The angle to the centre is known on the sphere.
ChainCheck check_chains(const SphereResult& sphere) {
  ChainCheck chains;
  chains.add(angle_between(sphere.bayes, sphere.centre));
  return chains;
}

Json results_json(const BoundaryOptions& options, const BoundaryResult& plane,
                  const SphereResult& sphere) {
  const auto classifier = [](const BoundaryClassifier& result) {
    return Json{{"accuracy", result.accuracy}, {"margin", result.margin}};
  };
  const auto point = [](const auto& x) {
    return Json(std::vector<double>(x.data(), x.data() + x.size()));
  };
  Json json;
  json["seed"] = options.common.seed;
  json["train_size"] = options.train;
  json["test_size"] = plane.test_size;
  json["kernel_width"] = kernel_width;
  json["bounces"] = options.bounces;
  json["svm"] = classifier(plane.svm);
  json["svm"]["support_vectors"] = plane.support_vectors;
  json["bpm"] = classifier(plane.bayes);
  json["angle"] = plane.angle;
  json["training_points"] = Json::array();
  for (std::size_t i = 0; i < plane.training.labels.size(); ++i) {
    const Eigen::RowVectorXd x = plane.training.inputs.row(static_cast<Eigen::Index>(i));
    json["training_points"].push_back({{"x", point(x)}, {"label", plane.training.labels[i]}});
  }
  Json& ball = json["sphere"];
  ball["inputs"] = Json::array();
  for (std::size_t i = 0; i < sphere.problem.inputs.size(); ++i) {
    ball["inputs"].push_back(
        {{"x", point(sphere.problem.inputs[i])}, {"label", sphere.problem.labels[i]}});
  }
  ball["svm"] = point(sphere.svm);
  ball["svm_radius"] = sphere.radius;
  ball["bayes_point"] = point(sphere.bayes);
  ball["bayes_point_exact"] = point(sphere.centre);
  ball["angle_to_exact"] = angle_between(sphere.bayes, sphere.centre);
  ball["angle"] = angle_between(sphere.bayes, sphere.svm);
  json["warnings"] = check_chains(sphere).warnings();
  return json;
}

void print_results(std::ostream& out, const BoundaryOptions& options, const BoundaryResult& plane,
                   const SphereResult& sphere) {
  std::ostringstream text;
  text << std::fixed << options.train << " training points in the plane, kernel exp(-|x - x'|^2), "
       << plane.test_size << " new points, seed " << options.common.seed << '\n'
       << "                margin     right\n";
  const auto line = [&text](const char* name, const BoundaryClassifier& result) {
    text << std::left << std::setw(12) << name << std::right << std::setprecision(4)
         << std::setw(10) << result.margin << std::setprecision(2) << std::setw(8)
         << 100 * result.accuracy << " %\n";
  };
  line("SVM", plane.svm);
  line("Bayes point", plane.bayes);
  text << std::setprecision(4) << "They are " << plane.angle << " rad apart in feature space.\n\n"
       << "Version space of eight points in three dimensions: SVM and Bayes point are "
       << angle_between(sphere.bayes, sphere.svm) << " rad apart;\n"
       << "the billiard's is " << std::setprecision(5) << angle_between(sphere.bayes, sphere.centre)
       << " rad from the true centre after " << options.bounces << " bounces.\n";
  out << text.str() << std::flush;
}

void run(int argc, char** argv) {
  const BoundaryOptions options = parse_boundary_options(argc, argv);
  const JsonFile json(options.common.json);
  const BoundaryResult plane = run_boundary(options);
  const SphereResult sphere = run_sphere(options);
  if (!options.common.quiet) {
    print_results(std::cout, options, plane, sphere);
  }
  check_chains(sphere).print("decision_boundary", options.common.quiet ? nullptr : &std::cout);
  json.write(results_json(options, plane, sphere));
  if (!options.common.plot.empty()) {
    write_figure(boundary_figure(plane), 1100, 520, options.common.plot);
  }
  if (!options.plot_sphere.empty()) {
    write_figure(sphere_figure(sphere), 1120, 697, options.plot_sphere);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, run); }
