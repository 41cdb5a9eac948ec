#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace trunkline {

/**
 * The polyphase form of one low-pass filter for a pair of rates, reduced to interpolation / decimation.
 * Phase p holds `tapsPerPhase` weights for the inputs from oldest to newest.
 */
struct ResampleFilter {
  size_t interpolation;
  size_t decimation;
  size_t tapsPerPhase;
  size_t delaySamples;
  std::vector<float> taps;
};

/** True for the rates in Hz that the resampler converts between: 8000 to 48000 in both usual families. */
bool isSupportedRate(double rateHz);

/**
 * The filter for a pair of supported rates. Filters are built once per process and shared; there are at most 64.
 * Throws std::bad_alloc only.
 */
std::shared_ptr<const ResampleFilter> resampleFilterFor(size_t inputRateHz, size_t outputRateHz);

}  // namespace trunkline
