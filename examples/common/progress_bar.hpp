// SPDX-License-Identifier: MIT
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "bpm/core/progress.hpp"

/// \file
/// Progress on standard error: a bar on a terminal, a few lines elsewhere.

namespace bpm_examples {

/// Seconds as h:mm:ss, rounded to whole seconds: "0:01:23". "-:--:--" for what is negative, not a
/// number, or 1000 hours and more.
[[nodiscard]] inline std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds >= 3.6e6 - 0.5) {
    return "-:--:--";
  }
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  std::ostringstream text;
  text << total / 3600 << ':' << std::setfill('0') << std::setw(2) << total / 60 % 60 << ':'
       << std::setw(2) << total % 60;
  return text.str();
}

namespace progress_detail {

/// The fraction within 0 and 1; 0 for NaN.
[[nodiscard]] inline double bounded(double fraction) {
  return fraction > 0 ? std::min(fraction, 1.0) : 0.0;
}

/// Rounded down, so that 100 stands only at the end; 0.29 is 29, though 100 * 0.29 is less.
[[nodiscard]] inline int percent(double fraction) {
  const double done = bounded(fraction);
  return done >= 1 ? 100 : std::min(99, static_cast<int>(std::floor(100 * done + 1e-9)));
}

/// Seconds left if the rest goes as fast as what is done; negative where unknown.
[[nodiscard]] inline double seconds_left(double fraction, double elapsed) {
  return fraction > 0 ? elapsed * (1 - fraction) / fraction : -1.0;
}

}  // namespace progress_detail

inline constexpr std::size_t widest_bar = 40;
inline constexpr std::size_t narrowest_bar = 5;

/// One line of a progress bar, at most `width` characters:
///
///     draws 3/10 [============                ]  43 %  0:01:23 left
///
/// At the end it shows the time taken instead of the time left. Where it does not fit, the bar goes
/// first, then the time, then the label.
[[nodiscard]] inline std::string format_bar(std::string_view label, double fraction,
                                            double elapsed_seconds, std::size_t width) {
  const double done = progress_detail::bounded(fraction);
  std::ostringstream percent_text;
  percent_text << std::setw(3) << progress_detail::percent(done) << " %";
  const std::string percent = percent_text.str();
  const bool finished = done >= 1;
  const std::string time =
      "  " + format_duration(finished ? elapsed_seconds
                                      : progress_detail::seconds_left(done, elapsed_seconds));
  const std::string_view left = finished ? "" : " left";
  // Room for " left" is kept at the end too, so that the bar does not grow at the last step.
  const std::size_t around = label.size() + 3 + 1 + percent.size() + time.size() + 5;
  std::string line(label);
  if (around + narrowest_bar <= width) {
    const std::size_t cells = std::min(widest_bar, width - around);
    const auto filled = static_cast<std::size_t>(std::floor(done * static_cast<double>(cells)));
    line += " [" + std::string(filled, '=') + std::string(cells - filled, ' ') + "] ";
    return line + percent + time + std::string(left);
  }
  if (label.size() + 1 + percent.size() + time.size() + left.size() <= width) {
    return line + " " + percent + time + std::string(left);
  }
  if (label.size() + 1 + percent.size() <= width) {
    return line + " " + percent;
  }
  return percent.size() <= width ? percent : std::string();
}

/// One line of a log: "draws 3/10: 43 %, 0:01:02 so far, 0:01:23 left".
[[nodiscard]] inline std::string format_progress_line(std::string_view label, double fraction,
                                                      double elapsed_seconds) {
  const double done = progress_detail::bounded(fraction);
  std::string line(label);
  line += ": " + std::to_string(progress_detail::percent(done)) + " %, ";
  line += format_duration(elapsed_seconds);
  if (done < 1) {
    line += " so far, " + format_duration(progress_detail::seconds_left(done, elapsed_seconds)) +
            " left";
  }
  return line;
}

/// How progress is shown.
enum class ProgressStyle {
  none,
  lines,  ///< A line at every tenth, at most one a second; else one a minute.
  bar     ///< One line redrawn at most ten times a second.
};

