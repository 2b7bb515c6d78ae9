// SPDX-License-Identifier: MIT
// Asks what a unit for other instructions made, and prints what it says.
#include <exception>
#include <iostream>

#include "held.hpp"

namespace {

template <class Ask>
void print(Ask&& ask) {
  try {
    ask();
    std::cout << "answered\n";
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}

}  // namespace

int main() {
  Held& held = *new Held;  // Never deleted: Eigen's memory is of two kinds here.
  make(held);
  const Held::Inputs inputs = Held::Inputs::Ones(2, 1);
  print([&] { static_cast<void>(held.classifier->predict(inputs)); });
  print([&] { held.training->add_draws(1); });
  print([&] { static_cast<void>(held.training->classifier()); });
  print([&] { static_cast<void>(bpm::KernelVersionSpace(*held.gram, {1, 1, 1, -1, -1, -1})); });
}
