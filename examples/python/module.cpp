// SPDX-License-Identifier: MIT
// What Python calls: arrays to views and back, and fits that look for Ctrl-C. Conventions of
// scikit-learn are kept in bpm/, in Python; machines are in machines.cpp and chains.cpp.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bpm/core/errors.hpp"
#include "bpm/core/progress.hpp"
#include "bpm/decision/rejection.hpp"
#include "bpm/decision/scores.hpp"
#include "bpm/images/deformation.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/virtual_examples.hpp"
#include "bpm/version.hpp"
#include "machines.hpp"

namespace py = pybind11;

namespace bpm_python {

namespace {

// --- Arrays
// ---------------------------------------------------------------------------------------------

template <class T>
using Array = py::array_t<T, py::array::c_style>;

/// The numbers of an array that has the type and the layout, or nothing: nothing is converted here.
template <class T>
[[nodiscard]] std::optional<Rows> dense_rows(const py::object& inputs) {
  if (!py::isinstance<Array<T>>(inputs)) return std::nullopt;
  const auto array = py::reinterpret_borrow<Array<T>>(inputs);
  if (array.ndim() != 2) return std::nullopt;
  return Eigen::Map<const bpm::RowMatrix<T>>(array.data(), array.shape(0), array.shape(1));
}

/// Numbers, and what keeps them where they are.
struct HeldRows {
  Rows rows;
  py::object owner;
};

[[nodiscard]] HeldRows sparse_rows(const py::object& inputs) {
  const auto shape = inputs.attr("shape").cast<std::pair<Eigen::Index, Eigen::Index>>();
  const py::object values = inputs.attr("data");
  const py::object columns = inputs.attr("indices");
  const py::object starts = inputs.attr("indptr");
  if (!py::isinstance<Array<double>>(values) || !py::isinstance<Array<int>>(columns) ||
      !py::isinstance<Array<int>>(starts)) {
    throw std::invalid_argument("X is a sparse matrix of numbers other than float64 with int32");
  }
  const auto numbers = py::reinterpret_borrow<Array<double>>(values);
  const auto places = py::reinterpret_borrow<Array<int>>(columns);
  const auto begins = py::reinterpret_borrow<Array<int>>(starts);
  // What is wrong here would be read out of bounds.
  bool sound = begins.size() == shape.first + 1 && places.size() == numbers.size() &&
               begins.data()[0] == 0 && begins.data()[shape.first] <= numbers.size() &&
               std::is_sorted(begins.data(), begins.data() + begins.size());
  for (py::ssize_t k = 0; sound && k < begins.data()[shape.first]; ++k) {
    sound = places.data()[k] >= 0 && places.data()[k] < shape.second;
  }
  if (!sound) throw std::invalid_argument("X is a sparse matrix whose indices do not fit it");
  return {Eigen::Map<const bpm::SparseRowMatrix<double>>(shape.first, shape.second,
                                                         begins.data()[shape.first], begins.data(),
                                                         places.data(), numbers.data()),
          py::make_tuple(values, columns, starts)};
}

[[nodiscard]] HeldRows rows_of(const py::object& inputs) {
  if (py::hasattr(inputs, "indptr")) return sparse_rows(inputs);
  if (auto rows = dense_rows<double>(inputs)) return {*rows, inputs};
  if (auto rows = dense_rows<float>(inputs)) return {*rows, inputs};
  if (auto rows = dense_rows<std::uint8_t>(inputs)) return {*rows, inputs};
  throw std::invalid_argument(
      "X is no row-major matrix of float32, float64 or uint8 and no CSR matrix of float64");
}

/// Keeps a Python object until C++ has no use for it, wherever that is.
[[nodiscard]] std::shared_ptr<const void> keep(py::object object) {
  return {new py::object(std::move(object)), [](const void* kept) {
            const py::gil_scoped_acquire lock;
            delete static_cast<const py::object*>(kept);
          }};
}

[[nodiscard]] py::array_t<double> array_of(const Eigen::MatrixXd& matrix) {
  py::array_t<double> array({matrix.rows(), matrix.cols()});
  Eigen::Map<bpm::RowMatrix<double>>(array.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
  return array;
}

template <class T>
[[nodiscard]] std::span<const T> list_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// --- Fits that can be watched and interrupted
// ---------------------------------------------------------------------------------------------

/// Runs work(watch, stop) on another thread. This one waits without the interpreter's lock, takes
/// it every 50 ms to look for signals and to tell `progress`, and asks the work to stop where one
/// of the two has raised something. Returns what was raised, if the work came to an end all the
/// same, else throws it. (Observers of the library are called on its own threads, where Python
/// would look for no signals.)
template <class Work>
[[nodiscard]] py::object run_interruptibly(const py::object& progress, Work&& work) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::optional<bpm::Progress> latest;
  std::exception_ptr failure;
  bpm::StopSource stop;
  const Watch watch = [&](const bpm::Progress& now) {
    const std::scoped_lock lock(mutex);
    latest = now;
    return true;
  };
  std::optional<py::error_already_set> raised;
  {
    const py::gil_scoped_release unlocked;
    std::thread worker([&] {
      try {
        work(watch, stop.get_token());
      } catch (...) {
        failure = std::current_exception();
      }
      const std::scoped_lock lock(mutex);
      done = true;
      ended.notify_one();
    });
    for (std::unique_lock lock(mutex); !done;) {
      ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; });
      const std::optional<bpm::Progress> now = std::exchange(latest, std::nullopt);
      if (raised) continue;
      lock.unlock();
      {
        const py::gil_scoped_acquire locked;
        try {
          if (PyErr_CheckSignals() != 0) throw py::error_already_set();
          if (now && !progress.is_none()) {
            progress(std::string(now->stage), now->fraction, now->draws, now->draws_total);
          }
        } catch (py::error_already_set& error) {
          raised.emplace(std::move(error));
          stop.request_stop();
        }
      }
      lock.lock();
    }
    worker.join();
  }
  if (raised && failure) throw std::move(*raised);
  if (failure) std::rethrow_exception(failure);
  return raised ? raised->value() : py::none();
}

