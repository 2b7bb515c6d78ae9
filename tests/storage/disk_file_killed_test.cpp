// SPDX-License-Identifier: MIT
// Processes that are killed at any moment: the rerun gives the model of the uninterrupted run, and
// a model file is the old one or the new one.
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/disk_file.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/training_file.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"
#include "temporary_folder.hpp"

namespace killed_tests {

using Clock = std::chrono::steady_clock;
using Model = bpm::Classifier<bpm::Gaussian, bpm::RowMatrix<float>>;

/// A process that does some work and ends.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) : process_(::fork()) {
    if (process_ != 0) return;
    int status = 1;
    try {
      work();
      status = 0;
    } catch (const std::exception&) {
    }
    ::_exit(status);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }

  void kill() const { ::kill(process_, SIGKILL); }
  /// As waitpid says it; -1: there is no process.
  int wait() {
    int status = -1;
    if (process_ > 0) ::waitpid(process_, &status, 0);
    process_ = 0;
    return status;
  }

 private:
  ::pid_t process_;
};

struct Kills {
  int killed = 0;    ///< In the middle of the work.
  int finished = 0;  ///< It had ended.
  int failed = 0;    ///< It ended otherwise.
};

/// Does the work `count` times in a process that is killed at a random moment of it, and calls
/// after() each time. How long the work takes is measured first.
template <class Before, class Work, class After>
Kills kill_at_random(int count, const Before& before, const Work& work, const After& after) {
  std::array<double, 5> times{};
  for (double& time : times) {
    before();
    const auto start = Clock::now();
    Worker whole(work);
    REQUIRE(whole.wait() == 0);
    time = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::ranges::sort(times);
  const double seconds = times[times.size() / 2];
  Kills kills;
  bpm::RandomEngine engine(15);
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    before();
    // One moment in each of as many parts of the whole.
    const double moment = seconds * (i + bpm::uniform_unit(engine)) / count;
    const auto start = Clock::now();
    Worker worker(work);
    std::this_thread::sleep_until(
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(moment)));
    worker.kill();
    const int status = worker.wait();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      ++kills.killed;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      ++kills.finished;
    } else {
      ++kills.failed;
    }
    after();
  }
  return kills;
}

std::vector<double> bits_of(const Model& model) {
  std::vector<double> bits(model.coefficients().data(),
                           model.coefficients().data() + model.coefficients().size());
  bits.insert(bits.end(), model.parts().training_margins.begin(),
              model.parts().training_margins.end());
  bits.push_back(model.parts().bias);
  return bits;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace killed_tests

TEST_CASE("fits that are killed at 50 moments go on to the model of the uninterrupted one") {
  using namespace killed_tests;
  const auto [inputs, labels] = test_support::noisy_rings(60, 2, 0);
  const bpm::Gaussian kernel = bpm::Gaussian::from_width(0.3);
  const bpm::FitSettings settings{.soft_boundary = bpm::SoftBoundary::hard(), .threads = 2};
  const bpm::PermutedPerceptron plain{.draws = 20};
  const auto whole = bits_of(bpm::BayesPointMachine(kernel, plain, settings).fit(inputs, labels));
  const test_support::TemporaryFolder folder;
  const auto file = folder.path() / "training";
  const bpm::BayesPointMachine machine(kernel, bpm::PermutedPerceptron{.draws = 1}, settings);
  const auto begun = [&] { return bpm::resume(machine, inputs, labels, file); };
  const auto fit = [&] {
    auto training = std::filesystem::exists(file) ? begun() : machine.train(inputs, labels);
    while (true) {
      bpm::save(training, file);
      if (training.report().draws == plain.draws) return bits_of(training.classifier());
      training.add_draws(1);
    }
  };
  int right = 0;
  int went_on = 0;  // From some of the draws.
  const Kills kills = kill_at_random(
      50, [&] { std::filesystem::remove(file); }, [&] { static_cast<void>(fit()); },
      [&] {
        if (std::filesystem::exists(file) && begun().report().draws < plain.draws) ++went_on;
        if (fit() == whole) ++right;
      });
  CAPTURE(kills.killed, kills.finished, went_on);
  CHECK(right == 50);
  CHECK(kills.failed == 0);
  CHECK(kills.killed >= 10);
  CHECK(went_on >= 3);
}

TEST_CASE("saves that are killed at 50 moments leave the old model or the new one") {
  using namespace killed_tests;
  const auto [inputs, labels] = test_support::noisy_rings(60, 2, 0);
  const auto model = [&](std::uint64_t seed) {
    return bpm::BayesPointMachine(
               bpm::Gaussian::from_width(0.3), bpm::PermutedPerceptron{.draws = 100},
               {.soft_boundary = bpm::SoftBoundary::hard(), .seed = seed, .keep_draws = true})
        .fit(inputs, labels);
  };
  const Model old_model = model(1);
  const Model new_model = model(2);
  const auto old_bytes = bpm::model_bytes(old_model);
  const auto new_bytes = bpm::model_bytes(new_model);
  REQUIRE(old_bytes != new_bytes);
  const test_support::TemporaryFolder folder;
  const std::string name = "model.safetensors";
  const auto path = folder.path() / name;
  int whole = 0;
  int replaced = 0;
  const Kills kills = kill_at_random(
      50, [&] { folder.write(name, text_of(old_bytes)); }, [&] { bpm::save(new_model, path); },
      [&] {
        std::ifstream in(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        if (bytes == text_of(new_bytes)) ++replaced;
        if (bytes == text_of(old_bytes) || bytes == text_of(new_bytes)) ++whole;
      });
  CAPTURE(kills.killed, kills.finished, replaced);
  CHECK(whole == 50);
  CHECK(kills.failed == 0);
  CHECK(kills.killed >= 10);
  CHECK(replaced < 50);
  // What killed saves leave beside it is in nobody's way.
  bpm::save(new_model, path);
  CHECK(bpm::model_bytes(bpm::load<Model>(path)) == new_bytes);
}
