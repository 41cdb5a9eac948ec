#pragma once

#include <cstddef>
#include <cstdint>

namespace trunkline {

/** Writes left[0], right[0], left[1], ... into `out`, which holds 2 * length samples and overlaps neither. */
void interleave(const int16_t* left, const int16_t* right, size_t length, int16_t* out);

}  // namespace trunkline