using SharedModel = std::shared_ptr<const Model>;

[[nodiscard]] FitRequest request_of(const py::dict& words) {
  FitRequest request;
  const auto take = [&]<class T>(const char* name, T& to) {
    if (words.contains(name)) to = words[name].cast<T>();
  };
  take("kernel", request.kernel);
  take("gamma", request.gamma);
  take("width", request.width);
  take("median", request.median);
  take("widths", request.widths);
  take("degrees", request.degrees);
  take("degree", request.degree);
  take("coef0", request.offset);
  take("depth", request.depth);
  take("unit_inputs", request.unit_inputs);
  take("sampler", request.sampler);
  take("draws", request.draws);
  take("noise_deviation", request.noise_deviation);
  take("soft_boundary", request.soft_boundary);
  take("class_weights", request.class_weights);
  take("bias", request.bias);
  take("biases", request.search.biases);
  take("folds", request.search.folds);
  take("one_against_one", request.search.one_against_one);
  take("by_error", request.search.by_error);
  take("choosing", request.search.choosing);
  take("seed", request.seed);
  take("threads", request.threads);
  take("memory", request.memory);
  return request;
}

/// The model, and what was raised meanwhile or None.
[[nodiscard]] std::pair<SharedModel, py::object> fit_model(const py::dict& words,
                                                           const py::object& inputs,
                                                           const Array<int>& labels,
                                                           const py::object& progress) {
  const FitRequest request = request_of(words);
  const HeldRows held = rows_of(inputs);
  const auto owner = keep(held.owner);
  const auto list = list_of(labels);
  SharedModel model;
  py::object raised = run_interruptibly(progress, [&](const Watch& watch, bpm::StopToken stop) {
    model = fit(request, held.rows, owner, {list.begin(), list.end()}, watch, std::move(stop));
  });
  return {std::move(model), std::move(raised)};
}

