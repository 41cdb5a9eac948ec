#include "mix.h"

#include <algorithm>
#include <cmath>

#include "function_versions.h"

namespace trunkline {

namespace {

// Any sample but zero saturates with this gain, whatever it is mixed into; more would only risk infinities.
constexpr double kMostGain = 65536;

}  // namespace

TRUNKLINE_HOT void mix(int16_t* into, const int16_t* from, size_t length, double gain) {
  const float factor = static_cast<float>(std::min(kMostGain, std::max(-kMostGain, gain)));
  for (size_t i = 0; i < length; i++) {
    const float sum = static_cast<float>(into[i]) + static_cast<float>(from[i]) * factor;
    into[i] = static_cast<int16_t>(std::lrintf(std::min(32767.0f, std::max(-32768.0f, sum))));
  }
}

}  // namespace trunkline
