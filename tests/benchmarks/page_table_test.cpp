// SPDX-License-Identifier: MIT
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"
#include "page/html.hpp"
#include "page/plots.hpp"
#include "page/table.hpp"

using namespace bpm_benchmarks;
using Catch::Matchers::ContainsSubstring;

namespace {

Measured measured(const std::string& name, std::vector<double> seconds, double floor = 0) {
  Measured result;
  result.name = name;
  run_detail::split_name(result);
  result.seconds = std::move(seconds);
  if (floor > 0) result.floor_seconds = floor;
  return result;
}

Run run_of(std::vector<Measured> benchmarks) {
  Run run;
  run.benchmarks = std::move(benchmarks);
  return run;
}

bool near(double left, double right) { return std::abs(left - right) < 1e-12 * std::abs(right); }

}  // namespace

TEST_CASE("page: growth and time over floor, series by series, by size", "[benchmarks]") {
  const Run run =
      run_of({measured("f/a/40", {16.0}, 4), measured("f/b/10", {1.0}), measured("g", {3.0}),
              measured("f/a/10", {1.0}, 0.5), measured("f/b/20", {2.0})});
  const auto families = make_tables(run, nullptr);
  REQUIRE(families.size() == 2);
  const auto& rows = families[0].rows;
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].measured->name == "f/a/10");
  CHECK(near(rows[0].over_floor.value(), 2));
  CHECK_FALSE(rows[0].growth);
  CHECK(rows[1].measured->name == "f/a/40");
  CHECK(near(rows[1].over_floor.value(), 4));
  CHECK(near(rows[1].growth.value(), 2));  // 16 times the time at 4 times the size.
  CHECK_FALSE(rows[2].growth);             // Another series.
  CHECK_FALSE(rows[2].over_floor);
  CHECK(near(rows[3].growth.value(), 1));
  CHECK(families[1].rows[0].measured->name == "g");
}

TEST_CASE("page: a difference counts where the repetitions do not overlap", "[benchmarks]") {
  const auto verdict = [](std::vector<double> now, std::vector<double> before) {
    return compare(measured("a", std::move(now)), measured("a", std::move(before)));
  };
  CHECK(verdict({1, 2, 3}, {4, 5, 6}).verdict == "faster");
  CHECK(near(verdict({1, 2, 3}, {4, 5, 6}).ratio, 0.4));
  CHECK(verdict({4, 5, 6}, {1, 2, 3}).verdict == "slower");
  CHECK(verdict({1, 2, 4}, {4, 5, 6}).verdict == "same");
  CHECK(verdict({1}, {4, 5}).verdict == "unknown");
  CHECK(verdict({1, 2}, {4}).verdict == "unknown");
}

TEST_CASE("page: what two runs do not share is listed", "[benchmarks]") {
  Run now = run_of({measured("a", {1.0}), measured("b", {1.0})});
  Run before = run_of({measured("b", {2.0}), measured("c", {1.0})});
  now.context = {{"host_name", "x"}, {"num_cpus", "2"}};
  before.context = {{"host_name", "y"}, {"num_cpus", "2"}};
  const Difference difference = find_differences(now, before);
  CHECK(difference.only_new == std::vector<std::string>{"a"});
  CHECK(difference.only_old == std::vector<std::string>{"c"});
  REQUIRE(difference.context.size() == 1);
  CHECK(difference.context[0].name == "host_name");
  CHECK(difference.context[0].before == "y");
  const Run other = run_of({measured("z", {1.0})});
  CHECK_THAT(test_support::message_of([&] { static_cast<void>(find_differences(now, other)); }),
             ContainsSubstring("no benchmark in common: the new one has 'a', the old one 'z'"));
}

