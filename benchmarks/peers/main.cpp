// SPDX-License-Identifier: MIT
// Support vector machines of other libraries and Bayes point machines on the same digits, in one
// run on one machine.

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/figure.hpp"
#include "common/interrupt.hpp"
#include "common/json_file.hpp"
#include "common/mnist_data.hpp"
#include "common/program.hpp"
#include "common/progress_bar.hpp"
#include "contestants.hpp"
#include "digit_files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace bpm_peers;
using bpm_examples::InterruptGuard;
using bpm_examples::JsonFile;
using bpm_examples::ProgressBar;

/// Reads or draws the digits and writes the peers' files; the digits are gone when it returns, so
/// that children do not start with their memory.
void write_digits(Contest& contest, PeersReport& report) {
  const PeersOptions& options = contest.options;
  bpm_examples::Digits digits = bpm_examples::load_digits(options.common.data, options.train,
                                                          options.test, options.common.threads);
  write_unit_norm(digits.train, contest.train);
  write_unit_norm(digits.test, contest.test);
  contest.data = digits.name();
  contest.test_labels = std::move(digits.test.labels);
  report.source = digits.source;
  report.data = contest.data;
}

/// Hands freed memory back to the system: what is resident now counts as the children's.
void trim_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

/// One run of the peer; a failure of its programs is kept in its row.
void run_once(Contestant& contestant) {
  PeerRow& row = contestant.row;
  try {
    row.runs.push_back(contestant.run(row.note));
  } catch (const bpm_examples::Interrupted&) {
    throw;
  } catch (const PeerFailure& failure) {
    row.status = failure.status();
    row.message = failure.what();
  } catch (const std::exception& error) {
    row.status = PeerStatus::failed;
    row.message = bpm_examples::one_line(error.what());
  }
}

void run(int argc, char** argv) {
  const PeersOptions options = parse_peers_options(argc, argv);
  const JsonFile json(options.common.json);
  const ScratchFolder folder;
  const InterruptGuard guard;
  Contest contest{
      options, {}, folder.path(), folder.path() / "train", folder.path() / "test", {}, [&guard] {
        return guard.interrupted();
      }};
  PeersReport report;
  report.train_size = options.train;
  report.test_size = options.test;
  report.threads = options.common.threads;
  report.repeat = options.repeat;
  double load = 0;
  if (::getloadavg(&load, 1) == 1) report.load = load;
  ProgressBar bar(bpm_examples::progress_style(options.common.quiet));
  bar.update("writing the digits", 0);
  write_digits(contest, report);
  trim_memory();
  bar.update("writing the digits", 1);
  std::vector<Contestant> contestants = find_contestants(contest);
  // Round by round, so that a machine that slows down slows all of them.
  for (int round = 0; round < options.repeat; ++round) {
    for (Contestant& contestant : contestants) {
      if (contestant.row.status != PeerStatus::done) continue;
      bar.update(contestant.row.key, 0);
      run_once(contestant);
      bar.update(contestant.row.key, 1);
    }
  }
  bar.finish();
  std::size_t done = 0;
  std::size_t failed = 0;
  for (Contestant& contestant : contestants) {
    const PeerStatus status = contestant.row.status;
    done += status == PeerStatus::done ? 1U : 0U;
    failed += status == PeerStatus::failed || status == PeerStatus::timed_out ? 1U : 0U;
    report.rows.push_back(std::move(contestant.row));
  }
  if (!options.common.quiet) {
    print_report(std::cout, report);
    std::cout << std::flush;
  }
  json.write(report_json(report));
  if (!options.common.plot.empty() && done > 0) {
    bpm_examples::write_figure(report_figure(report), 900, 520, options.common.plot);
  }
  if (failed > 0) {
    throw std::runtime_error(std::to_string(failed) + " of " + std::to_string(done + failed) +
                             " peers that are there failed; the table says why");
  }
  if (done == 0) {
    throw std::runtime_error("none of the peers is installed");
  }
}

}  // namespace

int main(int argc, char** argv) { return bpm_examples::run_program(argc, argv, run); }
