// SPDX-License-Identifier: MIT
#include "common/digest.hpp"

#ifdef BPM_WITH_OPENSSL
#include <openssl/evp.h>

#include <array>
#endif

namespace bpm_examples {

#ifdef BPM_WITH_OPENSSL

std::string sha256_hex(std::span<const unsigned char> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("sha256_hex: the cryptographic library refused SHA-256");
  }
  constexpr char hex_digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += hex_digits[digest[i] >> 4U];
    text += hex_digits[digest[i] & 15U];
  }
  return text;
}

#else

std::string sha256_hex(std::span<const unsigned char> /*bytes*/) { return {}; }

#endif

}  // namespace bpm_examples
