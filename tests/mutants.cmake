# SPDX-License-Identifier: MIT
# Samplers with a wrong law, which the tests of law must find out: see bpm_mutant in support/mutant.cmake.

# --- Billiards -----------------------------------------------------------------------------------

# The reflection takes 1.9 of the normal part where it should take 2.
bpm_mutant(weak_reflection
  REPLACE "2 * arc.speed" "1.9 * arc.speed"
  OF samplers/billiard/facet_search.hpp fly_and_bounce
     samplers/billiard/geodesic_chain.hpp GeodesicChain)

# New directions lean to the first coordinates.
bpm_mutant(scaled_refresh
  REPLACE "Ziggurat::instance().fill(x, cone.rank(), engine);"
          "Ziggurat::instance().fill(x, cone.rank(), engine);
           for (std::ptrdiff_t k = 0; 2 * k < cone.rank(); ++k) x[k] *= 3;"
  OF samplers/chains/chain_state.hpp RandomDirections
     samplers/billiard/geodesic_chain.hpp GeodesicChain)

# New directions have uniform dual coefficients in [-1, 1].
bpm_mutant(uniform_dual_refresh
  REPLACE "Ziggurat::instance().fill(x, cone.rank(), engine);"
          "for (std::ptrdiff_t k = 0; k < cone.rank(); ++k) x[k] = 0;
           for (std::ptrdiff_t i = 0; i < cone.points(); ++i) {
             add_scaled(x, 2 * uniform_unit(engine) - 1, cone.row(i), cone.rank());
           }"
  OF samplers/chains/chain_state.hpp RandomDirections
     samplers/billiard/geodesic_chain.hpp GeodesicChain)

# --- Gibbs samplers ------------------------------------------------------------------------------

# Arcs are drawn by their errors alone, however long they are.
bpm_mutant(unweighted_arcs
  REPLACE "arc.length * (penalty" "(penalty"
          "double here = arc.length *" "double here ="
          "double there = arc.length *" "double there ="
          "weight = arc.length *" "weight ="
  OF samplers/gibbs/gibbs_step.hpp GibbsCircle
     samplers/gibbs/kernel_gibbs.hpp GibbsChain)

# Steps along inputs draw a uniform angle to them.
bpm_mutant(uniform_input_angle
  REPLACE "const double rho = chi_draw(cone.rank(), normal_, engine_);"
          "const double along = dot(state_.x.data(), s, cone.stride());
           const double across = std::sqrt(std::max(0.0, feature * feature - along * along));
           if (across > 1e-6 * feature) return step_on_circle(cone, {s, p, along, across});
           const double rho = chi_draw(cone.rank(), normal_, engine_);"
  OF samplers/gibbs/kernel_gibbs.hpp GibbsChain)

# --- Orthants and boxes --------------------------------------------------------------------------

# Reflections do not divide by the variance.
bpm_mutant(orthant_no_division
  REPLACE "2 * arc.speed / row[hit]" "2 * arc.speed"
  OF samplers/billiard/facet_search.hpp fly_and_bounce
     gaussian_process/orthant/orthant_planes.hpp OrthantBall)
bpm_mutant(box_no_division
  REPLACE "-2 * speed / planes.variance(arc.hit)" "-2 * speed"
  OF gaussian_process/orthant/box_ball.hpp BoxBall)

# Draws are where the last bounce was, not where the path ends.
bpm_mutant(orthant_bounce_point
  REPLACE "combine(d_.data(), arc.cosine, d_.data(), arc.sine, nu_.data(), planes.stride);" ""
  OF gaussian_process/orthant/orthant_planes.hpp OrthantBall)
bpm_mutant(box_bounce_point
  REPLACE "combine(x_.data(), arc.cosine, x_.data(), arc.sine, v_.data(), planes.stride);" ""
  OF gaussian_process/orthant/box_ball.hpp BoxBall)

# The radius integrates out to nine tenths of its power.
bpm_mutant(few_dimensions
  REPLACE "0.5 * static_cast<double>(path_.points())" "0.45 * static_cast<double>(path_.points())"
  OF gaussian_process/orthant/orthant_stages.hpp OrthantStages)

# Not wrong, but worse: of both ends of a step, the broader one alone.
bpm_mutant(one_end
  REPLACE "stages_[k].up, 0.5, influence" "stages_[k].up, 1.0, influence"
          "if (k > 0) result.value += add_log_mean(stages_[k].down, -0.5, influence);" ""
  OF gaussian_process/orthant/orthant_stages.hpp OrthantStages)

# Given the signs of the first points, the first stage draws these independently.
bpm_mutant(independent_given
  REPLACE "return s == 1 && path_.given() == 0;" "return s == 1;"
  OF gaussian_process/orthant/orthant_stages.hpp OrthantStages)
