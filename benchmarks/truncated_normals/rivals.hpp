// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "bpm/core/random.hpp"
#include "problems.hpp"

/// \file
/// Other samplers of a normal law on x >= 0, written plainly with Eigen. All are chains of steps;
/// `position` is x.

namespace truncated_normals {

/// What the rivals share: the law, random numbers, and velocities L z made 16 at a time, as one
/// matrix product.
class Rival {
 public:
  Rival(const Problem& problem, const Eigen::VectorXd& start, bpm::RandomEngine engine)
      : problem_(problem), engine_(engine), x_(start) {}

  [[nodiscard]] const Eigen::VectorXd& position() const noexcept { return x_; }

 protected:
  [[nodiscard]] Eigen::VectorXd velocity() {
    if (left_ == 0) {
      velocities_.resize(x_.size(), 16);
      bpm::detail::Ziggurat::instance().fill(velocities_.data(), velocities_.size(), engine_);
      velocities_ = (problem_.factor.triangularView<Eigen::Lower>() * velocities_).eval();
      left_ = 16;
    }
    return velocities_.col(--left_);
  }

  const Problem& problem_;
  bpm::RandomEngine engine_;
  Eigen::VectorXd x_;

 private:
  Eigen::MatrixXd velocities_;
  Eigen::Index left_ = 0;
};

/// Harmonic flights with reflections as published (A. Pakman, L. Paninski, J. Comput. Graph. Stat.
/// 23(2), 2014): a quarter turn a trajectory, and every plane's time of meeting, by its phase and
/// amplitude, after every bounce.
class HarmonicReflections : public Rival {
 public:
  using Rival::Rival;

  void step() {
    const Eigen::VectorXd& mean = problem_.mean;
    Eigen::ArrayXd a = (x_ - mean).array();
    Eigen::ArrayXd b = velocity().array();
    double left = std::numbers::pi / 2;
    Eigen::Index last = -1;
    Eigen::ArrayXd times(x_.size());
    while (true) {
      // a cos t + b sin t = r cos(t - phase) falls to -mean first at phase + acos(-mean / r).
      for (Eigen::Index i = 0; i < x_.size(); ++i) {
        const double r = std::hypot(a[i], b[i]);
        times[i] = std::numeric_limits<double>::infinity();
        if (r <= std::abs(mean[i])) continue;
        double t = std::atan2(b[i], a[i]) + std::acos(-mean[i] / r);
        // Where the ball has just been reflected, rounding may put the meeting here once more.
        if (t < (i == last ? 1e-9 : 0.0)) t += 2 * std::numbers::pi;
        times[i] = t;
      }
      Eigen::Index hit = 0;
      const double t = times.minCoeff(&hit);
      const double angle = std::min(t, left);
      const Eigen::ArrayXd moved = std::cos(angle) * a + std::sin(angle) * b;
      b = std::cos(angle) * b - std::sin(angle) * a;
      a = moved;
      left -= angle;
      if (t > angle || left <= 0) break;
      a[hit] = -mean[hit];
      b -= 2 * b[hit] / problem_.covariance(hit, hit) * problem_.covariance.col(hit).array();
      last = hit;
    }
    x_ = (a.matrix() + mean).cwiseMax(0.0);
  }
};

/// The linear elliptical slice: a uniform draw from the parts of the ellipse through x that lie in
/// the orthant (A. Gessner, O. Kanjilal, P. Hennig, "Integrals over Gaussians under linear domain
/// constraints", AISTATS 2020). Every plane forbids one arc; their union is found by sorting.
class EllipticalSlice : public Rival {
 public:
  using Rival::Rival;

  void step() {
    const Eigen::VectorXd v = velocity();
    const Eigen::VectorXd& mean = problem_.mean;
    std::vector<std::pair<double, double>> forbidden;
    const double whole = 2 * std::numbers::pi;
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      const double a = x_[i] - mean[i];
      const double r = std::hypot(a, v[i]);
      if (r <= -mean[i]) continue;  // Rounding alone.
      const double half = std::acos(std::clamp(-mean[i] / r, -1.0, 1.0));
      double from = std::atan2(v[i], a) + half;
      if (from < 0) from += whole;
      forbidden.emplace_back(from, from + whole - 2 * half);
    }
    std::sort(forbidden.begin(), forbidden.end());
    // The angle 0 lies inside: no forbidden arc reaches beyond a whole turn.
    std::vector<std::pair<double, double>> arcs;
    double at = 0;
    double length = 0;
    for (const auto& [from, to] : forbidden) {
      if (from > at) {
        arcs.emplace_back(at, from);
        length += from - at;
      }
      at = std::max(at, to);
    }
    if (at < whole) {
      arcs.emplace_back(at, whole);
      length += whole - at;
    }
    double u = length * bpm::uniform_unit(engine_);
    for (const auto& [from, to] : arcs) {
      if (u < to - from) {
        const double t = from + u;
        x_ = (mean + std::cos(t) * (x_ - mean) + std::sin(t) * v).cwiseMax(0.0).eval();
        return;
      }
      u -= to - from;
    }
  }
};

