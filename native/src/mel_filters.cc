#include "mel_filters.h"

#include <algorithm>
#include <cmath>

namespace trunkline {

namespace {

// The Slaney scale: 200/3 Hz per mel up to 1000 Hz (15 mel), from there 27 mel for each factor of 6.4.
constexpr double kLinearHzPerMel = 200.0 / 3.0;
constexpr double kKneeHz = 1000;
constexpr double kKneeMel = kKneeHz / kLinearHzPerMel;
constexpr double kTopHz = 8000;
constexpr double kBinHz = 40;

double logStep() { return std::log(6.4) / 27; }

double melOf(double hz) { return hz < kKneeHz ? hz / kLinearHzPerMel : kKneeMel + std::log(hz / kKneeHz) / logStep(); }

double hzOf(double mel) {
  return mel < kKneeMel ? mel * kLinearHzPerMel : kKneeHz * std::exp((mel - kKneeMel) * logStep());
}

MelFilter triangle(double lowHz, double peakHz, double highHz) {
  MelFilter filter{kSpectrumBins, {}};
  const double norm = 2 / (highHz - lowHz);
  for (size_t bin = 0; bin < kSpectrumBins; bin++) {
    const double hz = kBinHz * static_cast<double>(bin);
    const double height = std::min((hz - lowHz) / (peakHz - lowHz), (highHz - hz) / (highHz - peakHz));
    if (height <= 0) continue;
    if (filter.weights.empty()) filter.firstBin = bin;
    filter.weights.push_back(height * norm);
  }
  return filter;
}

std::array<MelFilter, kMelCount> build() {
  std::array<double, kMelCount + 2> edgesHz;
  const double topMel = melOf(kTopHz);
  for (size_t i = 0; i < edgesHz.size(); i++) edgesHz[i] = hzOf(topMel * static_cast<double>(i) / (kMelCount + 1));
  std::array<MelFilter, kMelCount> filters;
  for (size_t mel = 0; mel < kMelCount; mel++) {
    filters[mel] = triangle(edgesHz[mel], edgesHz[mel + 1], edgesHz[mel + 2]);
  }
  return filters;
}

}  // namespace

const std::array<MelFilter, kMelCount>& melFilters() {
  static const std::array<MelFilter, kMelCount> filters = build();
  return filters;
}

}  // namespace trunkline
