const knee = 0.9;

/** Scales the samples in place. Values above the knee are compressed instead of clipped. */
export function applyGain(samples: Float32Array, gain: number): void {
  for (let position = 0; position < samples.length; position++) {
    const scaled = (samples[position] ?? 0) * gain;
    const excess = Math.abs(scaled) - knee;
    samples[position] =
      excess <= 0 ? scaled : Math.sign(scaled) * (knee + (1 - knee) * Math.tanh(excess / (1 - knee)));
  }
}

/** Converts samples to 16-bit little-endian PCM, repeated for each channel. */
export function toPcm16(samples: Float32Array, channels: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * channels * 2);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const sample of samples) {
    const value = Math.max(-32768, Math.min(32767, Math.round(sample * 32767)));
    for (let channel = 0; channel < channels; channel++, offset += 2) view.setInt16(offset, value, true);
  }
  return bytes;
}