[[nodiscard]] std::pair<SharedModel, py::object> add_draws(const SharedModel& model,
                                                           std::uint64_t draws,
                                                           const py::object& progress) {
  SharedModel more;
  py::object raised = run_interruptibly(progress, [&](const Watch& watch, bpm::StopToken stop) {
    more = model->with_draws_added(draws, watch, std::move(stop));
  });
  return {std::move(more), std::move(raised)};
}

/// What ask(rows) says, without the interpreter's lock.
template <class Ask>
[[nodiscard]] py::array_t<double> answers(const py::object& inputs, const Ask& ask) {
  const HeldRows held = rows_of(inputs);
  Eigen::MatrixXd found;
  {
    const py::gil_scoped_release unlocked;
    found = ask(held.rows);
  }
  return array_of(found);
}

/// The candidates as scikit-learn's `cv_results_`, a list of each quantity.
[[nodiscard]] py::dict words_of(const ChosenSetting& chosen) {
  py::dict words;
  words["best"] = chosen.best;
  const auto list = [&](const char* name, const auto& of) {
    py::list values;
    for (const bpm::ChoiceCandidate& one : chosen.candidates) values.append(of(one));
    words[name] = values;
  };
  list("parameters", [&](const auto& one) {
    py::dict parameters;
    if (!chosen.parameters.empty()) {
      parameters[chosen.name.c_str()] = chosen.parameters[one.kernel];
    }
    return parameters;
  });
  list("soft_boundary", [](const auto& one) { return one.relative_lambda; });
  list("label_noise", [](const auto& one) { return one.label_noise; });
  list("bias", [](const auto& one) { return one.bias; });
  list("one_against_one", [](const auto& one) { return one.one_against_one; });
  list("consistent", [](const auto& one) { return one.consistent; });
  list("whole", [](const auto& one) { return !one.first_fold_alone; });
  list("loss", [](const auto& one) { return one.loss; });
  list("standard_error", [](const auto& one) { return one.standard_error; });
  list("error", [](const auto& one) { return one.error; });
  return words;
}

[[nodiscard]] py::dict facts_of(const Model& model) {
  const ModelFacts facts = model.facts();
  py::dict words;
  words["support"] = py::array_t<bpm::PointIndex>(static_cast<py::ssize_t>(facts.support.size()),
                                                  facts.support.data());
  words["draws"] = facts.draws;
  words["stopped"] = facts.stopped;
  words["soft_boundary"] = facts.soft_boundary;
  words["label_noise"] = facts.label_noise;
  words["standard_error"] = facts.standard_error;
  words["log_evidence"] = facts.log_evidence;
  words["warnings"] = facts.warnings;
  words["training_seconds"] = facts.training_seconds;
  words["probabilities"] = facts.probabilities;
  if (facts.chosen) words["chosen"] = words_of(*facts.chosen);
  return words;
}

[[nodiscard]] py::bytes bytes_of(const Model& model) {
  const std::vector<std::byte> bytes = model.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] SharedModel load_model(const std::string& kind, const py::bytes& bytes,
                                     unsigned threads) {
  const std::string_view text = bytes;
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return load(kind, {first, first + text.size()}, threads);
}

// --- Decisions
// ---------------------------------------------------------------------------------------------

[[nodiscard]] std::vector<double> gaps_of(const Array<double>& values) {
  const Eigen::Map<const bpm::RowMatrix<double>> rows(values.data(), values.shape(0),
                                                      values.shape(1));
  return bpm::gap_scores(Eigen::MatrixXd(rows));
}

[[nodiscard]] Array<bool> rejected_by_rate(const std::vector<double>& scores, double rate) {
  Array<bool> rejected(static_cast<py::ssize_t>(scores.size()));
  std::fill_n(rejected.mutable_data(), rejected.size(), false);
  for (const std::size_t i : bpm::rejected_indices(scores, rate)) rejected.mutable_data()[i] = true;
  return rejected;
}

