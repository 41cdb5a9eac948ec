#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace trunkline {

constexpr size_t kMelCount = 80;
constexpr size_t kSpectrumBins = 201;

/** One triangular filter: `weights[i]` applies to bin `firstBin + i`. */
struct MelFilter {
  size_t firstBin;
  std::vector<double> weights;
};

/**
 * The 80 filters from 0 to 8000 Hz over the bins of a 400-point transform at 16 kHz, on the Slaney mel scale with
 * Slaney area norm (D-37). Built once per process.
 */
const std::array<MelFilter, kMelCount>& melFilters();

}  // namespace trunkline
