// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/random.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "common/machine_info.hpp"
#include "common/tasks.hpp"
#include "networks/data.hpp"
#include "networks/interpolator.hpp"
#include "networks/network.hpp"
#include "networks/training.hpp"

namespace bpm_examples {

namespace {

using Signs = Eigen::Array<signed char, Eigen::Dynamic, 1>;

template <class Vector>
Signs signs_of(const Vector& outputs) {
  return outputs.array().sign().template cast<signed char>();
}

double error_of(const Signs& votes, const Signs& truth) {
  return (votes != truth).cast<double>().mean();
}

/// Counts epochs of all networks, weighted by their number of training images.
class Work {
 public:
  Work(const NetworksObserver& observer, double total) : observer_(observer), total_(total) {}

  /// Adds work; false once the observer has said stop.
  [[nodiscard]] bool add(double done) {
    const std::scoped_lock lock(mutex_);
    done_ += done;
    go_on_ = go_on_ && observer_(done_ / total_);
    return go_on_;
  }

 private:
  const NetworksObserver& observer_;
  std::mutex mutex_;
  double total_;
  double done_ = 0;
  bool go_on_ = true;
};

/// A trained network: its votes on the test images, and how it fits.
struct Voter {
  Signs votes;
  Fit fit;
};

Voter train_voter(const ParityDigits& train, const ParityDigits& test,
                  const Eigen::VectorXf& labels, const NetworksOptions& options,
                  bpm::RandomEngine& engine, Work& work) {
  Network<float> network(
      {.inputs = train.inputs.cols(), .width = options.width, .depth = options.depth}, engine);
  Voter voter;
  voter.fit =
      train_network(network, train.inputs, labels, {.epochs = options.epochs, .rate = options.rate},
                    [&] { return work.add(static_cast<double>(labels.size())); });
  if (voter.fit.stopped) {
    throw bpm::Stopped("stopped");
  }
  voter.votes = signs_of(network.outputs(test.inputs));
  return voter;
}

/// Y times independent half normal numbers of the given scale: Upsilon of Q_iso.
Eigen::VectorXf small_margin_labels(const Eigen::VectorXf& labels, double scale,
                                    bpm::RandomEngine& engine) {
  bpm::NormalDraws normal;
  Eigen::VectorXf result(labels.size());
  for (Eigen::Index i = 0; i < labels.size(); ++i) {
    result[i] = labels[i] * static_cast<float>(scale * std::abs(normal(engine)));
  }
  return result;
}

/// The majority of voters first .. first + count - 1; networks[0] is none.
Signs majority_of(const std::vector<Voter>& networks, std::size_t first, std::size_t count) {
  Eigen::ArrayXi votes = Eigen::ArrayXi::Zero(networks[0].votes.size());
  for (std::size_t k = first; k < first + count; ++k) {
    votes += networks[k].votes.cast<int>();
  }
  return signs_of(votes);
}

constexpr float large_margin = 100;  ///< The paper's: loss L_{100 Y}.

NetworksResult run_size(const Digits& digits, const ParityDigits& test, Eigen::Index size,
                        const NetworksOptions& options, Work& work) {
  const WallTimer timer;
  const std::uint64_t seed = options.common.seed;
  const ParityDigits train = parity_digits(
      digits.train, choose_rows(static_cast<std::size_t>(size), digits.train.labels.size(),
                                stream_of(seed, size, 0)));
  NetworksResult result;
  result.size = size;

  const auto threads = static_cast<unsigned>(options.common.threads);
  const auto outputs = [](const auto& model, const bpm::RowMatrix<double>& inputs) {
    return Eigen::VectorXd(model.classifier().decision_values(inputs).col(0));
  };
  const auto model = interpolate(bpm::ArcCosine(options.depth), train.inputs.cast<double>(),
                                 train.labels, threads);
  const Signs interpolator = signs_of(outputs(model, test.inputs.cast<double>()));
  result.label_scale = label_scale(model);
  const Signs balanced =
      signs_of(outputs(interpolate(BalancedArcCosine(options.depth), centre_rows(train.inputs),
                                   train.labels, threads),
                       centre_rows(test.inputs)));

  // Task 0 is the large-margin network, the others are the voters.
  std::vector<Voter> networks(options.voters + 1);
  run_tasks(options.common.threads, networks.size(), [&](std::size_t task) {
    bpm::RandomEngine engine = stream_of(seed, size, 1 + task);
    const Eigen::VectorXf targets =
        task == 0 ? Eigen::VectorXf(large_margin * train.labels)
                  : small_margin_labels(train.labels, result.label_scale, engine);
    networks[task] = train_voter(train, test, targets, options, engine, work);
  });

  const Signs truth = signs_of(test.labels);
  const auto voters = static_cast<double>(options.voters);
  for (std::size_t k = 1; k < networks.size(); ++k) {
    const Voter& voter = networks[k];
    result.gibbs_error += error_of(voter.votes, truth) / voters;
    result.fitted += voter.fit.errors > 0 ? 0 : 1;
    result.training_error += voter.fit.errors / voters;
    const double relative = voter.fit.loss / voter.fit.label_size;
    result.relative_loss += relative / voters;
    result.worst_relative_loss = std::max(result.worst_relative_loss, relative);
  }
  result.fitted /= voters;
  const Signs majority = majority_of(networks, 1, options.voters);
  // Two odd parts without a voter in common, but for a single voter; odd votes are never tied.
  const std::size_t half = options.voters < 4 ? 1 : (options.voters / 2 - 1) / 2 * 2 + 1;
  const std::size_t second = options.voters > 1 ? 1 + half : 1;
  result.half_bayes_error = (error_of(majority_of(networks, 1, half), truth) +
                             error_of(majority_of(networks, second, half), truth)) /
                            2;
  const Signs& large = networks[0].votes;
  result.bayes_error = error_of(majority, truth);
  result.large_margin_error = error_of(large, truth);
  result.interpolator_error = error_of(interpolator, truth);
  result.balanced_interpolator_error = error_of(balanced, truth);
  result.large_margin_disagreement = error_of(large, majority);
  result.interpolator_disagreement = error_of(interpolator, majority);
  result.large_margin_interpolator_disagreement = error_of(large, interpolator);
  result.large_margin_balanced_disagreement = error_of(large, balanced);
  result.large_margin = networks[0].fit;
  result.seconds = timer.seconds();
  return result;
}

}  // namespace

Digits load_parity_digits(const NetworksOptions& options) {
  // All of MNIST to choose from; of drawn digits no more than needed.
  const bool found = std::ranges::any_of(data_places(options.common.data), [](const auto& place) {
    return mnist_in(place).has_value();
  });
  return load_digits(options.common.data,
                     found ? mnist_train_size : *std::ranges::max_element(options.sizes),
                     found ? mnist_test_size : options.test, options.common.threads);
}

std::vector<NetworksResult> run_networks(const Digits& digits, const NetworksOptions& options,
                                         const NetworksObserver& observer) {
  const ParityDigits test = parity_digits(
      digits.test, choose_rows(static_cast<std::size_t>(options.test), digits.test.labels.size(),
                               stream_of(options.common.seed, 0, 0)));
  double images = 0;
  for (const Eigen::Index size : options.sizes) images += static_cast<double>(size);
  Work work(observer, images * static_cast<double>(options.voters + 1) * options.epochs);
  std::vector<NetworksResult> results;
  for (const Eigen::Index size : options.sizes) {
    results.push_back(run_size(digits, test, size, options, work));
  }
  return results;
}

}  // namespace bpm_examples
