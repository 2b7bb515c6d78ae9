// SPDX-License-Identifier: MIT
// Memory that runs out, at every allocation in turn. The C library's allocator is replaced in this
// program, as glibc allows: operator new, Eigen, zlib and the streams all end there.

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <latch>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// nlohmann_json's destructors take memory, in vectors of its values, and end the program where
// there is none: these are never refused. Before its header, which makes them.
namespace faults {

/// Whether this thread's allocations are refused in their turn.
inline thread_local bool refusable = true;

template <class Json>
struct JsonAllocator {
  using value_type = Json;
  JsonAllocator() = default;
  template <class Other>
  JsonAllocator(const std::allocator<Other>&) noexcept {}  // NOLINT: as std::allocator.
  [[nodiscard]] Json* allocate(std::size_t count) {
    refusable = false;
    void* const block = ::operator new(count * sizeof(Json));
    refusable = true;
    return static_cast<Json*>(block);
  }
  void deallocate(Json* block, std::size_t) noexcept { ::operator delete(block); }
  friend bool operator==(const JsonAllocator&, const JsonAllocator&) = default;
};

}  // namespace faults

template <>
struct std::allocator<nlohmann::json> : faults::JsonAllocator<nlohmann::json> {
  using JsonAllocator::JsonAllocator;
};
template <>
struct std::allocator<nlohmann::ordered_json> : faults::JsonAllocator<nlohmann::ordered_json> {
  using JsonAllocator::JsonAllocator;
};

#include "bpm/core/errors.hpp"
#include "bpm/data/gzip.hpp"
#include "bpm/data/idx.hpp"
#include "bpm/data/svmlight.hpp"
#include "bpm/data/table.hpp"
#include "bpm/kernels/vector_kernels.hpp"
#include "bpm/machine/bayes_point_machine.hpp"
#include "bpm/samplers/billiard/billiard.hpp"
#include "bpm/samplers/perceptron/permuted_perceptron.hpp"
#include "bpm/selection/automatic_boundary.hpp"
#include "bpm/storage/model_file.hpp"
#include "bpm/storage/training_file.hpp"
#include "catch.hpp"
#include "noisy_points.hpp"
#include "noted.hpp"
#include "temporary_folder.hpp"

#ifdef __GLIBC__

