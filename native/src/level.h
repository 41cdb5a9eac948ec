#pragma once

#include <cstddef>
#include <cstdint>

namespace trunkline {

/** RMS level in dBFS, where 0 is a square wave of full scale; -100 for silence and for no samples. */
double level(const int16_t* samples, size_t length);

}  // namespace trunkline
