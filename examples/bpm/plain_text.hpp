// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "bpm/data/source.hpp"

/// \file
/// Tables as other programs write them, made into what `bpm::read_table` reads.

namespace bpm_examples {

/// A table's text, and what its first lines said of it.
struct PlainText {
  std::unique_ptr<std::istream> stream;  ///< Line k is line k of the file.
  std::vector<std::string> notes{};
};

/// The same table with line ends of LF, without Excel's line "sep=;" and the head of an ARFF file,
/// with a name above the row names that R writes; `settings` gets the delimiter, the header, the
/// columns of words and the ignored ones that these lines tell of, where they are not given. What
/// needs nothing of this comes back as it is.
/// \throws bpm::DataError on UTF-16, and on rows of ARFF that name their columns by number.
[[nodiscard]] PlainText plain_text(std::unique_ptr<std::istream> stream, const std::string& name,
                                   bpm::TableSettings& settings);

/// The fields of plain text's first line that is neither blank nor a comment; none where there is
/// no such line, or one that cannot be read.
[[nodiscard]] std::vector<std::string> first_fields(std::istream& stream,
                                                    const bpm::TableSettings& settings);

}  // namespace bpm_examples
