#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "resample_filter.h"

namespace trunkline {

/**
 * Converts one stream of 16-bit mono samples between two supported rates with a linear-phase filter.
 *
 * The stream is causal: t inputs have given exactly ceil(t * outputRate / inputRate) outputs, whatever the chunks
 * were, and each output lies `delaySamples()` outputs later than the sound it carries. Equal rates pass through.
 */
class Resampler {
 public:
  /** Both rates must satisfy isSupportedRate. */
  Resampler(size_t inputRateHz, size_t outputRateHz);

  /** Group delay in output samples: 4 ms if the lower rate is 8 kHz, less if it is higher, 0 for equal rates. */
  size_t delaySamples() const;

  /** How many samples `process` will write for this many inputs. */
  size_t outputLength(size_t inputLength) const;

  /** Writes outputLength(inputLength) samples; keeps what the filter still needs. */
  void process(const int16_t* input, size_t inputLength, int16_t* output);

  /** How many samples `flush` will write: the delay, or none if nothing came in. */
  size_t flushLength() const;

  /** Writes flushLength() samples, as if silence followed, and starts over as new. */
  void flush(int16_t* output);

 private:
  void reset();
  size_t convertBlock(size_t blockLength, int16_t* output);

  std::shared_ptr<const ResampleFilter> filter_;
  // The inputs that the filter still reaches back to, then room for one block.
  std::vector<float> window_;
  size_t phase_ = 0;
  // Index of the input that is newest for the next output, counted from the first input yet to come.
  size_t position_ = 0;
  bool fed_ = false;
};

}  // namespace trunkline
