// SPDX-License-Identifier: MIT
#include "common/progress_bar.hpp"

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include "catch.hpp"

using bpm_examples::format_bar;
using bpm_examples::format_duration;
using bpm_examples::format_progress_line;
using bpm_examples::ProgressBar;
using bpm_examples::ProgressStyle;

TEST_CASE("durations are h:mm:ss", "[examples]") {
  CHECK(format_duration(0) == "0:00:00");
  CHECK(format_duration(0.49) == "0:00:00");
  CHECK(format_duration(59.5) == "0:01:00");
  CHECK(format_duration(83) == "0:01:23");
  CHECK(format_duration(3599.7) == "1:00:00");
  CHECK(format_duration(86399) == "23:59:59");
  CHECK(format_duration(360000) == "100:00:00");
  CHECK(format_duration(3599999) == "999:59:59");
  CHECK(format_duration(3600000) == "-:--:--");
  CHECK(format_duration(-1) == "-:--:--");
  CHECK(format_duration(std::numeric_limits<double>::quiet_NaN()) == "-:--:--");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "-:--:--");
}

TEST_CASE("the text of a bar, exactly", "[examples]") {
  CHECK(format_bar("draws", 0, 0, 60) ==
        "draws [                                ]   0 %  -:--:-- left");
  CHECK(format_bar("draws", 0.5, 30, 60) ==
        "draws [================                ]  50 %  0:00:30 left");
  CHECK(format_bar("draws", 0.999, 999, 60) ==
        "draws [=============================== ]  99 %  0:00:01 left");
  CHECK(format_bar("draws", 1, 83, 60) ==
        "draws [================================] 100 %  0:01:23");
  // A quarter done in an hour and a half: four and a half hours left.
  CHECK(format_bar("draws 1/4", 0.25, 5400, 50) ==
        "draws 1/4 [====              ]  25 %  4:30:00 left");
}

TEST_CASE("a bar never exceeds its width, whatever the width", "[examples]") {
  for (const std::string_view label : {"", "draws", "a stage with a long name 10/10"}) {
    for (std::size_t width = 0; width <= 130; ++width) {
      for (const double fraction : {0.0, 0.001, 0.33, 0.5, 0.99999, 1.0}) {
        for (const double elapsed : {0.0, 5.0, 4e5, 1e9}) {
          const std::string line = format_bar(label, fraction, elapsed, width);
          CAPTURE(label, width, fraction, line);
          REQUIRE(line.size() <= width);
          const auto open = line.find('[');
          if (open != std::string::npos) {
            const std::size_t cells = line.find(']') - open - 1;
            REQUIRE(cells >= bpm_examples::narrowest_bar);
            REQUIRE(cells <= bpm_examples::widest_bar);
            std::size_t filled = 0;
            for (const char c : line) {
              filled += c == '=' ? 1U : 0U;
            }
            REQUIRE(filled == static_cast<std::size_t>(fraction * static_cast<double>(cells)));
          }
        }
      }
    }
  }
}

TEST_CASE("a narrow terminal drops the bar, the time, the label", "[examples]") {
  CHECK(format_bar("draws", 0.5, 30, 33) == "draws [==   ]  50 %  0:00:30 left");
  CHECK(format_bar("draws", 0.5, 30, 32) == "draws  50 %  0:00:30 left");
  CHECK(format_bar("draws", 0.5, 30, 25) == "draws  50 %  0:00:30 left");
  CHECK(format_bar("draws", 0.5, 30, 24) == "draws  50 %");
  CHECK(format_bar("draws", 0.5, 30, 10) == " 50 %");
  CHECK(format_bar("draws", 0.5, 30, 4).empty());
}

TEST_CASE("fractions that are none are shown as 0 or 1", "[examples]") {
  CHECK(format_bar("s", -0.5, 1, 20) == format_bar("s", 0, 1, 20));
  CHECK(format_bar("s", 1.5, 1, 60) == format_bar("s", 1, 1, 60));
  CHECK(format_bar("s", std::numeric_limits<double>::quiet_NaN(), 1, 60) ==
        format_bar("s", 0, 1, 60));
}