/// Nothing with `quiet`, a bar where standard error is a terminal, lines elsewhere.
[[nodiscard]] inline ProgressStyle progress_style(bool quiet) {
  if (quiet) {
    return ProgressStyle::none;
  }
  return ::isatty(STDERR_FILENO) == 1 ? ProgressStyle::bar : ProgressStyle::lines;
}

/// Columns of the terminal at standard error; 80 where it does not say.
[[nodiscard]] inline std::size_t terminal_width() {
  struct ::winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

/// Shows the progress of one stage after the other; a `bpm::Observer`. It may be called from any
/// thread.
class ProgressBar {
 public:
  /// What it needs from outside; tests bring their own.
  struct Surroundings {
    std::function<double()> seconds = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    std::function<std::size_t()> width = terminal_width;
  };

  explicit ProgressBar(ProgressStyle style) : ProgressBar(style, std::cerr, {}) {}
  ProgressBar(ProgressStyle style, std::ostream& out, Surroundings surroundings)
      : style_(style), out_(out), surroundings_(std::move(surroundings)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { finish(); }

  void operator()(const bpm::Progress& progress) {
    std::string label(progress.stage);
    if (progress.draws_total > 0) {
      label += ' ' + std::to_string(progress.draws) + '/' + std::to_string(progress.draws_total);
    }
    show(progress.stage, label, progress.fraction);
  }

  /// The part of `stage` that is done, 0 to 1.
  void update(std::string_view stage, double fraction) { show(stage, stage, fraction); }

  /// Ends the line, so that what is printed next starts on a new one.
  void finish() {
    const std::lock_guard lock(mutex_);
    end_stage();
  }

 private:
  void show(std::string_view stage, std::string_view label, double fraction) {
    if (style_ == ProgressStyle::none) {
      return;
    }
    const std::lock_guard lock(mutex_);
    const double now = surroundings_.seconds();
    if (!running_ || stage != stage_) {
      end_stage();
      stage_ = stage;
      running_ = true;
      start_ = now;
      // A bar is shown at once; lines wait for something to say.
      last_shown_ = style_ == ProgressStyle::bar ? now - 1 : now;
      last_tenth_ = 0;
      finished_ = false;
    }
    const bool at_end = fraction >= 1;
    if (finished_ && at_end) {
      return;
    }
    finished_ = at_end;
    if (style_ == ProgressStyle::bar) {
      if (at_end || now - last_shown_ >= 0.1) {
        last_shown_ = now;
        draw(format_bar(label, fraction, now - start_, std::max<std::size_t>(columns(), 1) - 1));
      }
    } else {
      const int tenth = progress_detail::percent(fraction) / 10;
      const double since = now - last_shown_;
      if (at_end || (tenth > last_tenth_ && since >= 1) || since >= 60) {
        last_shown_ = now;
        last_tenth_ = tenth;
        out_ << format_progress_line(label, fraction, now - start_) << '\n' << std::flush;
      }
    }
  }

  [[nodiscard]] std::size_t columns() const { return surroundings_.width(); }

  /// Redraws the line; blanks cover what a longer line left.
  void draw(const std::string& line) {
    const std::size_t blanks = drawn_ > line.size() ? drawn_ - line.size() : 0;
    out_ << '\r' << line << std::string(blanks, ' ') << std::flush;
    drawn_ = line.size();
  }

  void end_stage() {
    if (style_ == ProgressStyle::bar && running_) {
      out_ << '\n' << std::flush;
    }
    running_ = false;
    drawn_ = 0;
  }

  ProgressStyle style_;
  std::ostream& out_;
  Surroundings surroundings_;
  std::mutex mutex_;
  std::string stage_;
  bool running_ = false;
  bool finished_ = false;
  double start_ = 0;
  double last_shown_ = 0;
  int last_tenth_ = 0;
  std::size_t drawn_ = 0;
};

}  // namespace bpm_examples
