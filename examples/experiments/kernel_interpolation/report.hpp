// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/chain_check.hpp"
#include "common/json_file.hpp"
#include "experiment.hpp"
#include "options.hpp"

/// \file
/// The results as lines of text and as JSON.

namespace bpm_examples {

namespace report_detail {

/// null where it was not computed.
[[nodiscard]] inline Json number(double value) { return std::isnan(value) ? Json() : Json(value); }

/// In percent with one decimal, never below itself.
[[nodiscard]] inline double rounded_up(double bound) { return std::ceil(1000 * bound) / 10; }

/// A bound by its name, and beside it what it is made of and when it holds.
inline void add_bounds(const Bounds& bounds, Json& entry) {
  const auto add = [&](const std::string& name, const Bound& bound, const char* conditions) {
    entry[name] = number(bound.value);
    Json& terms = entry[name + "_terms"];
    terms["n1"] = bound.prior_points;
    terms["delta"] = bounds.delta;
    terms["unlabelled"] = bounds.unlabelled;
    terms["conditions"] = conditions;
    const std::pair<const char*, double> numbers[] = {{"complexity", bound.complexity},
                                                      {"gibbs_bound", bound.gibbs},
                                                      {"threshold", bound.threshold},
                                                      {"rate", bound.rate},
                                                      {"disagreement", bound.disagreement}};
    for (const auto& [key, value] : numbers) {
      if (!std::isnan(value)) terms[key] = value;
    }
  };
  add("vote_margin_bound", bounds.margin,
      "kernel fixed beforehand; with its error bars: of log 1/P_Y, and a tenth of the voters "
      "counted as independent");
  add("split_prior_bound", bounds.split,
      "order and n1 fixed beforehand, kernel chosen on the first n1 at most; with its error bars: "
      "of log P(first n1) - log P(all), and a tenth of the voters counted as independent");
  add("split_prior_bound_certified", bounds.split_certified,
      "order and n1 fixed beforehand, kernel chosen on the first n1 at most; certified");
  add("held_out_bound", bounds.held_out,
      "of the machine of the first n1; order and n1 fixed beforehand; certified");
  add("held_out_disagreement_bound", bounds.held_out_disagreement,
      "order and n1 fixed beforehand; certified");
  entry["bounded_error"] = number(bounds.error);
  entry["bounds_seconds"] = bounds.seconds;
}

}  // namespace report_detail

/// Of the billiards, where they ran.
[[nodiscard]] inline ChainCheck check_chains(const std::vector<InterpolationResult>& results) {
  ChainCheck chains;
  for (const InterpolationResult& result : results) {
    if (!std::isnan(result.billiard_standard_error)) chains.add(result.billiard_standard_error);
  }
  return chains;
}

[[nodiscard]] inline Json interpolation_json(const std::vector<InterpolationResult>& results,
                                             const EvenOdd& digits) {
  using report_detail::add_bounds;
  using report_detail::number;
  Json list = Json::array();
  for (const InterpolationResult& r : results) {
    Json entry;
    entry["n"] = r.n;
    entry["subset"] = r.subset;
    const std::pair<const char*, double> numbers[] = {
        {"complexity_A", r.complexity},
        {"log_inverse_PY_ep", r.log_inverse_ep},
        {"log_inverse_PY_nested", r.log_inverse_nested},
        {"log_inverse_PY_nested_se", r.log_inverse_nested_se},
        {"gibbs_bound_A", r.gibbs_bound_a},
        {"bpm_bound_A", r.bpm_bound_a},
        {"gibbs_bound_PY", r.gibbs_bound_p},
        {"bpm_bound_PY", r.bpm_bound_p},
        {"gibbs_bound_PY_certified", r.gibbs_bound_certified},
        {"bpm_bound_PY_certified", r.bpm_bound_certified},
        {"bpm_bound_PY_realizable", r.bpm_bound_realizable},
        {"bpm_bound_by_vote_certified", r.bpm_bound_by_vote},
        {"rademacher", r.rademacher},
        {"centroidal_error", r.centroidal_error},
        {"centroidal_leave_one_out_error", r.leave_one_out_error},
        {"centre_of_mass_error_ep", r.centre_error_ep},
        {"centre_of_mass_error_billiard", r.centre_error_billiard},
        {"centre_of_mass_label_distance", r.label_distance},
        {"billiard_standard_error", r.billiard_standard_error},
        {"iso_gibbs_error", r.isotropic.gibbs_error},
        {"iso_bayes_error", r.isotropic.bayes_error},
        {"iso_gibbs_agreement", r.isotropic.agreement},
        {"iso_c_bound_empirical", r.isotropic.c_bound_empirical},
        {"iso_bpm_bayes_disagreement", r.isotropic.bpm_bayes_disagreement},
        {"exact_gibbs_error", r.exact.gibbs_error},
        {"exact_bayes_error", r.exact.bayes_error},
        {"exact_gibbs_agreement", r.exact.agreement},
        {"exact_c_bound_empirical", r.exact.c_bound_empirical},
        {"exact_c_bound_certified", r.exact.c_bound_certified},
        {"exact_bpm_bayes_disagreement", r.exact.bpm_bayes_disagreement},
        {"jitter", r.jitter},
        {"ep_seconds", r.ep_seconds},
        {"nested_seconds", r.nested_seconds},
        {"billiard_seconds", r.billiard_seconds},
        {"iso_seconds", r.isotropic_seconds},
        {"exact_seconds", r.exact_seconds},
        {"seconds", r.seconds}};
    for (const auto& [key, value] : numbers) entry[key] = number(value);
    entry["gibbs_at_margin"] = Json::array();
    for (std::size_t k = 0; k < r.gibbs_at_margin.size(); ++k) {
      entry["gibbs_at_margin"].push_back(
          {{"margin", margins()[k]}, {"gibbs_error", r.gibbs_at_margin[k]}});
    }
    if (r.bounds) add_bounds(*r.bounds, entry);
    if (!r.study.empty()) entry["study"] = Json::array();
    for (const StudyPoint& point : r.study) {
      entry["study"].push_back({{"what", point.what},
                                {"value", point.value},
                                {"log_evidence", point.log_evidence},
                                {"centre_of_mass_error", point.centre_error},
                                {"centroidal_error", point.centroidal_error},
                                {"jitter", point.jitter}});
    }
    entry["data"] = digits.name();
    entry["warnings"] = check_chains({r}).warnings();
    list.push_back(std::move(entry));
  }
  return list;
}

/// Column heads of `print_line`.
inline void print_head(std::ostream& out, const EvenOdd& digits,
                       const InterpolationOptions& options) {
  std::ostringstream text;
  text << "data: " << digits.source << "\neven against odd digits, " << digits.test.signs.size()
       << " test images, arc-cosine kernel of depth " << options.depth << ", " << options.voters
       << " voters; rates and bounds in %\n\n"
       << "               errors: interpolators      isotropic posterior   exact posterior "
          "     log 1/P_Y       BPM bound by\n"
       << "    n subset centroid   EP bill'rd       Gibbs  Bayes  Delta    Gibbs  Bayes  Delta"
          "     A     EP  nested (se)    A    P_Y  cert.   vote  seconds\n";
  out << text.str() << std::flush;
}

/// One finished subset.
inline void print_line(std::ostream& out, const InterpolationResult& r) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2);
  const auto percent = [&](double value, int width) {
    text << std::setw(width);
    if (std::isnan(value)) {
      text << '-';
    } else {
      text << 100 * value;
    }
  };
  const auto plain = [&](double value, int width, int digits) {
    text << std::setw(width) << std::setprecision(digits);
    if (std::isnan(value)) {
      text << '-';
    } else {
      text << value;
    }
    text << std::setprecision(2);
  };
  text << std::setw(5) << r.n << std::setw(7) << r.subset;
  percent(r.centroidal_error, 9);
  percent(r.centre_error_ep, 7);
  percent(r.centre_error_billiard, 7);
  percent(r.isotropic.gibbs_error, 12);
  percent(r.isotropic.bayes_error, 7);
  percent(r.isotropic.bpm_bayes_disagreement, 7);
  percent(r.exact.gibbs_error, 9);
  percent(r.exact.bayes_error, 7);
  percent(r.exact.bpm_bayes_disagreement, 7);
  plain(r.complexity, 7, 1);
  plain(r.log_inverse_ep, 7, 1);
  plain(r.log_inverse_nested, 7, 1);
  text << " (";
  plain(r.log_inverse_nested_se, 1, 2);
  text << ')';
  plain(report_detail::rounded_up(r.bpm_bound_a), 7, 1);
  plain(report_detail::rounded_up(r.bpm_bound_p), 7, 1);
  plain(report_detail::rounded_up(r.bpm_bound_certified), 7, 1);
  plain(report_detail::rounded_up(r.bpm_bound_by_vote), 7, 1);
  plain(r.seconds, 8, 1);
  text << '\n';
  for (const StudyPoint& point : r.study) {
    text << "      " << std::left << std::setw(6) << point.what << std::right << std::setw(6)
         << point.value << "   log evidence " << std::setw(9) << point.log_evidence
         << "   centre of mass " << std::setw(6) << 100 * point.centre_error << "   centroidal "
         << std::setw(6) << 100 * point.centroidal_error << '\n';
  }
  out << text.str() << std::flush;
}

