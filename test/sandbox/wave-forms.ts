import { wavHeader } from '../../server/sandbox/speech/encoders/wav.ts';

const sampleRate = 16000;

/** Creates a tone at 16 kHz with harmonics that each decrease by the factor `slope`. */
export function tone(fundamental: number, seconds: number, slope = 0.6): Float32Array {
  const samples = new Float32Array(Math.round(seconds * sampleRate));
  for (let index = 0; index < samples.length; index++) {
    for (let harmonic = 1; harmonic * fundamental < 3500; harmonic++) {
      const phase = (2 * Math.PI * harmonic * fundamental * index) / sampleRate;
      samples[index] = (samples[index] ?? 0) + 0.1 * slope ** (harmonic - 1) * Math.sin(phase);
    }
  }
  return samples;
}

/** Creates a WAV file with 16-bit mono samples at 16 kHz. */
export function wavFile(samples: Float32Array): Buffer {
  const data = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, index) => data.writeInt16LE(Math.round(sample * 32767), index * 2));
  return Buffer.concat([wavHeader(sampleRate, 1, data.length), data]);
}
