#include <napi.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "interleave.h"
#include "level.h"
#include "log_mel.h"
#include "mix.h"
#include "resample.h"

// The binding checks every argument and calls the functions beside it; it holds no audio logic. There is no global
// state, so the addon loads in any number of worker threads.
namespace {

template <typename Array>
Array typedArray(const Napi::CallbackInfo& info, size_t index, napi_typedarray_type type, const char* what) {
  const Napi::Value value = info[index];
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throw Napi::TypeError::New(info.Env(), what);
  }
  return value.As<Array>();
}

Napi::Int16Array samplesAt(const Napi::CallbackInfo& info, size_t index, const char* what) {
  return typedArray<Napi::Int16Array>(info, index, napi_int16_array, what);
}

size_t rateAt(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const std::string subject = std::string("the ") + name + " rate of a Resampler";
  if (!info[index].IsNumber()) throw Napi::TypeError::New(info.Env(), subject + " must be a number");
  const double rateHz = info[index].As<Napi::Number>().DoubleValue();
  if (!trunkline::isSupportedRate(rateHz)) {
    throw Napi::RangeError::New(
        info.Env(), subject + " must be 8000, 11025, 16000, 22050, 24000, 32000, 44100 or 48000 Hz, not " +
                        info[index].ToString().Utf8Value());
  }
  return static_cast<size_t>(rateHz);
}

class ResamplerObject : public Napi::ObjectWrap<ResamplerObject> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Resampler",
                       {
                           InstanceAccessor<&ResamplerObject::delaySamples>("delaySamples"),
                           InstanceMethod<&ResamplerObject::process>("process"),
                           InstanceMethod<&ResamplerObject::flush>("flush"),
                       });
  }

  explicit ResamplerObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ResamplerObject>(info), resampler_(rateAt(info, 0, "input"), rateAt(info, 1, "output")) {}

 private:
  Napi::Value delaySamples(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(resampler_.delaySamples()));
  }

  Napi::Value process(const Napi::CallbackInfo& info) {
    const Napi::Int16Array input = samplesAt(info, 0, "a Resampler processes an Int16Array");
    Napi::Int16Array output = Napi::Int16Array::New(info.Env(), resampler_.outputLength(input.ElementLength()));
    resampler_.process(input.Data(), input.ElementLength(), output.Data());
    return output;
  }

  Napi::Value flush(const Napi::CallbackInfo& info) {
    Napi::Int16Array output = Napi::Int16Array::New(info.Env(), resampler_.flushLength());
    resampler_.flush(output.Data());
    return output;
  }

  trunkline::Resampler resampler_;
};

Napi::Value logMel(const Napi::CallbackInfo& info) {
  const auto samples =
      typedArray<Napi::Float32Array>(info, 0, napi_float32_array, "logMel reads its samples from a Float32Array");
  auto out = typedArray<Napi::Float32Array>(info, 1, napi_float32_array, "logMel writes into a Float32Array");
  if (samples.ElementLength() != trunkline::kLogMelSamples) {
    throw Napi::RangeError::New(info.Env(), "logMel takes exactly 128000 samples; pad short audio on the left");
  }
  if (out.ElementLength() != trunkline::kMelCount * trunkline::kLogMelFrames) {
    throw Napi::RangeError::New(info.Env(), "logMel writes 80 x 800 values; pass an array of 64000");
  }
  trunkline::logMel(samples.Data(), out.Data());
  return info.Env().Undefined();
}

Napi::Value mix(const Napi::CallbackInfo& info) {
  Napi::Int16Array into = samplesAt(info, 0, "mix adds into an Int16Array");
  const Napi::Int16Array from = samplesAt(info, 1, "mix adds from an Int16Array");
  if (!info[2].IsNumber() || !std::isfinite(info[2].As<Napi::Number>().DoubleValue())) {
    throw Napi::TypeError::New(info.Env(), "the gain of mix must be a finite number");
  }
  const size_t length = std::min(into.ElementLength(), from.ElementLength());
  trunkline::mix(into.Data(), from.Data(), length, info[2].As<Napi::Number>().DoubleValue());
  return info.Env().Undefined();
}

Napi::Value level(const Napi::CallbackInfo& info) {
  const Napi::Int16Array samples = samplesAt(info, 0, "level measures an Int16Array");
  return Napi::Number::New(info.Env(), trunkline::level(samples.Data(), samples.ElementLength()));
}

Napi::Value interleave(const Napi::CallbackInfo& info) {
  const Napi::Int16Array left = samplesAt(info, 0, "the left channel of interleave must be an Int16Array");
  const Napi::Int16Array right = samplesAt(info, 1, "the right channel of interleave must be an Int16Array");
  Napi::Int16Array out = samplesAt(info, 2, "interleave writes into an Int16Array");
  const size_t length = left.ElementLength();
  if (right.ElementLength() != length || out.ElementLength() != 2 * length) {
    throw Napi::RangeError::New(
        info.Env(), "interleave takes two channels of one length and writes an array of exactly twice that length");
  }
  trunkline::interleave(left.Data(), right.Data(), length, out.Data());
  return info.Env().Undefined();
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports["Resampler"] = ResamplerObject::define(env);
  exports["logMel"] = Napi::Function::New<logMel>(env, "logMel");
  exports["mix"] = Napi::Function::New<mix>(env, "mix");
  exports["level"] = Napi::Function::New<level>(env, "level");
  exports["interleave"] = Napi::Function::New<interleave>(env, "interleave");
  return exports;
}

}  // namespace

NODE_API_MODULE(audio_kernels, initialise)