/// The bounds of all sizes, means over subsets in percent, beside the error that they bound.
inline void print_bounds(std::ostream& out, const std::vector<InterpolationResult>& results,
                         const InterpolationOptions& options) {
  using Read = std::function<double(const InterpolationResult&)>;
  const std::pair<const char*, Read> columns[] = {
      {"theorem 1", [](const auto& r) { return r.bpm_bound_certified; }},
      {"2 Gibbs", [](const auto& r) { return r.bpm_bound_by_vote; }},
      {"margins", [](const auto& r) { return r.bounds->margin.value; }},
      {"split", [](const auto& r) { return r.bounds->split.value; }},
      {"certified", [](const auto& r) { return r.bounds->split_certified.value; }},
      {"held out", [](const auto& r) { return r.bounds->held_out.value; }},
      {"of all", [](const auto& r) { return r.bounds->held_out_disagreement.value; }},
      {"error", [](const auto& r) { return r.bounds->error; }}};
  std::ostringstream text;
  text << "\nBounds on the error of the centre of mass, " << 100 * options.confidence
       << " % confidence each, in %, means over the\nsubsets. By log 1/P_Y of all digits, with "
          "error bars: theorem 1 (of the exact centre), twice\nthe Gibbs error, the margins; given "
          "the signs of the first half: by margins, with error bars\n(split) and certified; by "
          "three tenths held out: of the machine of the others, and of that of\nall.\n\n    n";
  for (const auto& [name, read] : columns) text << std::setw(11) << name;
  text << '\n' << std::fixed << std::setprecision(1);
  for (std::size_t begin = 0, end = 0; begin < results.size(); begin = end) {
    while (end < results.size() && results[end].n == results[begin].n) ++end;
    text << std::setw(5) << results[begin].n;
    for (const auto& [name, read] : columns) {
      double sum = 0;
      for (std::size_t k = begin; k < end; ++k) {
        sum += results[k].bounds ? read(results[k]) : not_computed;
      }
      text << std::setw(11);
      if (std::isnan(sum)) {
        text << '-';
      } else {
        const double mean = sum / static_cast<double>(end - begin);
        text << (name == std::string_view("error") ? 100 * mean : report_detail::rounded_up(mean));
      }
    }
    text << '\n';
  }
  out << text.str();
}

}  // namespace bpm_examples
