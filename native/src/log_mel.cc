#include "log_mel.h"

#include <algorithm>
#include <cmath>

#include "function_versions.h"
#include "power_spectrum.h"

namespace trunkline {

namespace {

constexpr size_t kHop = 160;
constexpr size_t kReflect = kFrameSamples / 2;
constexpr double kVarianceFloor = 1e-7;
constexpr double kPowerFloor = 1e-10;
constexpr float kDynamicRange = 8;

struct Normalisation {
  double mean;
  double scale;
};

TRUNKLINE_INLINE double finite(float sample) { return std::isfinite(sample) ? sample : 0.0; }

// Several sums run side by side, because one would wait for each addition to finish before the next.
constexpr size_t kSums = 8;

TRUNKLINE_INLINE double total(const double (&sums)[kSums]) {
  double all = 0;
  for (const double sum : sums) all += sum;
  return all;
}

TRUNKLINE_HOT Normalisation normalisationOf(const float* samples) {
  double sums[kSums] = {};
  for (size_t i = 0; i < kLogMelSamples; i += kSums) {
    for (size_t lane = 0; lane < kSums; lane++) sums[lane] += finite(samples[i + lane]);
  }
  const double mean = total(sums) / kLogMelSamples;
  double squares[kSums] = {};
  for (size_t i = 0; i < kLogMelSamples; i += kSums) {
    for (size_t lane = 0; lane < kSums; lane++) {
      const double distance = finite(samples[i + lane]) - mean;
      squares[lane] += distance * distance;
    }
  }
  const double variance = total(squares) / kLogMelSamples;
  return {mean, 1 / std::sqrt(variance + kVarianceFloor)};
}

// The 400 samples of a frame: where they lie, or for a frame that reaches over an end a copy in `spare`, mirrored
// there without repeating the edge sample.
const float* frameSamples(const float* samples, size_t frame, float* spare) {
  const size_t begin = frame * kHop;
  if (begin >= kReflect && begin - kReflect + kFrameSamples <= kLogMelSamples) return samples + begin - kReflect;
  for (size_t n = 0; n < kFrameSamples; n++) {
    const size_t padded = begin + n;
    const size_t index = padded < kReflect ? kReflect - padded : padded - kReflect;
    spare[n] = samples[index < kLogMelSamples ? index : 2 * (kLogMelSamples - 1) - index];
  }
  return spare;
}

TRUNKLINE_HOT void gather(const float* samples, Normalisation normal, size_t firstFrame, FrameBlock& block) {
  using FloatLanes = float __attribute__((vector_size(kFrameLanes * sizeof(float))));
  float spare[kFrameLanes][kFrameSamples];
  const float* frames[kFrameLanes];
  for (size_t lane = 0; lane < kFrameLanes; lane++) {
    const size_t frame = std::min(firstFrame + lane, kLogMelFrames - 1);
    frames[lane] = frameSamples(samples, frame, spare[lane]);
  }
  const auto& window = hannWindow();
  for (size_t n = 0; n < kFrameSamples; n++) {
    Lanes sample;
    for (size_t lane = 0; lane < kFrameLanes; lane++) sample[lane] = finite(frames[lane][n]);
    // The model was trained on features of normalised samples that had been rounded to float.
    const FloatLanes rounded = __builtin_convertvector((sample - normal.mean) * normal.scale, FloatLanes);
    block[n] = __builtin_convertvector(rounded, Lanes) * window[n];
  }
}

// Frames at the start that see nothing but one constant, as the zeros left of a short turn; they are all equal.
size_t constantFrames(const float* samples) {
  size_t run = 0;
  while (run < kLogMelSamples && samples[run] == samples[0]) run++;
  if (run <= kReflect) return 0;
  return std::min((run - kReflect) / kHop + 1, kLogMelFrames);
}

void writeColumns(const PowerBlock& power, size_t firstFrame, size_t lanes, float* out) {
  const double perDecade = 1 / std::log(10.0);
  const auto& filters = melFilters();
  for (size_t mel = 0; mel < kMelCount; mel++) {
    Lanes sum = {};
    const MelFilter& filter = filters[mel];
    for (size_t i = 0; i < filter.weights.size(); i++) sum += power[filter.firstBin + i] * filter.weights[i];
    for (size_t lane = 0; lane < lanes; lane++) {
      const double decades = std::log(std::max(sum[lane], kPowerFloor)) * perDecade;
      out[mel * kLogMelFrames + firstFrame + lane] = static_cast<float>(decades);
    }
  }
}

}  // namespace

void logMel(const float* samples, float* out) {
  const Normalisation normal = normalisationOf(samples);
  const size_t constant = constantFrames(samples);
  FrameBlock block;
  PowerBlock power;
  // The last of the constant frames is computed with the rest and then copied to its equals before it.
  const size_t start = constant == 0 ? 0 : constant - 1;
  for (size_t frame = start; frame < kLogMelFrames; frame += kFrameLanes) {
    gather(samples, normal, frame, block);
    powerSpectrum(block, power);
    writeColumns(power, frame, std::min(kFrameLanes, kLogMelFrames - frame), out);
  }
  for (size_t mel = 0; mel < kMelCount; mel++) {
    float* row = out + mel * kLogMelFrames;
    std::fill(row, row + start, row[start]);
  }
  const float top = *std::max_element(out, out + kMelCount * kLogMelFrames);
  const float floor = top - kDynamicRange;
  for (size_t i = 0; i < kMelCount * kLogMelFrames; i++) out[i] = (std::max(out[i], floor) + 4) / 4;
}

}  // namespace trunkline
