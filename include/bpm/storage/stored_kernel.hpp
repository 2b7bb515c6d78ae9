// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "bpm/core/errors.hpp"
#include "bpm/core/target.hpp"
#include "bpm/kernels/compose.hpp"
#include "bpm/kernels/dot_product.hpp"
#include "bpm/kernels/kernel.hpp"
#include "bpm/kernels/radial.hpp"
#include "bpm/kernels/runtime_kernel.hpp"
#include "bpm/storage/stored_members.hpp"

namespace bpm { inline namespace BPM_TARGET {

/// Storage of a kernel in model files: a name, and its parameters as a JSON object. Kernels of the
/// library and their compositions have it; for a kernel of one's own:
///
///     template <>
///     struct bpm::StoredKernel<MyKernel> {
///       static constexpr std::string_view name = "my-kernel";
///       static nlohmann::json parameters(const MyKernel& k) { return {{"width", k.width}}; }
///       static MyKernel make(const nlohmann::json& p) { return {p.at("width").get<double>()}; }
///     };
///
/// `make` may throw std::invalid_argument or errors of the JSON library, which become DataError.
template <class Kernel>
struct StoredKernel;

namespace detail {

template <class Kernel>
concept StorableKernel = requires(const Kernel& kernel, const nlohmann::json& parameters) {
  { StoredKernel<Kernel>::name } -> std::convertible_to<std::string_view>;
  { StoredKernel<Kernel>::parameters(kernel) } -> std::convertible_to<nlohmann::json>;
  { StoredKernel<Kernel>::make(parameters) } -> std::same_as<Kernel>;
};

/// Returns {"name": ..., parameters}; for a `RuntimeKernel` those of its actual kernel.
template <class Kernel>
[[nodiscard]] nlohmann::json kernel_to_json(const Kernel& kernel) {
  if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    return kernel.visit([](const auto& one) { return kernel_to_json(one); });
  } else {
    static_assert(StorableKernel<Kernel>,
                  "a model with a kernel of one's own is saved by a specialisation of "
                  "bpm::StoredKernel for it; see bpm/storage/stored_kernel.hpp");
    nlohmann::json json = StoredKernel<Kernel>::parameters(kernel);
    json["name"] = StoredKernel<Kernel>::name;
    return json;
  }
}

template <class Kernel>
[[nodiscard]] Kernel kernel_from_json(const nlohmann::json& json, std::string_view where);

/// Reads the alternative of a `RuntimeKernel` with this name; returns none if there is none.
template <class... Kernels>
[[nodiscard]] std::optional<RuntimeKernel> kernel_named(
    std::type_identity<std::variant<Kernels...>>, const std::string& name,
    const nlohmann::json& json, std::string_view where) {
  std::optional<RuntimeKernel> found;
  const auto take = [&]<class Kernel>(std::type_identity<Kernel>) {
    if (name != StoredKernel<Kernel>::name) return false;
    const Kernel kernel = kernel_from_json<Kernel>(json, where);
    try {
      found = kernel;
    } catch (const std::invalid_argument& error) {  // A composition has too many parts.
      throw DataError(join(where, ": ", error.what()));
    }
    return true;
  };
  static_cast<void>((take(std::type_identity<Kernels>{}) || ...));
  return found;
}

/// Reads a kernel. \throws DataError that begins with `where` on another kernel, or parameters that
/// it refuses.
template <class Kernel>
[[nodiscard]] Kernel kernel_from_json(const nlohmann::json& json, std::string_view where) {
  ensure<DataError>(json.is_object() && json.contains("name") && json["name"].is_string(), where,
                    ": the kernel has no name");
  const std::string name = json["name"].get<std::string>();
  if constexpr (std::same_as<Kernel, RuntimeKernel>) {
    auto kernel = kernel_named(std::type_identity<SingleKernels>{}, name, json, where);
    if (!kernel) {
      kernel =
          kernel_named(std::type_identity<ComposedKernels<RuntimeKernel>>{}, name, json, where);
    }
    ensure<DataError>(kernel.has_value(), where, ": the kernel is '", name,
                      "', which a RuntimeKernel cannot be");
    return *kernel;
  } else {
    static_assert(StorableKernel<Kernel>,
                  "a model with a kernel of one's own is loaded by a specialisation of "
                  "bpm::StoredKernel for it; see bpm/storage/stored_kernel.hpp");
    ensure<DataError>(name == StoredKernel<Kernel>::name, where, ": the kernel is '", name,
                      "', expected '", StoredKernel<Kernel>::name, "'");
    try {
      return StoredKernel<Kernel>::make(json);
    } catch (const std::bad_alloc&) {  // Not an error of the file.
      throw;
    } catch (const std::exception& error) {
      throw DataError(join(where, ": the kernel '", name, "' cannot be made: ", error.what()));
    }
  }
}

/// Returns an integer parameter. \throws DataError on anything but an integer that fits.
[[nodiscard]] inline int whole_parameter(const nlohmann::json& parameters, const char* name) {
  int value = 0;
  from_json_value(parameters.at(name), value, name);
  return value;
}

}  // namespace detail

template <>
struct StoredKernel<Linear> {
  static constexpr std::string_view name = "linear";
  static nlohmann::json parameters(const Linear&) { return nlohmann::json::object(); }
  static Linear make(const nlohmann::json&) { return {}; }
};
template <>
struct StoredKernel<Polynomial> {
  static constexpr std::string_view name = "polynomial";
  static nlohmann::json parameters(const Polynomial& k) {
    return {{"degree", k.degree()}, {"scale", k.scale()}, {"offset", k.offset()}};
  }
  static Polynomial make(const nlohmann::json& p) {
    return Polynomial(detail::whole_parameter(p, "degree"), p.at("scale").get<double>(),
                      p.at("offset").get<double>());
  }
};
template <>
struct StoredKernel<Gaussian> {
  static constexpr std::string_view name = "gaussian";
  static nlohmann::json parameters(const Gaussian& k) { return {{"gamma", k.gamma()}}; }
  static Gaussian make(const nlohmann::json& p) {
    return Gaussian::from_gamma(p.at("gamma").get<double>());
  }
};
template <>
struct StoredKernel<Laplacian> {
  static constexpr std::string_view name = "laplacian";
  static nlohmann::json parameters(const Laplacian& k) { return {{"sigma", k.sigma()}}; }
  static Laplacian make(const nlohmann::json& p) { return Laplacian(p.at("sigma").get<double>()); }
};
template <>
struct StoredKernel<Exponential> {
  static constexpr std::string_view name = "exponential";
  static nlohmann::json parameters(const Exponential& k) { return {{"sigma", k.sigma()}}; }
  static Exponential make(const nlohmann::json& p) {
    return Exponential(p.at("sigma").get<double>());
  }
};
template <>
struct StoredKernel<ArcCosine> {
  static constexpr std::string_view name = "arc-cosine";
  static nlohmann::json parameters(const ArcCosine& k) { return {{"depth", k.depth()}}; }
  static ArcCosine make(const nlohmann::json& p) {
    return ArcCosine(detail::whole_parameter(p, "depth"));
  }
};
/// Kernel values come with each call, so the file has no parameters.
template <>
struct StoredKernel<PrecomputedKernel> {
  static constexpr std::string_view name = "precomputed";
  static nlohmann::json parameters(const PrecomputedKernel&) { return nlohmann::json::object(); }
  static PrecomputedKernel make(const nlohmann::json&) { return {}; }
};

template <class First, class Second, class Combine>
struct StoredKernel<detail::Combined<First, Second, Combine>> {
  using Kernel = detail::Combined<First, Second, Combine>;
  static constexpr std::string_view name = std::same_as<Combine, std::plus<>> ? "sum" : "product";
  static nlohmann::json parameters(const Kernel& k) {
    return {{"first", detail::kernel_to_json(k.first)},
            {"second", detail::kernel_to_json(k.second)}};
  }
  static Kernel make(const nlohmann::json& p) {
    return {detail::kernel_from_json<First>(p.at("first"), name),
            detail::kernel_from_json<Second>(p.at("second"), name)};
  }
};
template <class Inner, class Combine>
struct StoredKernel<detail::WithConstant<Inner, Combine>> {
  using Kernel = detail::WithConstant<Inner, Combine>;
  static constexpr bool adds = std::same_as<Combine, std::plus<>>;
  static constexpr std::string_view name = adds ? "biased" : "scaled";
  static nlohmann::json parameters(const Kernel& k) {
    return {{"constant", k.constant}, {"inner", detail::kernel_to_json(k.inner)}};
  }
  static Kernel make(const nlohmann::json& p) {
    auto inner = detail::kernel_from_json<Inner>(p.at("inner"), name);
    const double constant = p.at("constant").get<double>();
    if constexpr (adds) {
      return biased(std::move(inner), constant);
    } else {
      return scaled(std::move(inner), constant);
    }
  }
};
template <class Inner>
struct StoredKernel<detail::Normalised<Inner>> {
  static constexpr std::string_view name = "normalised";
  static nlohmann::json parameters(const detail::Normalised<Inner>& k) {
    return {{"inner", detail::kernel_to_json(k.inner)}};
  }
  static detail::Normalised<Inner> make(const nlohmann::json& p) {
    return normalised(detail::kernel_from_json<Inner>(p.at("inner"), name));
  }
};
template <class Inner>
struct StoredKernel<detail::UnitInputs<Inner>> {
  static constexpr std::string_view name = "unit-inputs";
  static nlohmann::json parameters(const detail::UnitInputs<Inner>& k) {
    return {{"inner", detail::kernel_to_json(k.inner)}};
  }
  static detail::UnitInputs<Inner> make(const nlohmann::json& p) {
    return on_unit_inputs(detail::kernel_from_json<Inner>(p.at("inner"), name));
  }
};

}}  // namespace bpm
