import { signal } from '@preact/signals';
import { wavOf } from './voice-sample.ts';

/** Audio that is scheduled before it plays, so that a late chunk causes no gap. */
const leadSeconds = 0.06;
/** Audio of one bar of the waveform. */
const barSeconds = 0.05;
const bytesPerSample = 2;
const fullScale = 32_768;

/** Plays 16-bit mono PCM with Web Audio while it arrives. */
export class PcmPlayer {
  /** Time from the start of the call until the first sample is audible. */
  readonly firstSoundMs = signal<number | undefined>(undefined);
  /** Loudest sample of each bar, from 0 to 1. */
  readonly peaks = signal<readonly number[]>([]);
  readonly bytes = signal(0);
  readonly #context: AudioContext;
  readonly #sampleRate: number;
  readonly #startedAt = performance.now();
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  #nextAt = 0;
  readonly #closed = Promise.withResolvers<void>();
  #last: Promise<void> = Promise.resolve();

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#context = new AudioContext({ sampleRate });
  }

  /** Schedules a chunk after those before it. A chunk may end in the middle of a sample. */
  push(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#rest.length + bytes.length);
    joined.set(this.#rest);
    joined.set(bytes, this.#rest.length);
    const whole = joined.length - (joined.length % bytesPerSample);
    this.#rest = joined.slice(whole);
    if (whole === 0) return;
    const chunk = joined.slice(0, whole);
    this.#chunks.push(chunk);
    this.bytes.value += whole;
    this.#schedule(samplesOf(chunk));
  }

  /** Resolves when all chunks have been played, or when the player is closed. */
  async drain(): Promise<void> {
    await Promise.race([this.#last, this.#closed.promise]);
  }

  /** Stops the sound and frees the audio device. */
  async close(): Promise<void> {
    this.#closed.resolve();
    if (this.#context.state !== 'closed') await this.#context.close();
  }

  /** Returns everything that arrived, as a file. */
  file(): Blob {
    return wavOf(this.#chunks, this.#sampleRate);
  }

  #schedule(samples: Float32Array<ArrayBuffer>): void {
    const buffer = this.#context.createBuffer(1, samples.length, this.#sampleRate);
    buffer.copyToChannel(samples, 0);
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    const { currentTime, outputLatency } = this.#context;
    this.#nextAt = Math.max(this.#nextAt, currentTime + leadSeconds);
    const delaySeconds = this.#nextAt - currentTime + outputLatency;
    this.firstSoundMs.value ??= performance.now() - this.#startedAt + delaySeconds * 1_000;
    source.start(this.#nextAt);
    this.#nextAt += buffer.duration;
    this.#last = new Promise((resolve) => source.addEventListener('ended', () => resolve(), { once: true }));
    this.peaks.value = [...this.peaks.peek(), ...peaksOf(samples, barSeconds * this.#sampleRate)];
  }
}

function samplesOf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from(
    { length: bytes.length / bytesPerSample },
    (_, index) => view.getInt16(index * bytesPerSample, true) / fullScale,
  );
}

function peaksOf(samples: Float32Array, length: number): readonly number[] {
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, bar) =>
    samples
      .subarray(bar * length, (bar + 1) * length)
      .reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0),
  );
}