[[nodiscard]] py::dict certify(const std::vector<double>& scores, const std::vector<bool>& correct,
                               double risk, double delta) {
  const bpm::CertifiedRisk certified = bpm::certify_risk(scores, correct, risk, delta);
  py::dict words;
  words["found"] = certified.found;
  words["threshold"] = certified.rejector().threshold;
  words["coverage"] = certified.coverage;
  words["accepted"] = certified.accepted;
  words["errors"] = certified.errors;
  words["message"] = certified.message();
  return words;
}

// --- Messages
// ---------------------------------------------------------------------------------------------

/// A message of the library in words of Python: with its parameters and ways out, and without the
/// name of a function or class of C++ in front.
[[nodiscard]] std::string in_words_of_python(std::string text) {
  struct Words {
    std::string_view library;
    std::string_view python;
  };
  static constexpr Words all_words[] = {
      {"; set a soft boundary lambda > 0, or label noise with KernelGibbs",
       "; give a larger soft_boundary"},
      {"; set a soft boundary lambda > 0, or raise the sampler's limits",
       "; give a larger soft_boundary"},
      {"; set a soft boundary lambda > 0 or noise_deviation > 0, or raise the limits",
       "; give a larger soft_boundary or noise_deviation"},
      {"; set noise_deviation > 0 or a soft boundary lambda > 0",
       "; give a larger soft_boundary or noise_deviation"},
      {"; add a bias to the kernel or a soft boundary lambda > 0",
       "; give a bias or a larger soft_boundary"},
      {"; a soft boundary lambda > 0, or label noise q > 0 in KernelGibbs, admits training errors; "
       "kernel values in double or a smaller factor_tolerance tell thin version spaces from empty "
       "ones",
       "; give a larger soft_boundary"},
      {"raise memory or give a soft boundary", "raise memory or give a soft_boundary"},
      {"raise memory or choose on fewer points", "raise memory"},
      {"slope is not known: no machine of the automatic soft boundary told anything of points left "
       "out (see the warnings); give one by with_slope",
       "probabilities are not known: no part of the training set told anything of the rows left "
       "out; fit to more rows"},
      {"slope is not known: fit with an automatic soft boundary, or give one by with_slope",
       "probabilities are not known: fit with soft_boundary='automatic', to more than a few rows"},
      {"SoftBoundary::relative: factor", "soft_boundary"},
      {"SoftBoundary::with_class_weights", "class_weight"},
      {"Polynomial: offset", "coef0"},
      {"Laplacian: sigma", "width"},
      {"PrecomputedGram: values", "X"},
      {"Cone: space has kernel values that are", "kernel: values are"},
      {"Cone: factor", "kernel: factor"},
      {"rejected_indices: ", "reject: "},
      {"gap_scores: decision_values(", "outputs at ("},
  };
  for (const auto& [library, python] : all_words) {
    const std::size_t at = text.find(library);
    if (at != std::string::npos) text.replace(at, library.size(), python);
  }
  const std::size_t end = text.find(": ");
  const std::string_view front = std::string_view(text).substr(0, end);
  const bool named = front.find(' ') == std::string_view::npos &&
                     (front == "choose" || front.find("::") != std::string_view::npos ||
                      (!front.empty() && front[0] >= 'A' && front[0] <= 'Z'));
  if (end != std::string::npos && named) text.erase(0, end + 2);
  return text;
}

void raise_value_error(const std::exception& error) {
  const std::string text = in_words_of_python(error.what());
  // It may quote a damaged file.
  const auto said = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "backslashreplace"));
  PyErr_SetObject(PyExc_ValueError, said.ptr());
}

// --- Images
// ---------------------------------------------------------------------------------------------

