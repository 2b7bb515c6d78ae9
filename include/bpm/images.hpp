// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Features of images, and virtual examples: copies of images that keep their class.

#include "bpm/images/deformation.hpp"
#include "bpm/images/gradient_features.hpp"
#include "bpm/images/image_shape.hpp"
#include "bpm/images/virtual_examples.hpp"
