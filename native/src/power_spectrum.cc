#include "power_spectrum.h"

#include <cmath>

#include "function_versions.h"

namespace trunkline {

// 400 real points are read as 200 complex ones (even samples real, odd samples imaginary), transformed in passes of
// radix 5, 5, 4 and 2 (Stockham's self-sorting form), and split into the spectrum of the real signal.
namespace {

constexpr size_t kPoints = kFrameSamples / 2;
constexpr double kPi = 3.14159265358979323846;

struct Complex {
  Lanes re;
  Lanes im;
};
static_assert(sizeof(Complex) * kPoints == sizeof(FrameBlock));

struct Twiddles {
  // exp(-2 pi i k / 400); every second one serves the 200-point transform.
  double re[kFrameSamples];
  double im[kFrameSamples];
};

const Twiddles& twiddles() {
  static const Twiddles table = [] {
    Twiddles made;
    for (size_t k = 0; k < kFrameSamples; k++) {
      const double angle = 2 * kPi * static_cast<double>(k) / kFrameSamples;
      made.re[k] = std::cos(angle);
      made.im[k] = -std::sin(angle);
    }
    return made;
  }();
  return table;
}

TRUNKLINE_INLINE void add(const Complex& a, const Complex& b, Complex& out) {
  out.re = a.re + b.re;
  out.im = a.im + b.im;
}

TRUNKLINE_INLINE void subtract(const Complex& a, const Complex& b, Complex& out) {
  out.re = a.re - b.re;
  out.im = a.im - b.im;
}

// out = (x - i y), and out = (x + i y).
TRUNKLINE_INLINE void turnBack(const Complex& x, const Complex& y, Complex& out) {
  out.re = x.re + y.im;
  out.im = x.im - y.re;
}

TRUNKLINE_INLINE void turnOn(const Complex& x, const Complex& y, Complex& out) {
  out.re = x.re - y.im;
  out.im = x.im + y.re;
}

TRUNKLINE_INLINE void butterfly2(const Complex* in, Complex* out) {
  add(in[0], in[1], out[0]);
  subtract(in[0], in[1], out[1]);
}

TRUNKLINE_INLINE void butterfly4(const Complex* in, Complex* out) {
  Complex even, evenRest, odd, oddRest;
  add(in[0], in[2], even);
  subtract(in[0], in[2], evenRest);
  add(in[1], in[3], odd);
  subtract(in[1], in[3], oddRest);
  add(even, odd, out[0]);
  turnBack(evenRest, oddRest, out[1]);
  subtract(even, odd, out[2]);
  turnOn(evenRest, oddRest, out[3]);
}

TRUNKLINE_INLINE void butterfly5(const Complex* in, Complex* out) {
  constexpr double kCos1 = 0.30901699437494742410;
  constexpr double kCos2 = -0.80901699437494742410;
  constexpr double kSin1 = 0.95105651629515357212;
  constexpr double kSin2 = 0.58778525229247312917;
  Complex outer, inner, outerRest, innerRest;
  add(in[1], in[4], outer);
  subtract(in[1], in[4], outerRest);
  add(in[2], in[3], inner);
  subtract(in[2], in[3], innerRest);
  out[0].re = in[0].re + outer.re + inner.re;
  out[0].im = in[0].im + outer.im + inner.im;
  const Complex first{in[0].re + kCos1 * outer.re + kCos2 * inner.re, in[0].im + kCos1 * outer.im + kCos2 * inner.im};
  const Complex second{in[0].re + kCos2 * outer.re + kCos1 * inner.re, in[0].im + kCos2 * outer.im + kCos1 * inner.im};
  const Complex firstRest{kSin1 * outerRest.re + kSin2 * innerRest.re, kSin1 * outerRest.im + kSin2 * innerRest.im};
  const Complex secondRest{kSin2 * outerRest.re - kSin1 * innerRest.re, kSin2 * outerRest.im - kSin1 * innerRest.im};
  turnBack(first, firstRest, out[1]);
  turnOn(first, firstRest, out[4]);
  turnBack(second, secondRest, out[2]);
  turnOn(second, secondRest, out[3]);
}

template <size_t Radix>
TRUNKLINE_INLINE void butterfly(const Complex* in, Complex* out) {
  if constexpr (Radix == 2) butterfly2(in, out);
  if constexpr (Radix == 4) butterfly4(in, out);
  if constexpr (Radix == 5) butterfly5(in, out);
}

// One pass over transforms of `Length` points that lie `Stride` apart; Length * Stride is always 200.
template <size_t Radix, size_t Length>
TRUNKLINE_INLINE void pass(const Twiddles& table, const Complex* from, Complex* to) {
  constexpr size_t Stride = kPoints / Length;
  constexpr size_t Part = Length / Radix;
  for (size_t p = 0; p < Part; p++) {
    for (size_t q = 0; q < Stride; q++) {
      Complex in[Radix];
      Complex out[Radix];
      for (size_t k = 0; k < Radix; k++) in[k] = from[q + Stride * (p + Part * k)];
      butterfly<Radix>(in, out);
      to[q + Stride * Radix * p] = out[0];
      for (size_t k = 1; k < Radix; k++) {
        const double re = table.re[2 * Stride * p * k];
        const double im = table.im[2 * Stride * p * k];
        Complex& target = to[q + Stride * (Radix * p + k)];
        target.re = out[k].re * re - out[k].im * im;
        target.im = out[k].re * im + out[k].im * re;
      }
    }
  }
}

// With Z the transform of the packed points: E = (Z[k] + conj Z[200-k]) / 2 belongs to the even samples,
// O = -i (Z[k] - conj Z[200-k]) / 2 to the odd ones, and X[k] = E + exp(-2 pi i k / 400) O.
TRUNKLINE_INLINE void splitPower(const Twiddles& table, const Complex* packed, PowerBlock& power) {
  for (size_t k = 0; k <= kPoints; k++) {
    const Complex& a = packed[k % kPoints];
    const Complex& b = packed[(kPoints - k) % kPoints];
    const Lanes evenRe = a.re + b.re;
    const Lanes evenIm = a.im - b.im;
    const Lanes oddRe = a.im + b.im;
    const Lanes oddIm = b.re - a.re;
    const Lanes re = evenRe + (oddRe * table.re[k] - oddIm * table.im[k]);
    const Lanes im = evenIm + (oddRe * table.im[k] + oddIm * table.re[k]);
    power[k] = (re * re + im * im) * 0.25;
  }
}

}  // namespace

const std::array<double, kFrameSamples>& hannWindow() {
  static const std::array<double, kFrameSamples> window = [] {
    std::array<double, kFrameSamples> made;
    for (size_t n = 0; n < kFrameSamples; n++) {
      made[n] = 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(n) / kFrameSamples);
    }
    return made;
  }();
  return window;
}

TRUNKLINE_HOT void powerSpectrum(const FrameBlock& frames, PowerBlock& power) {
  const Twiddles& table = twiddles();
  Complex spare[kPoints];
  Complex packed[kPoints];
  for (size_t i = 0; i < kPoints; i++) packed[i] = {frames[2 * i], frames[2 * i + 1]};
  pass<5, 200>(table, packed, spare);
  pass<5, 40>(table, spare, packed);
  pass<4, 8>(table, packed, spare);
  pass<2, 2>(table, spare, packed);
  splitPower(table, packed, power);
}

}  // namespace trunkline