TEST_CASE("page: numbers with three digits and the unit that suits", "[benchmarks]") {
  CHECK(seconds_text(1.2345) == "1.23 s");
  CHECK(seconds_text(0.012345) == "12.3 ms");
  CHECK(seconds_text(123.4e-6) == "123 us");
  CHECK(seconds_text(5.77e-9) == "5.77 ns");
  CHECK(seconds_text(0.5e-9) == "0.500 ns");
  CHECK(seconds_text(0) == "0 ns");
  CHECK(three_digits(0.05) == "0.0500");
  CHECK(three_digits(12345) == "12345");
  CHECK(three_digits(-2.5) == "-2.50");
  CHECK(three_digits(1e9) == "1.00e+09");
  CHECK(three_digits(std::nan("")) == "-");
  CHECK(escape_html("<a & \"b\">") == "&lt;a &amp; &quot;b&quot;&gt;");
}

TEST_CASE("page: plots hold series of two sizes, floors once, six series at most", "[benchmarks]") {
  std::vector<Measured> list;
  for (const char* kernel : {"k1", "k2", "k3", "k4"}) {
    for (const char* scalar : {"float", "double"}) {
      for (const int size : {1, 10}) {
        list.push_back(
            measured(std::string("block/") + kernel + "/" + scalar + "/" + std::to_string(size),
                     {1e-3 * size}, 5e-4 * size));
      }
    }
  }
  list.push_back(measured("block/single/float/3", {1.0}));
  const Run run = run_of(list);
  const auto plots = family_plots(make_tables(run, nullptr)[0]);
  REQUIRE(plots.size() == 2);
  CHECK(plots[0].title == "block, float");
  REQUIRE(plots[0].series.size() == 5);
  CHECK(plots[0].series[0].title == "k1/float");
  CHECK(plots[0].series[0].x == std::vector<double>{1, 10});
  CHECK(plots[0].series[4].title == "floor");
  CHECK(plots[0].series[4].reference);
  CHECK(plots[0].series[4].y == std::vector<double>{5e-4, 5e-3});
  const std::string script = plot_script(plots[0]).text(10, 10, "a.svg");
  CHECK_THAT(script, ContainsSubstring("set logscale xy"));
  CHECK_THAT(script, ContainsSubstring("title 'k4/float'"));
  CHECK(family_plots(make_tables(run_of({measured("a/1", {1.0})}), nullptr)[0]).empty());
}

TEST_CASE("page: images in one page do not share names", "[benchmarks]") {
  CHECK(inline_svg("<?xml?>\n<svg><g id=\"a\"/><use xlink:href='#a'/><p clip=\"url(#a)\"/></svg>",
                   "p1_") ==
        "<svg><g id=\"p1_a\"/><use xlink:href='#p1_a'/><p clip=\"url(#p1_a)\"/></svg>");
}

TEST_CASE("page: rows say what is compared, skipped and new", "[benchmarks]") {
  Run now = run_of({measured("f/1", {1e-3, 2e-3, 3e-3}, 1e-3), measured("f/<2>", {1e-3})});
  now.benchmarks.push_back(measured("f/skipped", {}));
  now.benchmarks.back().error = "no data & none to come";
  now.context = {{"host_name", "<here>"}};
  const Run before = run_of({measured("f/1", {5e-3, 6e-3}), measured("f/9", {1.0})});
  const auto families = make_tables(now, &before);
  const std::string text = page_text({now, families, {}, find_differences(now, before)});
  CHECK_THAT(text, ContainsSubstring("<tr><td>f/1</td><td>3</td><td>2.00 ms</td><td>1.00 ms to "
                                     "3.00 ms</td><td>1.00 ms</td><td>2.00</td><td>-</td><td>5.50 "
                                     "ms</td><td>0.364</td><td class=\"faster\">faster</td></tr>"));
  CHECK_THAT(text, ContainsSubstring("<td>f/&lt;2&gt;</td>"));
  CHECK_THAT(text, ContainsSubstring("<td>new</td>"));
  CHECK_THAT(text, ContainsSubstring("not measured: no data &amp; none to come"));
  CHECK_THAT(text, ContainsSubstring("Only in the old run: f/9"));
  CHECK_THAT(text, ContainsSubstring("<td>host_name</td><td>&lt;here&gt;</td><td>not told</td>"));
  CHECK_THAT(page_text({now, make_tables(now, nullptr), {}, {}}), !ContainsSubstring("old time"));
}
