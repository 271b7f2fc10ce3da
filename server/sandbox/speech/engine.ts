import { WorkerPool, type WorkerThread } from '../worker-pool.ts';
import type { AudioChunk, AudioSettings, Command, Reply, Utterance, Word } from './commands.ts';
import { EngineMissing } from './espeak.ts';

/** Runs the speech engine in a pool of worker threads. */
export class SpeechEngine {
  readonly #pool: WorkerPool<Command, Reply>;
  #nextStreamId = 1;

  constructor({ module, workers }: { module: string; workers: number }) {
    this.#pool = new WorkerPool(workers, new URL('./worker.ts', import.meta.url), { engine: module });
  }

  /**
   * Synthesizes the utterances to one audio stream, each when the caller requests it, which applies backpressure. Word
   * times are relative to the start of the stream. Throws `EngineMissing` without the engine package, and the reason of
   * the signal when it aborts.
   */
  async *speak(
    utterances: readonly Utterance[],
    audio: AudioSettings,
    signal: AbortSignal,
  ): AsyncGenerator<SpokenUtterance, void> {
    const stream = this.open(audio, signal);
    try {
      for (const [position, utterance] of utterances.entries()) {
        yield await stream.speak(utterance, position === utterances.length - 1);
      }
    } finally {
      stream.close();
    }
  }

  /** Opens an audio stream for utterances that are not known yet. The caller must close it. */
  open(audio: AudioSettings, signal: AbortSignal): SpeechStream {
    return new SpeechStream(this.#pool.leastBusy(), this.#nextStreamId++, audio, signal);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/** A chunk of encoded audio and the words that start in it. */
export interface SpokenChunk {
  data: Buffer;
  words: Word[];
}

export interface SpokenUtterance {
  chunks: SpokenChunk[];
  /** Length of the audio. */
  seconds: number;
}

/**
 * One audio stream, synthesized by utterance. Word times are relative to its start. The methods throw `EngineMissing`
 * without the engine package, and the reason of the signal when it aborts.
 */
export class SpeechStream {
  readonly #thread: WorkerThread<Command, Reply>;
  readonly #streamId: number;
  readonly #signal: AbortSignal;
  readonly #opened: Promise<Reply>;
  #elapsed = 0;
  #isOpen = true;

  constructor(
    thread: WorkerThread<Command, Reply>,
    streamId: number,
    audio: AudioSettings,
    signal: AbortSignal,
  ) {
    this.#thread = thread;
    this.#streamId = streamId;
    this.#signal = signal;
    thread.streams++;
    this.#opened = thread.run({ kind: 'open', streamId, audio }, signal);
    // The first call of a method reports the failure.
    this.#opened.catch(() => {});
  }

  /** Synthesizes one utterance. `last` also flushes the encoder, and nothing can follow. */
  async speak(utterance: Utterance, last: boolean): Promise<SpokenUtterance> {
    return await this.#run({ kind: 'speak', streamId: this.#streamId, utterance, last });
  }

  /** Flushes the encoder if no utterance was the last one. */
  async finish(): Promise<SpokenUtterance> {
    return await this.#run({ kind: 'finish', streamId: this.#streamId });
  }

  /** Releases the encoder. Can be called more than once. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#thread.streams--;
    this.#thread.post({ kind: 'close', streamId: this.#streamId });
  }

  async #run(command: Command): Promise<SpokenUtterance> {
    expectReply(await this.#opened, 'opened');
    const { chunks, seconds } = expectReply(await this.#thread.run(command, this.#signal), 'spoken');
    const begin = this.#elapsed;
    this.#elapsed += Math.round(seconds * 1000);
    return { chunks: chunks.map((chunk) => shiftChunk(chunk, begin)), seconds };
  }
}

/** Converts the word times of a chunk to times of the whole stream. */
function shiftChunk({ data, words }: AudioChunk, begin: number): SpokenChunk {
  return {
    data: Buffer.from(data.buffer),
    words: words.map((word) => ({
      ...word,
      beginTime: word.beginTime + begin,
      endTime: word.endTime + begin,
    })),
  };
}

function expectReply<Kind extends Reply['kind']>(reply: Reply, kind: Kind): Extract<Reply, { kind: Kind }> {
  if (reply.kind === 'failed') {
    throw reply.reason === 'engine_missing' ? new EngineMissing(reply.message) : new Error(reply.message);
  }
  if (reply.kind !== kind) throw new Error(`Expected the reply ${kind}, got ${reply.kind}`);
  return reply as Extract<Reply, { kind: Kind }>;
}
