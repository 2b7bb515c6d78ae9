// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "child.hpp"
#include "options.hpp"
#include "report.hpp"

/// \file
/// The peers: how each is found, with which parameters it runs, and how its results are read.

namespace bpm_peers {

/// What every peer is given.
struct Contest {
  const PeersOptions& options;
  std::string data;              ///< "mnist" or "drawn"
  std::filesystem::path folder;  ///< Scratch.
  std::filesystem::path train;   ///< Unit norm, LIBSVM's format.
  std::filesystem::path test;    ///< Likewise.
  std::vector<int> test_labels;
  std::function<bool()> stop;  ///< Whether Ctrl-C was pressed.

  /// Runs a program of a peer. \throws PeerFailure unless it ends well.
  [[nodiscard]] ChildOutcome run(std::vector<std::string> words, int threads) const;
  /// Runs a program to ask it something, with a limit of its own; never throws for what it says.
  [[nodiscard]] ChildOutcome ask(std::vector<std::string> words, double timeout = 120) const;
};

/// A program of a peer crashed, ran out of time or said what is not understood.
class PeerFailure : public std::runtime_error {
 public:
  PeerFailure(PeerStatus status, const std::string& what)
      : std::runtime_error(what), status_(status) {}
  [[nodiscard]] PeerStatus status() const noexcept { return status_; }

 private:
  PeerStatus status_;
};

/// A peer that is there, and how to run it once; `note` may be filled.
struct Contestant {
  PeerRow row;  ///< Status `done` where it can be run, else why not.
  std::function<PeerRun(std::string& note)> run;
};

/// Those that the options want, in the order of the table. LIBSVM is built here where its source is
/// given. \throws bpm_examples::Interrupted by Ctrl-C.
[[nodiscard]] std::vector<Contestant> find_contestants(const Contest& contest);

}  // namespace bpm_peers
