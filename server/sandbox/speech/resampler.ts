import libsamplerate from '@alexanderolsen/libsamplerate-js';

type Converter = Awaited<ReturnType<typeof libsamplerate.create>>;

/** Changes the sample rate of whole mono utterances, which begin and end in silence and so need no state between them. */
export class Resampler {
  readonly #inputRate: number;
  readonly #converters = new Map<number, Promise<Converter>>();

  constructor(inputRate: number) {
    this.#inputRate = inputRate;
  }

  async resample(samples: Float32Array, outputRate: number): Promise<Float32Array> {
    if (outputRate === this.#inputRate || samples.length === 0) return samples;
    let converter = this.#converters.get(outputRate);
    if (!converter) {
      converter = libsamplerate.create(1, this.#inputRate, outputRate);
      this.#converters.set(outputRate, converter);
    }
    return (await converter).simple(samples);
  }
}
