// Runs every audio function under the sanitizers, without Node: exact heap blocks on all sides, so that one sample too
// far stops the program, and plain recomputations to compare with. Prints one line per promise; exits 1 at the first
// that is broken.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "interleave.h"
#include "level.h"
#include "log_mel.h"
#include "mel_filters.h"
#include "mix.h"
#include "power_spectrum.h"
#include "resample.h"

namespace {

using Samples = std::vector<int16_t>;

constexpr double kPi = 3.14159265358979323846;
constexpr size_t kRatesHz[] = {8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000};
std::mt19937 generator(20240611);

void require(bool kept, const char* promise) {
  if (kept) return;
  std::printf("broken: %s\n", promise);
  std::exit(1);
}

bool near(double value, double expected, double tolerance) { return std::fabs(value - expected) <= tolerance; }

size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(generator); }

int16_t saturated(double value) {
  return static_cast<int16_t>(std::nearbyint(std::min(32767.0, std::max(-32768.0, value))));
}

// Noise of full range, or only the two extremes, which overshoot a filter most.
Samples noise(size_t length, bool extremes) {
  Samples samples(length);
  for (auto& sample : samples) {
    const int value = static_cast<int>(below(65536)) - 32768;
    sample = static_cast<int16_t>(extremes ? (value < 0 ? -32768 : 32767) : value);
  }
  return samples;
}

Samples inChunks(trunkline::Resampler& resampler, const Samples& input, size_t mostPerChunk) {
  Samples all;
  for (size_t at = 0; at < input.size();) {
    const size_t length = std::min(input.size() - at, below(mostPerChunk + 1));
    const Samples chunk(input.begin() + static_cast<long>(at), input.begin() + static_cast<long>(at + length));
    Samples output(resampler.outputLength(length));
    resampler.process(chunk.data(), length, output.data());
    all.insert(all.end(), output.begin(), output.end());
    at += length;
  }
  Samples tail(resampler.flushLength());
  resampler.flush(tail.data());
  all.insert(all.end(), tail.begin(), tail.end());
  return all;
}

// The defining sum, in double, with the weights of the same filter.
Samples convolved(const trunkline::ResampleFilter& filter, const Samples& input, size_t outputLength) {
  Samples output(outputLength);
  for (size_t n = 0; n < outputLength; n++) {
    const size_t newest = n * filter.decimation / filter.interpolation;
    const size_t phase = n * filter.decimation % filter.interpolation;
    double sum = 0;
    for (size_t age = 0; age < filter.tapsPerPhase && age <= newest; age++) {
      if (newest - age >= input.size()) continue;
      sum += static_cast<double>(filter.taps[(phase + 1) * filter.tapsPerPhase - 1 - age]) * input[newest - age];
    }
    output[n] = saturated(sum);
  }
  return output;
}

void checkPair(size_t inputRateHz, size_t outputRateHz) {
  trunkline::Resampler resampler(inputRateHz, outputRateHz);
  require(resampler.flushLength() == 0, "a resampler that got nothing has no tail");
  const size_t delay = resampler.delaySamples();
  const size_t lengths[] = {0, 1, 2, 159, 160, 1023, 1024, 1025, 2500 + below(500)};
  for (const size_t length : lengths) {
    for (const bool extremes : {false, true}) {
      const Samples input = noise(length, extremes);
      const Samples whole = inChunks(resampler, input, length);
      const size_t expected = length == 0 ? 0 : (length * outputRateHz + inputRateHz - 1) / inputRateHz + delay;
      require(whole.size() == expected, "t inputs give ceil(t * ratio) outputs and a tail of the delay");
      require(inChunks(resampler, input, 7) == whole, "small chunks give the same bits as large ones");
      if (inputRateHz == outputRateHz) {
        require(whole == input, "equal rates pass through");
        continue;
      }
      const auto filter = trunkline::resampleFilterFor(inputRateHz, outputRateHz);
      const Samples reference = convolved(*filter, input, whole.size());
      for (size_t i = 0; i < whole.size(); i++) {
        require(near(whole[i], reference[i], 1), "outputs equal the defining sum within one step");
      }
    }
  }
  const Samples constant(3000, 12345);
  const Samples settled = inChunks(resampler, constant, 441);
  for (size_t i = 2 * delay; i + 2 * delay < settled.size(); i++) {
    require(settled[i] == 12345, "a constant stays that constant in every phase");
  }
}