/// The same from the arc of the current point alone, O(n) without sorting (K. Wu, J. Gardner, "A
/// fast, robust elliptical slice sampling implementation for linearly truncated multivariate normal
/// distributions", 2024).
class EllipticalArc : public Rival {
 public:
  using Rival::Rival;

  void step() {
    const Eigen::VectorXd v = velocity();
    const Eigen::VectorXd& mean = problem_.mean;
    double ahead = 2 * std::numbers::pi;
    double behind = -ahead;
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      const double a = x_[i] - mean[i];
      const double r = std::hypot(a, v[i]);
      if (r <= std::abs(mean[i])) continue;
      const double phase = std::atan2(v[i], a);
      const double half = std::acos(-mean[i] / r);
      double to = phase + half;
      double from = phase - half;
      if (to < 0) to += 2 * std::numbers::pi;
      if (from > 0) from -= 2 * std::numbers::pi;
      ahead = std::min(ahead, to);
      behind = std::max(behind, from);
    }
    if (ahead - behind > 2 * std::numbers::pi) {
      ahead = 2 * std::numbers::pi;
      behind = 0;
    }
    const double t = behind + (ahead - behind) * bpm::uniform_unit(engine_);
    x_ = (mean + std::cos(t) * (x_ - mean) + std::sin(t) * v).cwiseMax(0.0).eval();
  }
};

/// Hamiltonian zigzag with Laplace momenta (A. Nishimura, Z. Zhang, M. Suchard, "Zigzag path
/// connects two Monte Carlo samplers: Hamiltonian counterpart to a piecewise deterministic Markov
/// process", 2021; the R package hdtg): coordinates move at speeds +-1, one of them turns where its
/// momentum runs out or it meets 0. The time of a trajectory is uniform within a tenth of
/// the problem's `zigzag_duration` times the largest deviation of the covariance.
class Zigzag : public Rival {
 public:
  Zigzag(const Problem& problem, const Eigen::VectorXd& start, bpm::RandomEngine engine)
      : Rival(problem, start, engine),
        precision_(Eigen::LLT<Eigen::MatrixXd>(problem.covariance)
                       .solve(Eigen::MatrixXd::Identity(start.size(), start.size()))) {
    const double variance = problem.largest.dot(problem.covariance * problem.largest);
    duration_ = problem.zigzag_duration * std::sqrt(variance);
  }

  void step() {
    const Eigen::Index n = x_.size();
    Eigen::ArrayXd v(n);
    Eigen::ArrayXd momentum(n);  // Its size; its sign is v.
    for (Eigen::Index i = 0; i < n; ++i) {
      v[i] = bpm::uniform_unit(engine_) < 0.5 ? -1 : 1;
      momentum[i] = -std::log(1 - bpm::uniform_unit(engine_));
    }
    Eigen::ArrayXd force = (precision_ * (x_ - problem_.mean)).array();  // Of the potential.
    Eigen::ArrayXd change = (precision_ * v.matrix()).array();
    double left = duration_ * (0.9 + 0.2 * bpm::uniform_unit(engine_));
    const double never = std::numeric_limits<double>::infinity();
    Eigen::ArrayXd b(n), a(n), root(n), times(n), walls(n);
    while (true) {
      // momentum - b t - a t^2 / 2 = 0.
      b = v * force;
      a = v * change;
      root = (b * b + 2 * a * momentum).max(0.0).sqrt();
      times = (b > 0).select(2 * momentum / (b + root), (root - b) / a);
      times = (b * b + 2 * a * momentum >= 0 && (b > 0 || a > 0)).select(times, never);
      walls = (v < 0).select(x_.array(), never);
      Eigen::Index turning = 0;
      Eigen::Index wall = 0;
      const double turn = times.minCoeff(&turning);
      const double meeting = walls.minCoeff(&wall);
      const double t = std::min({turn, meeting, left});
      x_.array() += t * v;
      momentum = (momentum - t * b - 0.5 * t * t * a).max(0.0);
      force += t * change;
      left -= t;
      if (left <= 0) break;
      const Eigen::Index i = turn <= meeting ? turning : wall;
      if (turn <= meeting) {
        momentum[i] = 0;
      } else {
        x_[i] = 0;
      }
      v[i] = -v[i];
      change += 2 * v[i] * precision_.col(i).array();
    }
    x_ = x_.cwiseMax(0.0);
  }

 private:
  Eigen::MatrixXd precision_;
  double duration_ = 0;
};

}  // namespace truncated_normals
