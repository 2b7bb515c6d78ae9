// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <sstream>

#include "commands.hpp"
#include "common/json_file.hpp"
#include "model.hpp"
#include "text.hpp"

namespace bpm_examples {

namespace {

[[nodiscard]] const char* sampler_of(const Model& model, const ModelFacts& facts) {
  if (model.posterior) return "ep";
  if (facts.report.chains) return "chains";
  return facts.report.perceptron ? "perceptron" : "other";
}

/// Of a table, those that are features.
[[nodiscard]] Eigen::Index table_columns(const ModelFacts& facts) {
  return facts.encoding ? std::ssize(facts.encoding->columns) : facts.features;
}

[[nodiscard]] Json info_json(const Model& model, const ModelFacts& facts) {
  Json json;
  json["kernel"] = facts.kernel.name;
  json["kernel_formula"] = facts.kernel.formula;
  json["input"] = facts.inputs;
  json["features"] = facts.features;
  json["classes"] = facts.class_names;
  json["support"] = facts.support;
  json["sampler"] = sampler_of(model, facts);
  json["draws"] = facts.report.draws;
  json["bias"] = facts.bias;
  json["one_against_one"] = facts.one_against_one;
  json["soft_boundary_automatic"] = facts.boundary.has_value();
  if (facts.boundary) json["soft_boundary"] = facts.boundary->relative_lambda;
  json["standardised"] = facts.standardised;
  json["columns"] = facts.feature_names.empty() ? Json() : Json(facts.feature_names);
  json["label_column"] = facts.positions.usual()
                             ? Json()
                             : Json(facts.positions.label_among(table_columns(facts)) + 1);
  json["ignored_columns"] = Json::array();
  for (const Eigen::Index column : facts.positions.ignored) {
    json["ignored_columns"].push_back(column + 1);
  }
  json["calibrated"] = facts.calibrated;
  if (facts.rejection) {
    json["rejection"] = {{"score", facts.rejection->score},
                         {"threshold", facts.rejection->rejector.threshold}};
  }
  json["seed"] = facts.seed ? Json(*facts.seed) : Json();
  Json warnings = Json::array();
  for (const bpm::FitWarning& warning : facts.warnings) warnings.push_back(warning.what());
  json["warnings"] = std::move(warnings);
  json["train_seconds"] = facts.training_seconds;
  return json;
}

void print_info(std::ostream& out, const Model& model, const ModelFacts& facts) {
  std::ostringstream text;
  report_line(text, "kernel") << facts.kernel.formula << '\n';
  report_line(text, "features") << facts.features << ", " << facts.inputs
                                << (facts.standardised ? ", standardised" : "");
  if (facts.encoding) {
    const auto words = std::ranges::count(facts.encoding->columns, bpm::MixedTable::Kind::words,
                                          &bpm::TableEncoding::Column::kind);
    text << ", of " << count_text(facts.encoding->columns.size(), "column", "columns") << ", "
         << words << " of words" << (facts.encoding->fills() ? ", which may miss values" : "");
  }
  text << '\n';
  if (!facts.positions.usual()) {
    report_line(text, "columns") << "without names " << facts.positions.words(table_columns(facts))
                                 << '\n';
  }
  report_line(text, "classes");
  for (std::size_t c = 0; c < facts.class_names.size(); ++c) {
    text << (c == 0 ? "" : ", ") << facts.class_names[c];
  }
  text << '\n';
  report_line(text, "machine") << sampler_of(model, facts);
  if (!model.posterior) text << ", " << count_text(facts.report.draws, "draw", "draws");
  text << (facts.one_against_one ? ", one class against one, " : ", ")
       << count_text(facts.support, "support row", "support rows");
  if (facts.seed) text << ", seed " << *facts.seed;
  text << '\n';
  report_line(text, "soft boundary");
  if (facts.boundary && facts.boundary->label_noise > 0) {
    text << "label noise " << facts.boundary->label_noise << ", chosen\n";
  } else if (facts.boundary) {
    text << facts.boundary->relative_lambda << " k(x, x), chosen\n";
  } else {
    text << "given\n";
  }
  report_line(text, "probabilities") << (facts.calibrated ? "calibrated" : "none") << '\n';
  if (facts.rejection) {
    std::string rows = "rows with a " + facts.rejection->score;
    for (const std::string& name : facts.class_names) {
      if (facts.rejection->score == gap_of_class(name))
        rows = "rows called " + name + " with a gap";
    }
    const double threshold = facts.rejection->rejector.threshold;
    report_line(text, "rejection")
        << (std::isfinite(threshold) ? rows + " below " + number_text(threshold)
                                     : "all " + rows + ": no threshold was found")
        << '\n';
  }
  for (const bpm::FitWarning& warning : facts.warnings) {
    report_line(text, "warning") << warning.what() << '\n';
  }
  out << text.str() << std::flush;
}

}  // namespace

void run_info(const InfoOptions& options) {
  const JsonFile json(options.common.json);
  const Model model = load_model(options.model);
  const ModelFacts facts = facts_of(model);
  if (!options.common.quiet) print_info(std::cout, model, facts);
  json.write(info_json(model, facts));
}

}  // namespace bpm_examples
