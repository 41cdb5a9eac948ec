#pragma once

#include <cstddef>

#include "mel_filters.h"

namespace trunkline {

constexpr size_t kLogMelSamples = 128000;
constexpr size_t kLogMelFrames = 800;

/**
 * Features of the turn-end model from 8 s at 16 kHz, `kLogMelSamples` in, 80 rows of 800 out (D-37). Samples that are
 * not finite count as silence, so that one bad sample cannot spoil the verdict.
 */
void logMel(const float* samples, float* out);

}  // namespace trunkline
