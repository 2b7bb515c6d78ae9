// SPDX-License-Identifier: MIT
#pragma once

namespace bpm::detail {

/// `typename Dependent<T>::Double` is double, but the compiler does not know before T is known:
/// matrix expressions of it inside a template are compiled when the template is used, not by
/// everyone who includes the header.
template <class T>
struct Dependent {
  using Double = double;
};

}  // namespace bpm::detail
