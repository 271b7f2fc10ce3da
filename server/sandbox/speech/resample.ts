import libsamplerate from '@alexanderolsen/libsamplerate-js';

/** Resamplers by rates. They need no state between utterances, which start and end with silence. */
const resamplers = new Map<string, ReturnType<typeof libsamplerate.create>>();

/** Converts mono samples from one rate to another. */
export async function resample(samples: Float32Array, from: number, to: number): Promise<Float32Array> {
  if (from === to || samples.length === 0) return samples;
  const rates = `${from}:${to}`;
  const resampler = resamplers.get(rates) ?? libsamplerate.create(1, from, to);
  resamplers.set(rates, resampler);
  return (await resampler).simple(samples);
}
