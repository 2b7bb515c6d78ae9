// SPDX-License-Identifier: MIT
#include <bpm/storage/tensor_file.hpp>

int main() {
  bpm::detail::TensorFileWriter writer;
  writer.set("key", "value");
  return bpm::detail::TensorFile(writer.bytes(), "bytes").text("key") == "value" ? 0 : 1;
}