void checkResampler() {
  for (const size_t inputRateHz : kRatesHz) {
    for (const size_t outputRateHz : kRatesHz) checkPair(inputRateHz, outputRateHz);
  }
  require(!trunkline::isSupportedRate(0) && !trunkline::isSupportedRate(8000.5) &&
              !trunkline::isSupportedRate(std::nan("")) && !trunkline::isSupportedRate(-8000),
          "other rates are refused");
  std::printf("resampler: 64 pairs of rates\n");
}

void checkPowerSpectrum() {
  trunkline::FrameBlock frames;
  trunkline::PowerBlock power;
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (auto& sample : frames) {
    for (size_t lane = 0; lane < trunkline::kFrameLanes; lane++) sample[lane] = uniform(generator);
  }
  trunkline::powerSpectrum(frames, power);
  for (size_t lane = 0; lane < trunkline::kFrameLanes; lane++) {
    for (size_t bin = 0; bin < trunkline::kSpectrumBins; bin++) {
      std::complex<double> sum = 0;
      for (size_t n = 0; n < trunkline::kFrameSamples; n++) {
        sum += frames[n][lane] * std::polar(1.0, -2 * kPi * static_cast<double>(bin * n % 400) / 400);
      }
      require(near(power[bin][lane], std::norm(sum), 1e-9), "the transform equals the defining sum");
    }
  }
  std::printf("power spectrum: 201 bins\n");
}

void checkFilterTables() {
  const auto& filters = trunkline::melFilters();
  size_t cells = 0;
  double sum = 0;
  for (const auto& filter : filters) {
    cells += filter.weights.size();
    for (const double weight : filter.weights) sum += weight;
  }
  require(cells == 391 && near(sum, 1.999024, 5e-7), "391 filter cells, sum 1.999024");
  require(filters[0].firstBin == 1 && filters[0].weights.size() == 1 && near(filters[0].weights[0], 0.02486259, 5e-9),
          "filter 0 touches only bin 1");
  const auto peak = [&filters](size_t mel) {
    return *std::max_element(filters[mel].weights.begin(), filters[mel].weights.end());
  };
  require(filters[40].firstBin == 42 && filters[40].weights.size() == 3 && near(peak(40), 0.01473557, 5e-9),
          "filter 40 spans bins 42 to 44");
  require(filters[79].firstBin == 186 && filters[79].weights.size() == 14 && near(peak(79), 0.00316471, 5e-9),
          "filter 79 spans bins 186 to 199");
  double hannSum = 0;
  for (const double weight : trunkline::hannWindow()) hannSum += weight;
  require(near(hannSum, 200, 1e-9) && near(trunkline::hannWindow()[100], 0.5, 1e-12), "Hann sum 200, w[100] = 0.5");
  std::printf("mel filters: 391 cells, sum %.6f; Hann sum %.6f\n", sum, hannSum);
}

// One column straight from the recipe: reflect padding, defining DFT sum, filters, log. `top` is the global maximum.
void checkColumn(const std::vector<float>& samples, const std::vector<float>& out, size_t frame, double top) {
  double mean = 0;
  for (const float sample : samples) mean += sample;
  mean /= static_cast<double>(samples.size());
  double variance = 0;
  for (const float sample : samples) variance += (sample - mean) * (sample - mean);
  variance /= static_cast<double>(samples.size());
  std::vector<double> power(trunkline::kSpectrumBins);
  for (size_t bin = 0; bin < power.size(); bin++) {
    std::complex<double> sum = 0;
    for (size_t n = 0; n < 400; n++) {
      long index = std::labs(static_cast<long>(frame * 160 + n) - 200);
      if (index > 127999) index = 2 * 127999 - index;
      const auto sample = static_cast<float>((samples[static_cast<size_t>(index)] - mean) / std::sqrt(variance + 1e-7));
      const double angle = 2 * kPi * static_cast<double>(n) / 400;
      sum += sample * (0.5 - 0.5 * std::cos(angle)) *
             std::polar(1.0, -2 * kPi * static_cast<double>(bin * n % 400) / 400);
    }
    power[bin] = std::norm(sum);
  }
  for (size_t mel = 0; mel < trunkline::kMelCount; mel++) {
    double energy = 0;
    const auto& filter = trunkline::melFilters()[mel];
    for (size_t i = 0; i < filter.weights.size(); i++) energy += filter.weights[i] * power[filter.firstBin + i];
    const double value = (std::max(std::log10(std::max(energy, 1e-10)), top - 8) + 4) / 4;
    require(near(out[mel * 800 + frame], value, 2e-4), "a column equals the recipe");
  }
}