using Bytes = Array<std::uint8_t>;
using Images = Eigen::Map<const bpm::RowMatrix<std::uint8_t>>;

[[nodiscard]] Bytes gradient_features(const Bytes& images, Eigen::Index rows, Eigen::Index columns,
                                      unsigned threads) {
  const bpm::GradientFeatures gradients(bpm::ImageShape{rows, columns});
  bpm::RowMatrix<std::uint8_t> features;
  {
    const Images pixels(images.data(), images.shape(0), images.shape(1));
    const py::gil_scoped_release unlocked;
    features = gradients(pixels, threads);
  }
  Bytes result({features.rows(), features.cols()});
  std::copy_n(features.data(), features.size(), result.mutable_data());
  return result;
}

[[nodiscard]] Bytes elastic_copies(const Bytes& images, Eigen::Index rows, Eigen::Index columns,
                                   std::uint64_t copies, const bpm::Deformation& deformation,
                                   std::uint64_t seed, unsigned threads) {
  const Images originals(images.data(), images.shape(0), images.shape(1));
  const bpm::VirtualExamples examples(bpm::ImageShape{rows, columns}, originals, deformation, seed);
  const auto wanted = examples.all(1, 1 + copies);
  Bytes result({static_cast<py::ssize_t>(wanted.size()), images.shape(1)});
  Eigen::Map<bpm::RowMatrix<std::uint8_t>> out(result.mutable_data(), result.shape(0),
                                               result.shape(1));
  const py::gil_scoped_release unlocked;
  examples.fill(wanted, out, threads);
  return result;
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The C++ side of bpm: use the classes and functions of bpm itself.";
  module.attr("__version__") = std::to_string(BPM_VERSION_MAJOR) + "." +
                               std::to_string(BPM_VERSION_MINOR) + "." +
                               std::to_string(BPM_VERSION_PATCH);

  // All that the library says of arguments and data is a ValueError.
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const py::builtin_exception&) {
      throw;
    } catch (const std::invalid_argument& error) {
      raise_value_error(error);
    } catch (const std::runtime_error& error) {
      raise_value_error(error);
    }
  });

  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_property_readonly("kind", &Model::kind)
      .def_property_readonly("facts", &facts_of)
      .def("decision_values",
           [](const Model& model, const py::object& inputs) {
             return answers(inputs, [&](const Rows& rows) { return model.decision_values(rows); });
           })
      .def("probabilities",
           [](const Model& model, const py::object& inputs,
              const std::optional<Array<double>>& diagonal) {
             std::optional<Eigen::VectorXd> selves;
             if (diagonal) selves = Eigen::VectorXd::Map(diagonal->data(), diagonal->size());
             return answers(inputs,
                            [&](const Rows& rows) { return model.probabilities(rows, selves); });
           })
      .def("to_bytes", &bytes_of);
  module.def("fit", &fit_model);
  module.def("add_draws", &add_draws);
  module.def("load", &load_model);
  module.def("median_distance",
             [](const py::object& inputs) { return median_distance(rows_of(inputs).rows); });

  module.def("floats_suffice",
             [](const py::object& inputs) { return floats_suffice(rows_of(inputs).rows); });
  module.attr("usual_biases") = bpm_examples::usual_biases;
  module.def("usual_draws", &bpm_examples::usual_draws);
  module.attr("usual_width") = bpm_examples::usual_width;

  module.def("gap_scores", &gaps_of);
  module.def("rejected_by_rate", &rejected_by_rate);
  module.def("certify_risk", &certify);

  module.def("gradient_features", &gradient_features);
  module.def("elastic_copies", [](const Bytes& images, Eigen::Index rows, Eigen::Index columns,
                                  std::uint64_t copies, double affine, double elastic, double width,
                                  std::uint64_t seed, unsigned threads) {
    return elastic_copies(images, rows, columns, copies,
                          {.affine = affine, .elastic = elastic, .width = width}, seed, threads);
  });
}

}  // namespace bpm_python
