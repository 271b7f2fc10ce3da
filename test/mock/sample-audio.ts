import { concatenateAudio } from '../../server/sandbox/speech/audio-file.ts';
import type { AudioSettings } from '../../server/sandbox/speech/commands.ts';
import type { AudioEncoder } from '../../server/sandbox/speech/encoders/encoder.ts';
import { mediaOf } from './media.ts';

/** Samples per second of `media/speech.wav`. */
const sourceRate = 16_000;
/** Chunks of each repetition. */
export const chunksPerSample = 2;

/** Returns the spoken sample as 16-bit samples at `sourceRate`. */
function readSource(): Float32Array {
  const pcm = mediaOf('audio/pcm') ?? Buffer.alloc(0);
  return Float32Array.from({ length: pcm.length / 2 }, (_, index) => pcm.readInt16LE(index * 2) / 32_768);
}

/** Duration of the sample in milliseconds. */
export const sampleMs = Math.floor((readSource().length / sourceRate) * 1000);

/** The spoken sample, repeated in one audio stream. The joined chunks are playable. */
export class SampleStream {
  readonly #encoder: AudioEncoder;
  readonly #samples: Float32Array;

  private constructor(encoder: AudioEncoder, samples: Float32Array) {
    this.#encoder = encoder;
    this.#samples = samples;
  }

  /** Loads the encoders of the sandbox late, so that the mock starts fast. */
  static async open(settings: AudioSettings): Promise<SampleStream> {
    const [{ createEncoder }, { resample }] = await Promise.all([
      import('../../server/sandbox/speech/encoders/create-encoder.ts'),
      import('../../server/sandbox/speech/resample.ts'),
    ]);
    const encoder = await createEncoder(settings);
    return new SampleStream(encoder, await resample(readSource(), sourceRate, encoder.inputRate));
  }

  /** Duration of one repetition. */
  get seconds(): number {
    return this.#samples.length / this.#encoder.inputRate;
  }

  /** Returns the chunks of one repetition. */
  repeat(count = chunksPerSample): Buffer[] {
    const length = Math.ceil(this.#samples.length / count);
    return Array.from({ length: count }, (_, index) =>
      // Copied, because the encoder reuses its buffer.
      Buffer.from(this.#encoder.encode(this.#samples.subarray(index * length, (index + 1) * length))),
    );
  }

  /** Returns the rest of the stream. No call of `repeat` can follow. */
  finish(): Buffer {
    return Buffer.from(this.#encoder.finish());
  }

  /** Releases the encoder. Must be called exactly once. */
  close(): void {
    this.#encoder.release();
  }
}

/** Returns the chunks of a stream with one repetition. The header of a WAV or FLAC file has an unknown length. */
export async function sampleChunks(settings: AudioSettings, count?: number): Promise<Buffer[]> {
  return (await encodeSample(settings, count)).chunks;
}

/** Returns the sample as a complete file. */
export async function sampleFile(settings: AudioSettings): Promise<Buffer> {
  const { chunks, seconds } = await encodeSample(settings, 1);
  return concatenateAudio(chunks, settings, seconds);
}

async function encodeSample(settings: AudioSettings, count?: number) {
  const stream = await SampleStream.open(settings);
  const { seconds } = stream;
  const chunks = stream.repeat(count);
  const rest = stream.finish();
  stream.close();
  const last = Buffer.concat([chunks.at(-1) ?? Buffer.alloc(0), rest]);
  return { chunks: [...chunks.slice(0, -1), last], seconds };
}
