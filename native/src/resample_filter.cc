#include "resample_filter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace trunkline {

namespace {

// Half the length of the filter in samples of the lower rate: the delay is 4 ms at 8 kHz, and the transition from
// pass to stop band needs this much for the figures below.
constexpr size_t kHalfLengthSamples = 32;
// Cut-off (-6 dB) as a part of half the lower rate, and the Kaiser shape. At 8 kHz together they keep 3400 Hz within
// 0.01 dB and 3600 Hz within 1 dB, and everything from 4010 Hz on lies more than 71 dB down.
constexpr double kCutoff = 0.9325;
constexpr double kKaiserBeta = 7.0;
// Phases are padded with zero weights at their oldest end to whole vectors.
constexpr size_t kTapsGranule = 8;
constexpr double kPi = 3.14159265358979323846;
constexpr size_t kRatesHz[] = {8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000};

// The modified Bessel function of order zero, by its power series (Abramowitz and Stegun 9.6.10).
double besselI0(double x) {
  const double quarterSquare = x * x / 4;
  double sum = 1;
  double term = 1;
  for (int k = 1; term > sum * 1e-17; k++) {
    term *= quarterSquare / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x); }

std::shared_ptr<const ResampleFilter> design(size_t inputRateHz, size_t outputRateHz) {
  const size_t divisor = std::gcd(inputRateHz, outputRateHz);
  const size_t interpolation = outputRateHz / divisor;
  const size_t decimation = inputRateHz / divisor;
  const size_t lowerRateHz = std::min(inputRateHz, outputRateHz);
  // A whole number of output samples, so that the delay can be stated exactly.
  const size_t delaySamples = kHalfLengthSamples * outputRateHz / lowerRateHz;
  const size_t half = delaySamples * decimation;
  const double denseRateHz = static_cast<double>(inputRateHz) * static_cast<double>(interpolation);
  const double cutoffPerTap = kCutoff * static_cast<double>(lowerRateHz) / denseRateHz;

  const size_t usedTaps = 2 * half / interpolation + 1;
  const size_t tapsPerPhase = (usedTaps + kTapsGranule - 1) / kTapsGranule * kTapsGranule;
  auto filter = std::make_shared<ResampleFilter>();
  filter->interpolation = interpolation;
  filter->decimation = decimation;
  filter->tapsPerPhase = tapsPerPhase;
  filter->delaySamples = delaySamples;
  filter->taps.assign(interpolation * tapsPerPhase, 0.0f);

  std::vector<double> prototype(half + 1);
  for (size_t k = 0; k <= half; k++) {
    const double position = static_cast<double>(k) / static_cast<double>(half);
    const double window = besselI0(kKaiserBeta * std::sqrt(1 - position * position));
    prototype[k] = window * sinc(cutoffPerTap * static_cast<double>(k));
  }
  for (size_t phase = 0; phase < interpolation; phase++) {
    double sum = 0;
    for (size_t k = phase; k <= 2 * half; k += interpolation) sum += prototype[k > half ? k - half : half - k];
    // Each phase passes a constant unchanged, so that an offset never turns into a tone.
    for (size_t k = phase, age = 0; k <= 2 * half; k += interpolation, age++) {
      const double weight = prototype[k > half ? k - half : half - k] / sum;
      filter->taps[phase * tapsPerPhase + (tapsPerPhase - 1 - age)] = static_cast<float>(weight);
    }
  }
  return filter;
}

}  // namespace

bool isSupportedRate(double rateHz) {
  return std::any_of(std::begin(kRatesHz), std::end(kRatesHz),
                     [rateHz](size_t supported) { return static_cast<double>(supported) == rateHz; });
}

std::shared_ptr<const ResampleFilter> resampleFilterFor(size_t inputRateHz, size_t outputRateHz) {
  // Worker threads share the addon's code, hence the lock; designing takes a millisecond or two and happens once.
  static std::mutex lock;
  static std::map<std::pair<size_t, size_t>, std::shared_ptr<const ResampleFilter>> filters;
  const std::lock_guard<std::mutex> guard(lock);
  auto& filter = filters[{inputRateHz, outputRateHz}];
  if (!filter) filter = design(inputRateHz, outputRateHz);
  return filter;
}

}  // namespace trunkline