void checkLogMel() {
  std::uniform_real_distribution<float> uniform(-1, 1);
  // Lengths of the constant lead that lie around the frame borders, where the short cut for equal frames ends.
  for (const size_t lead : {0u, 1u, 199u, 200u, 201u, 360u, 361u, 60039u, 60040u, 60041u, 127999u, 128000u}) {
    for (const float value : {0.0f, 0.25f}) {
      std::vector<float> samples(trunkline::kLogMelSamples, value);
      for (size_t i = lead; i < samples.size(); i++) samples[i] = uniform(generator) / 8;
      std::vector<float> out(trunkline::kMelCount * trunkline::kLogMelFrames);
      trunkline::logMel(samples.data(), out.data());
      const double top = *std::max_element(out.begin(), out.end()) * 4.0 - 4;
      const size_t border = std::min<size_t>(lead / 160, 796);
      for (const size_t frame : {size_t{0}, size_t{1}, size_t{2}, border, border + 1, border + 2, border + 3}) {
        checkColumn(samples, out, frame, top);
      }
      checkColumn(samples, out, 799, top);
    }
  }
  const float extremes[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest(), std::numeric_limits<float>::denorm_min()};
  for (const bool everywhere : {false, true}) {
    std::vector<float> samples(trunkline::kLogMelSamples);
    for (size_t i = 0; i < samples.size(); i += everywhere ? 1 : 9973) samples[i] = extremes[i % 6];
    std::vector<float> out(trunkline::kMelCount * trunkline::kLogMelFrames);
    trunkline::logMel(samples.data(), out.data());
    for (const float cell : out) require(std::isfinite(cell), "features stay finite whatever comes in");
  }
  std::printf("log mel: columns at 12 leads, extremes finite\n");
}

void checkPlainKernels() {
  const double gains[] = {0, 1, -1, 0.5, 0.25, -0.125, 3, 65536, 1e308, -1e308, 1e-308};
  for (size_t round = 0; round < 400; round++) {
    const size_t length = below(round < 20 ? 3 : 700);
    const Samples left = noise(length, round % 5 == 0);
    Samples right = noise(length, round % 7 == 0);
    // Zero times a gain beyond float must stay zero.
    if (length > 0) right[0] = 0;
    const double gain = gains[below(std::size(gains))];
    Samples mixed = left;
    trunkline::mix(mixed.data(), right.data(), length, gain);
    Samples stereo(2 * length);
    trunkline::interleave(left.data(), right.data(), length, stereo.data());
    double squares = 0;
    for (size_t i = 0; i < length; i++) {
      require(mixed[i] == saturated(left[i] + static_cast<double>(right[i]) * gain), "mix rounds and saturates");
      require(stereo[2 * i] == left[i] && stereo[2 * i + 1] == right[i], "interleave alternates");
      squares += static_cast<double>(left[i]) * left[i];
    }
    const double dbfs =
        squares == 0 ? -100 : std::max(-100.0, 10 * std::log10(squares / static_cast<double>(length) / 1073741824.0));
    require(near(trunkline::level(left.data(), length), dbfs, 1e-9), "level is the RMS in dBFS");
  }
  Samples own = noise(100, true);
  trunkline::mix(own.data(), own.data(), own.size(), -1);
  for (const int16_t sample : own) require(sample == 0, "a block mixed with its own inverse is silent");
  std::printf("mix, level, interleave: 400 rounds\n");
}

}  // namespace

int main() {
  checkResampler();
  checkPowerSpectrum();
  checkFilterTables();
  checkLogMel();
  checkPlainKernels();
  std::printf("all promises kept\n");
  return 0;
}
