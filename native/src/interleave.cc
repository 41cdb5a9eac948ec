#include "interleave.h"

namespace trunkline {

void interleave(const int16_t* left, const int16_t* right, size_t length, int16_t* out) {
  for (size_t i = 0; i < length; i++) {
    out[2 * i] = left[i];
    out[2 * i + 1] = right[i];
  }
}

}  // namespace trunkline
