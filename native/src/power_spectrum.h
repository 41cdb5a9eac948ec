#pragma once

#include <array>
#include <cstddef>

#include "mel_filters.h"

namespace trunkline {

/** Four frames are transformed side by side, so that one vector operation serves all of them. */
constexpr size_t kFrameLanes = 4;
constexpr size_t kFrameSamples = 400;

using Lanes = double __attribute__((vector_size(kFrameLanes * sizeof(double))));

/** Sample n of four frames, and bin k of their power. */
using FrameBlock = std::array<Lanes, kFrameSamples>;
using PowerBlock = std::array<Lanes, kSpectrumBins>;

/** The periodic Hann window of a frame. */
const std::array<double, kFrameSamples>& hannWindow();

/** |DFT|^2 over 400 real, already windowed points, bins 0 to 200. */
void powerSpectrum(const FrameBlock& frames, PowerBlock& power);

}  // namespace trunkline
