#include "resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "function_versions.h"

namespace trunkline {

namespace {

constexpr size_t kBlockSamples = 1024;
constexpr size_t kLanes = 8;
// From 8 to 48 kHz one input gives six outputs; no supported pair gives more.
constexpr size_t kMostOutputsPerInput = 8;

// Compilers may not reorder float sums on their own, so the eight partial sums are spelt out; their order is fixed,
// which keeps every output independent of how the stream was cut.
TRUNKLINE_INLINE float dot(const float* taps, const float* samples, size_t length) {
  float sums[kLanes] = {};
  for (size_t i = 0; i < length; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; lane++) sums[lane] += taps[i + lane] * samples[i + lane];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

TRUNKLINE_INLINE int16_t toSample(float value) {
  return static_cast<int16_t>(std::lrintf(std::min(32767.0f, std::max(-32768.0f, value))));
}

struct Cursor {
  size_t position;
  size_t phase;
};

TRUNKLINE_HOT Cursor convert(const ResampleFilter& filter, const float* window, size_t blockLength, Cursor at,
                             int16_t* output) {
  const float* taps = filter.taps.data();
  const size_t length = filter.tapsPerPhase;
  const size_t interpolation = filter.interpolation;
  const size_t wholeStep = filter.decimation / interpolation;
  const size_t phaseStep = filter.decimation % interpolation;
  while (at.position < blockLength) {
    *output++ = toSample(dot(taps + at.phase * length, window + at.position, length));
    at.position += wholeStep;
    at.phase += phaseStep;
    if (at.phase >= interpolation) {
      at.phase -= interpolation;
      at.position++;
    }
  }
  return at;
}

}  // namespace

Resampler::Resampler(size_t inputRateHz, size_t outputRateHz) {
  if (inputRateHz == outputRateHz) return;
  filter_ = resampleFilterFor(inputRateHz, outputRateHz);
  window_.resize(filter_->tapsPerPhase - 1 + kBlockSamples);
}

size_t Resampler::delaySamples() const { return filter_ ? filter_->delaySamples : 0; }

size_t Resampler::outputLength(size_t inputLength) const {
  if (!filter_) return inputLength;
  if (position_ >= inputLength) return 0;
  const size_t reach = (inputLength - position_) * filter_->interpolation - phase_;
  return (reach + filter_->decimation - 1) / filter_->decimation;
}

void Resampler::process(const int16_t* input, size_t inputLength, int16_t* output) {
  if (inputLength == 0) return;
  fed_ = true;
  if (!filter_) {
    std::memcpy(output, input, inputLength * sizeof(int16_t));
    return;
  }
  float* fresh = window_.data() + filter_->tapsPerPhase - 1;
  while (inputLength > 0) {
    const size_t blockLength = std::min(inputLength, kBlockSamples);
    for (size_t i = 0; i < blockLength; i++) fresh[i] = input[i];
    output += convertBlock(blockLength, output);
    input += blockLength;
    inputLength -= blockLength;
  }
}

size_t Resampler::flushLength() const { return fed_ ? delaySamples() : 0; }

void Resampler::flush(int16_t* output) {
  size_t missing = flushLength();
  if (missing > 0) {
    // One input of silence at a time: outputs may stop in the middle of what an input gives.
    int16_t spill[kMostOutputsPerInput];
    float* fresh = window_.data() + filter_->tapsPerPhase - 1;
    while (missing > 0) {
      fresh[0] = 0;
      const size_t taken = std::min(missing, convertBlock(1, spill));
      std::copy_n(spill, taken, output);
      output += taken;
      missing -= taken;
    }
  }
  reset();
}

void Resampler::reset() {
  std::fill(window_.begin(), window_.end(), 0.0f);
  phase_ = 0;
  position_ = 0;
  fed_ = false;
}

size_t Resampler::convertBlock(size_t blockLength, int16_t* output) {
  const size_t written = outputLength(blockLength);
  const Cursor next = convert(*filter_, window_.data(), blockLength, {position_, phase_}, output);
  position_ = next.position - blockLength;
  phase_ = next.phase;
  const size_t history = filter_->tapsPerPhase - 1;
  std::memmove(window_.data(), window_.data() + blockLength, history * sizeof(float));
  return written;
}

}  // namespace trunkline
