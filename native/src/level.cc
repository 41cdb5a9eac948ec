#include "level.h"

#include <cmath>

#include "function_versions.h"

namespace trunkline {

namespace {

constexpr double kSilenceDbfs = -100;
constexpr double kFullScale = 32768;

TRUNKLINE_HOT int64_t sumOfSquares(const int16_t* samples, size_t length) {
  int64_t sum = 0;
  for (size_t i = 0; i < length; i++) sum += static_cast<int32_t>(samples[i]) * samples[i];
  return sum;
}

}  // namespace

double level(const int16_t* samples, size_t length) {
  const int64_t sum = sumOfSquares(samples, length);
  if (sum == 0) return kSilenceDbfs;
  const double meanSquare = static_cast<double>(sum) / static_cast<double>(length) / (kFullScale * kFullScale);
  const double dbfs = 10 * std::log10(meanSquare);
  return dbfs < kSilenceDbfs ? kSilenceDbfs : dbfs;
}

}  // namespace trunkline