TEST_CASE("the text of a log line, exactly", "[examples]") {
  CHECK(format_progress_line("draws 4/10", 0.4, 12) ==
        "draws 4/10: 40 %, 0:00:12 so far, 0:00:18 left");
  CHECK(format_progress_line("draws", 0, 60) == "draws: 0 %, 0:01:00 so far, -:--:-- left");
  CHECK(format_progress_line("draws", 1, 60) == "draws: 100 %, 0:01:00");
}

TEST_CASE("a bar is redrawn in place, at most ten times a second", "[examples]") {
  std::ostringstream out;
  double now = 100;
  std::size_t width = 61;
  ProgressBar bar(ProgressStyle::bar, out, {[&] { return now; }, [&] { return width; }});
  bar.update("draws", 0);
  const std::string first = "\r" + format_bar("draws", 0, 0, 60);
  CHECK(out.str() == first);
  now = 100.05;
  bar.update("draws", 0.1);
  CHECK(out.str() == first);  // Too soon.
  now = 110;
  bar.update("draws", 0.5);
  const std::string second = "\r" + format_bar("draws", 0.5, 10, 60);
  CHECK(out.str() == first + second);
  now = 110.01;
  bar.update("draws", 1);  // The end is always shown, once, and covers the longer line.
  bar.update("draws", 1);
  const std::string third = "\r" + format_bar("draws", 1, 10.01, 60) + "     ";
  CHECK(out.str() == first + second + third);
  width = 0;
  bar.update("verify", 0);  // A new stage is a new line with a clock of its own.
  CHECK(out.str() == first + second + third + "\n\r");
  bar.finish();
  bar.finish();
  CHECK(out.str() == first + second + third + "\n\r\n");
}

TEST_CASE("elsewhere a line is printed at each tenth, and at least once a minute", "[examples]") {
  std::ostringstream out;
  double now = 0;
  ProgressBar bar(ProgressStyle::lines, out, {[&] { return now; }, [] { return 80U; }});
  bar.update("draws", 0);
  now = 0.5;
  bar.update("draws", 0.15);  // A tenth, but too soon.
  CHECK(out.str().empty());
  now = 2;
  bar.update("draws", 0.2);
  std::string expected = "draws: 20 %, 0:00:02 so far, 0:00:08 left\n";
  CHECK(out.str() == expected);
  now = 30;
  bar.update("draws", 0.29);
  CHECK(out.str() == expected);
  now = 62;
  bar.update("draws", 0.29);
  expected += "draws: 29 %, 0:01:02 so far, 0:02:32 left\n";
  CHECK(out.str() == expected);
  now = 62.1;
  bar.update("draws", 1);
  expected += "draws: 100 %, 0:01:02\n";
  CHECK(out.str() == expected);
  bar.finish();
  CHECK(out.str() == expected);
}

TEST_CASE("the bar observes runs and shows their draws", "[examples]") {
  static_assert(bpm::Observer<ProgressBar>);
  std::ostringstream out;
  {
    ProgressBar bar(ProgressStyle::bar, out, {[] { return 0.0; }, [] { return 61U; }});
    bpm::Progress progress;
    progress.stage = "draws";
    progress.fraction = 0.5;
    progress.draws = 5;
    progress.draws_total = 10;
    bar(progress);
  }
  CHECK(out.str() == "\r" + format_bar("draws 5/10", 0.5, 0, 60) + "\n");
}

TEST_CASE("quiet progress prints nothing", "[examples]") {
  std::ostringstream out;
  {
    ProgressBar bar(ProgressStyle::none, out, {[] { return 0.0; }, [] { return 80U; }});
    bar.update("draws", 0.5);
    bar.update("draws", 1);
  }
  CHECK(out.str().empty());
  CHECK(bpm_examples::progress_style(true) == ProgressStyle::none);
  CHECK(bpm_examples::progress_style(false) != ProgressStyle::none);
  CHECK(bpm_examples::terminal_width() > 0);
}
