// SPDX-License-Identifier: MIT
// The program itself, with little to do.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bpm/bounds/gibbs_bound.hpp"
#include "bpm/decision/rejection.hpp"
#include "catch.hpp"
#include "program_test.hpp"

namespace kernel_interpolation_program {

using namespace examples_test;

namespace {

const std::string program = BPM_KERNEL_INTERPOLATION_PROGRAM;

}  // namespace

TEST_CASE("kernel_interpolation: all parts on drawn digits", "[examples]") {
  const Alone alone;
  const auto run_json = [&](const std::string& threads, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "--sizes", "20,40",     "--voters", "500",       "--test", "300",    "--bounces",
        "20000",   "--subsets", "2",        "--threads", threads,  "--json", alone.path("a.json")};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child(program, words);
    REQUIRE(child.wait() == 0);
    CHECK_THAT(child.out(), ContainsSubstring("drawn digits, NOT MNIST"));
    CHECK_THAT(child.errors(), !ContainsSubstring("warning"));
    return Json::parse(read_text(alone.path("a.json")));
  };
  const Json json =
      run_json("1", draws_plots() ? std::vector<std::string>{"--plot", alone.path("a.svg")}
                                  : std::vector<std::string>{});
  REQUIRE(json.size() == 4);
  for (const Json& row : json) {
    CAPTURE(row.dump());
    const auto number = [&](const char* key) { return row.at(key).get<double>(); };
    CHECK(row["data"] == "drawn");
    // What the theory says of any run.
    CHECK(number("log_inverse_PY_nested") <
          number("complexity_A") + 5 * number("log_inverse_PY_nested_se"));
    CHECK(std::abs(number("log_inverse_PY_nested") - number("log_inverse_PY_ep")) <
          5 * number("log_inverse_PY_nested_se") + 0.5);
    CHECK(number("bpm_bound_A") == Approx(std::exp(1.0) * number("gibbs_bound_A")));
    CHECK(number("gibbs_bound_PY_certified") > number("gibbs_bound_PY"));
    CHECK(number("iso_bayes_error") <= 2 * number("iso_gibbs_error"));
    CHECK(number("exact_bayes_error") <= 2 * number("exact_gibbs_error"));
    CHECK(number("centroidal_error") <= std::exp(1.0) * number("iso_gibbs_error"));
    CHECK(number("iso_gibbs_error") < 0.5);
    CHECK(number("iso_gibbs_agreement") >= std::pow(1 - 2 * number("iso_gibbs_error"), 2) - 1e-9);
    CHECK(number("centre_of_mass_label_distance") < 0.2);
    CHECK(row["gibbs_at_margin"].size() == 10);
  }
  const Json again = run_json("2", {});
  for (std::size_t k = 0; k < json.size(); ++k) {
    for (const auto& [key, value] : json[k].items()) {
      CAPTURE(key);
      if (key.find("seconds") == std::string::npos) CHECK(again[k][key] == value);
    }
  }
  if (draws_plots()) {
    CHECK_THAT(read_text(alone.path("a.svg")), ContainsSubstring("</svg>"));
  }
}

TEST_CASE("kernel_interpolation: bounds with what they are made of", "[examples]") {
  const Alone alone;
  ChildProcess child(program,
                     {"--sizes", "40,100", "--voters", "500", "--test", "300", "--parts", "ep",
                      "--bounds", "--unlabelled", "200", "--json", alone.path("a.json")});
  REQUIRE(child.wait() == 0);
  CHECK_THAT(child.out(), ContainsSubstring("    n  theorem 1    2 Gibbs    margins"));
  const Json rows = Json::parse(read_text(alone.path("a.json")));
  for (const Json& row : rows) {
    CAPTURE(row.dump());
    const double n = row["n"];
    const double error = row["bounded_error"];
    CHECK(error == row["centre_of_mass_error_ep"]);
    for (const char* name :
         {"vote_margin_bound", "split_prior_bound", "split_prior_bound_certified", "held_out_bound",
          "held_out_disagreement_bound"}) {
      CAPTURE(name);
      const Json& terms = row.at(std::string(name) + "_terms");
      CHECK(row[name].get<double>() > error);
      CHECK(row[name].get<double>() <= 1);
      CHECK(terms["delta"].get<double>() == Approx(0.01));
      CHECK(terms["unlabelled"] == 200);
      CHECK(terms["conditions"].get<std::string>().size() > 20);
    }
    const Json& split = row["split_prior_bound_terms"];
    CHECK(split["n1"] == n / 2);
    CHECK(split["complexity"] < row["vote_margin_bound_terms"]["complexity"]);
    // The realizable form at a third of delta, and Maurer's at half of it.
    CHECK(split["gibbs_bound"].get<double>() ==
          Approx(-std::expm1(-(split["complexity"].get<double>() + std::log(300.0)) / (n / 2))));
    const Json& certified = row["split_prior_bound_certified_terms"];
    CHECK(bpm::binary_relative_entropy(certified["rate"], certified["gibbs_bound"]) ==
          Approx((certified["complexity"].get<double>() + std::log(2 * std::sqrt(n / 2) / 0.005)) /
                 (n / 2)));
    // Of three tenths, errors and differences counted.
    const Json& held = row["held_out_bound_terms"];
    CHECK(held["n1"] == n - 3 * n / 10);
    const auto count = static_cast<std::uint64_t>(3 * n / 10);
    const auto errors =
        static_cast<std::uint64_t>(std::lround(held["rate"].get<double>() * 3 * n / 10));
    CHECK(row["held_out_bound"].get<double>() ==
          Approx(bpm::binomial_upper_limit(errors, count, 0.01)));
    const double apart = row["held_out_disagreement_bound_terms"]["disagreement"];
    CHECK(row["held_out_disagreement_bound"].get<double>() ==
          Approx(std::min(
              1.0, bpm::binomial_upper_limit(errors, count, 0.005) +
                       bpm::binomial_upper_limit(
                           static_cast<std::uint64_t>(std::lround(200 * apart)), 200, 0.005))));
  }
}

TEST_CASE("kernel_interpolation: what is left out is null", "[examples]") {
  const Alone alone;
  ChildProcess child(program, {"--sizes", "30", "--voters", "100", "--test", "100", "--parts",
                               "isotropic", "--quiet", "--json", alone.path("a.json")});
  REQUIRE(child.wait() == 0);
  CHECK(child.out().empty());
  const Json row = Json::parse(read_text(alone.path("a.json"))).at(0);
  CHECK(row["log_inverse_PY_ep"].is_null());
  CHECK(row["exact_gibbs_error"].is_null());
  CHECK(row["centroidal_error"].is_number());
}

TEST_CASE("kernel_interpolation: a wrong command line ends with status 2", "[examples]") {
  const Alone alone;
  const auto refuse = [&](int status, const std::vector<std::string>& words,
                          const std::string& part) { check_refused(program, status, words, part); };
  refuse(2, {"--sizes", "50,x"}, "--sizes");
  refuse(2, {"--sizes", "1"}, "'1' is no whole number from 2 to 10000");
  refuse(2, {"--parts", "ep,guess"}, "'guess' is none of isotropic, ep, nested, billiard, exact");
  refuse(2, {"--confidence", "0.9999"}, "is no number from 0.5 to 0.999");
  refuse(2, {"--depth", "0"}, "--depth");
  refuse(1, {"--data", alone.path("none")}, "there is no folder");
  ChildProcess help(program, {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("kernel_interpolation --sizes"));
}

}  // namespace kernel_interpolation_program
