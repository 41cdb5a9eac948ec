#pragma once

#include <cstddef>
#include <cstdint>

namespace trunkline {

/** into[i] += from[i] * gain, rounded and saturated. `gain` is finite; both blocks may be the same. */
void mix(int16_t* into, const int16_t* from, size_t length, double gain);

}  // namespace trunkline