namespace {

/// What the allocator below counts and refuses.
struct Allocator {
  std::atomic<long> live{0};  ///< Blocks that were not given back, since the program began.
  std::atomic<bool> watched{false};
  std::atomic<long> asked{0};   ///< Allocations since they are watched.
  std::atomic<long> first{-1};  ///< The number of the first that is refused.
  std::atomic<long> last{-1};
};
constinit Allocator allocator;

/// Whether the next allocation is one of those to be refused.
bool refused() {
  if (!faults::refusable || !allocator.watched.load(std::memory_order_relaxed)) return false;
  const long number = allocator.asked.fetch_add(1, std::memory_order_relaxed);
  if (number < allocator.first || number > allocator.last) return false;
  errno = ENOMEM;
  return true;
}

void* counted(void* block) {
  if (block != nullptr) allocator.live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept {
  return refused() ? nullptr : counted(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return refused() ? nullptr : counted(__libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) noexcept {
  if (refused()) return nullptr;
  void* const moved = __libc_realloc(block, size);
  if (block == nullptr) return counted(moved);
  if (size == 0 && moved == nullptr) allocator.live.fetch_sub(1, std::memory_order_relaxed);
  return moved;
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return refused() ? nullptr : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  void* const made = memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void free(void* block) noexcept {
  if (block != nullptr) allocator.live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}

}  // extern "C"

namespace {

using bpm::BayesPointMachine;
using bpm::FitSettings;
using bpm::Gaussian;
using bpm::OneVsRest;
using bpm::PermutedPerceptron;
using bpm::SoftBoundary;
using test_support::noisy_rings;
using test_support::TemporaryFolder;
using Floats = bpm::RowMatrix<float>;
using Model = bpm::Classifier<Gaussian, Floats>;

/// Within its scope allocations `first` to `last`, counted from its beginning, are refused.
class Refusals {
 public:
  Refusals(long first, long last) {
    allocator.asked = 0;
    allocator.first = first;
    allocator.last = last;
    allocator.watched = true;
  }
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;
  ~Refusals() { allocator.watched = false; }
};

/// nlohmann_json's lists in braces lose the object that they were about to fill, each list in the
/// other.
constexpr long lost_by_json = 2;

/// What may come out where there is no memory; threads and streams have errors of their own for it.
enum class Ended { with_result, out_of_memory, by_error, otherwise };

template <class Attempt, class Result>
Ended attempt_refused(long first, long last, const Attempt& attempt,
                      std::optional<Result>& result) {
  const Refusals refusals(first, last);
  try {
    result.emplace(attempt());
    return Ended::with_result;
  } catch (const std::bad_alloc&) {
    return Ended::out_of_memory;
  } catch (const bpm::DataError&) {
    return Ended::by_error;
  } catch (const bpm::CheckpointError&) {
    return Ended::by_error;
  } catch (const std::system_error&) {  // A thread or a stream.
    return Ended::by_error;
  } catch (...) {
    return Ended::otherwise;
  }
}

/// Beside these only every so many is refused, for the sake of time.
constexpr long each_of_first = 400;
constexpr long then_each = 23;

struct Totals {
  long refused = 0;
  long results = 0;  ///< A result in spite of it, the right one.
};

/// Refuses every allocation of attempt() in turn: alone, and with all that come after it. It must
/// throw, or give what it gives otherwise; `bits_of` tells. Not more than `most_lost` blocks may be
/// lost, untouched() must hold, and a second attempt must succeed.
template <class Attempt, class Bits, class Untouched>
Totals refuse_each(const std::string& what, const Attempt& attempt, const Bits& bits_of,
                   const Untouched& untouched, long most_lost = 0, long each = 1) {
  using Result = decltype(attempt());
  const auto start = std::chrono::steady_clock::now();
  std::optional<Result> result;
  const auto expected = bits_of(attempt());
  REQUIRE(attempt_refused(-1, -1, attempt, result) == Ended::with_result);
  const long count = allocator.asked;
  CHECK(bits_of(*result) == expected);
  result.reset();
  REQUIRE(count > 0);
  // What is made once, errors among it, is made before anything is counted.
  static_cast<void>(attempt_refused(0, 0, attempt, result));
  result.reset();

  Totals totals;
  for (long number = 0; number < count; number += number < each_of_first ? each : then_each) {
    for (const long last : {number, std::numeric_limits<long>::max()}) {
      const long live = allocator.live;
      const Ended ended = attempt_refused(number, last, attempt, result);
      const bool right = !result || bits_of(*result) == expected;
      result.reset();
      const long lost = allocator.live - live;
      const bool as_it_was = untouched();
      bool again = false;
      try {
        again = bits_of(attempt()) == expected;
      } catch (const std::exception&) {
      }
      ++totals.refused;
      if (ended == Ended::with_result) ++totals.results;
      if (ended == Ended::otherwise || !right || lost > most_lost || !as_it_was || !again) {
        CAPTURE(what, number, last, static_cast<int>(ended), right, lost, as_it_was, again);
        CHECK(false);
      }
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  UNSCOPED_INFO(what << ": " << count << " allocations, " << totals.refused << " refused, "
                     << totals.results << " results, " << seconds.count() << " s");
  if (std::getenv("BPM_TEST_FIGURES") != nullptr) {
    WARN(what << ": " << count << " allocations, " << totals.refused << " refused, "
              << totals.results << " results, " << seconds.count() << " s");
  }
  return totals;
}

/// All that a classifier says: its model file, but for how long the fit took.
std::vector<std::byte> bits_of_model(const Model& model) {
  return bpm::model_bytes(test_support::noted(model, [](bpm::Notes& notes) {
    notes.training_seconds = 0;
    notes.report = {};
  }));
}

/// Threads have memory of their own that the C library keeps for the next ones.
void warm_threads(unsigned count) {
  std::latch all(count);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([&] { all.arrive_and_wait(); });
}

/// Which a hard boundary separates in few passes.
const test_support::LabelledPoints& training_points() {
  static const auto points = noisy_rings(60, 2, 0);
  return points;
}
const Gaussian narrow = Gaussian::from_width(0.3);

static_assert(std::is_nothrow_move_constructible_v<Model> &&
              std::is_nothrow_move_assignable_v<Model>);

/// Fits a machine anew into a classifier that was there.
template <class Machine>
void refuse_each_of_fit(const std::string& what, const Machine& machine, bool may_succeed = false) {
  const auto& [inputs, labels] = training_points();
  warm_threads(4);
  const Model standing = BayesPointMachine(Gaussian::from_width(3), PermutedPerceptron{.draws = 1},
                                           {.soft_boundary = SoftBoundary::relative(0.3)})
                             .fit(inputs, labels);
  const auto before = bits_of_model(standing);
  const Eigen::MatrixXd outputs = standing.decision_values(inputs);
  Model target = standing;
  const Totals totals = refuse_each(
      what,
      [&] {
        Model next = standing;  // What follows moves models, without memory.
        target = machine.fit(inputs, labels);
        return std::exchange(target, std::move(next));
      },
      bits_of_model,
      [&] { return bits_of_model(target) == before && target.decision_values(inputs) == outputs; });
  if (!may_succeed) CHECK(totals.results < totals.refused / 10);
}

template <class Data>
auto bits_of_data(const Data& data) {
  return std::make_pair(Eigen::MatrixXd(data.inputs.template cast<double>()), data.labels);
}

/// Reads into data that were there.
template <class Read>
void refuse_each_of_reading(const std::string& what, const Read& read) {
  using Data = decltype(read());
  const Data standing = read();
  const auto before = bits_of_data(standing);
  Data target = standing;
  refuse_each(
      what,
      [&] {
        target = read();
        return 0;
      },
      [&](int) {
        auto bits = bits_of_data(target);
        target = standing;
        return bits;
      },
      [&] { return bits_of_data(target) == before; });
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

long files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

const Model& some_model(double width) {
  static const auto make = [](double w) {
    const auto points = noisy_rings(20, 3, 0.05);
    auto model =
        OneVsRest(BayesPointMachine(Gaussian::from_width(w), PermutedPerceptron{.draws = 2},
                                    {.seed = 2, .threads = 1, .keep_draws = true}))
            .fit(points.inputs, points.labels);
    model.notes.class_names = {"inner", "middle", "outer"};
    return model;
  };
  static const Model one = make(1);
  static const Model two = make(2);
  return width == 1 ? one : two;
}

}  // namespace

TEST_CASE("fits without memory: a hard boundary") {
  const FitSettings hard{.soft_boundary = SoftBoundary::hard(), .threads = 1};
  refuse_each_of_fit("fit, hard boundary", BayesPointMachine(Gaussian::from_width(1),
                                                             PermutedPerceptron{.draws = 2}, hard));
}

TEST_CASE("fits without memory: an automatic boundary") {
  const FitSettings automatic{.threads = 1};
  refuse_each_of_fit("fit, automatic boundary",
                     BayesPointMachine(narrow, PermutedPerceptron{.draws = 1}, automatic));
}
TEST_CASE("fits without memory: a billiard") {
  const FitSettings soft{.soft_boundary = SoftBoundary::relative(0.1), .threads = 1};
  refuse_each_of_fit(
      "fit, billiard",
      BayesPointMachine(Gaussian::from_width(1), bpm::Billiard{.bounces = 200, .chains = 2}, soft));
}

TEST_CASE("fits without memory: several threads") {
  const FitSettings hard{.soft_boundary = SoftBoundary::hard(), .threads = 3};
  refuse_each_of_fit("fit, hard boundary, 3 threads",
                     BayesPointMachine(narrow, PermutedPerceptron{.draws = 4}, hard), true);
}

TEST_CASE("draws added without memory leave a training as it was") {
  const auto& [inputs, labels] = training_points();
  const auto machine = BayesPointMachine(narrow, PermutedPerceptron{.draws = 2},
                                         {.soft_boundary = SoftBoundary::hard(), .threads = 1});
  const auto standing = machine.train(inputs, labels);
  const auto before = bits_of_model(standing.classifier());
  auto target = standing;
  bool added = false;
  refuse_each(
      "add_draws",
      [&] {
        if (added) target = standing;
        added = false;
        target.add_draws(2);
        added = true;
        return target.classifier();
      },
      bits_of_model, [&] { return added || bits_of_model(target.classifier()) == before; });
}

TEST_CASE("a fit that is saved as it goes on, without memory: it goes on from the file") {
  const auto& [inputs, labels] = training_points();
  const TemporaryFolder folder;
  const auto file = folder.path() / "training";
  const auto machine = BayesPointMachine(Gaussian::from_width(1), PermutedPerceptron{.draws = 1},
                                         {.soft_boundary = SoftBoundary::hard(), .threads = 1});
  bool clean = true;
  refuse_each(
      "fit, saved after each draw",
      [&] {
        if (std::exchange(clean, !clean)) std::filesystem::remove(file);
        auto training = std::filesystem::exists(file) ? bpm::resume(machine, inputs, labels, file)
                                                      : machine.train(inputs, labels);
        while (training.report().draws < 2) {
          bpm::save(training, file);
          training.add_draws(1);
        }
        return training.classifier();
      },
      bits_of_model, [&] { return files_in(folder.path()) <= 1; }, lost_by_json,
      3);  // Disks take their time.
}

TEST_CASE("saving without memory leaves the old file whole, and nothing beside it") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  bpm::save(some_model(1), path);
  const std::string old_bytes = bytes_of_file(path);
  refuse_each(
      "save",
      [&] {
        bpm::save(some_model(2), path);
        return 0;
      },
      [&](int) {
        std::string bytes = bytes_of_file(path);
        bpm::save(some_model(1), path);
        return bytes;
      },
      [&] { return files_in(folder.path()) == 1 && bytes_of_file(path) == old_bytes; },
      lost_by_json);
  refuse_each(
      "save to a stream",
      [&] {
        std::ostringstream out;
        bpm::save(some_model(2), out);
        return std::move(out).str();
      },
      [](const std::string& bytes) { return bytes; }, [] { return true; }, lost_by_json);
}

TEST_CASE("loading without memory leaves the classifier that was there") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  bpm::save(some_model(2), path);
  const auto before = bpm::model_bytes(some_model(1));
  Model target = some_model(1);
  refuse_each(
      "load",
      [&] {
        Model next = some_model(1);
        target = bpm::load<Model>(path);
        return std::exchange(target, std::move(next));
      },
      [](const Model& model) { return bpm::model_bytes(model); },
      [&] { return bpm::model_bytes(target) == before; });
  refuse_each(
      "load_any", [&] { return bpm::load_any(path); },
      [](const bpm::AnyClassifier& any) {
        return std::visit([](const auto& model) { return bpm::model_bytes(model); }, any);
      },
      [] { return true; });
}

TEST_CASE("predictions without memory") {
  const auto& [inputs, labels] = training_points();
  for (const unsigned threads : {1U, 3U}) {
    warm_threads(4);
    auto parts = some_model(1).parts();
    parts.threads = threads;
    const Model model(std::move(parts));
    refuse_each(
        "decision_values, " + std::to_string(threads) + " threads",
        [&] { return model.decision_values(inputs); },
        [](const Eigen::MatrixXd& values) { return values; }, [] { return true; });
  }
}

TEST_CASE("reading without memory leaves the data that were there") {
  const TemporaryFolder folder;
  std::string table = "width,height,kind\n";
  std::string svmlight;
  std::string images("\0\0\x08\x03\0\0\0\x28\0\0\0\x02\0\0\0\x02", 16);
  std::string labels("\0\0\x08\x01\0\0\0\x28", 8);
  for (int i = 0; i < 40; ++i) {
    table += std::to_string(i) + ".5," + std::to_string(i * i) +
             (i % 2 == 0 ? ",\"a long name, of a class\"\n" : ",b\n");
    svmlight += (i % 2 == 0 ? "1 1:" : "-1 2:") + std::to_string(i) + " 7:1\n";
    images += std::string(4, static_cast<char>(i));
    labels += static_cast<char>(i % 10);
  }
  const auto table_file = folder.write("table.csv", table);
  const auto svmlight_file = folder.write("rows.svm", svmlight);
  const auto image_file = folder.write("images", images);
  const auto label_file = folder.write("labels", labels);
  refuse_each_of_reading("read_table", [&] { return bpm::read_table<float>(table_file); });
  refuse_each_of_reading("read_svmlight_dense",
                         [&] { return bpm::read_svmlight_dense<double>(svmlight_file); });
  refuse_each_of_reading("read_svmlight_sparse",
                         [&] { return bpm::read_svmlight_sparse<double>(svmlight_file); });
  refuse_each_of_reading("read_idx_images",
                         [&] { return bpm::read_idx_images(image_file, label_file); });
  refuse_each_of_reading("read_table of a gzip file",
                         [&] { return bpm::read_table<float>(bpm::GzipFile{table_file}); });
}

#else

TEST_CASE(
    "no allocation is refused: the allocator of another C library than glibc is not replaced") {}

#endif
