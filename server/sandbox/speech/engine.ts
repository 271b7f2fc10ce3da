import { WorkerPool, type WorkerThread } from '../worker-pool.ts';
import type { AudioChunk, AudioSettings, Command, Reply, Utterance, Word } from './commands.ts';
import { EngineMissing } from './espeak.ts';

/** The speech engine behind a small pool of worker threads. */
export class SpeechEngine {
  readonly #pool: WorkerPool<Command, Reply>;
  #nextJob = 1;

  constructor({ module, workers }: { module: string; workers: number }) {
    this.#pool = new WorkerPool(workers, new URL('./worker.ts', import.meta.url), { engine: module });
  }

  /**
   * Speaks the utterances into one audio stream, each when the caller asks for it, so that a slow reader holds the
   * work back. Word times count from the start of the stream. Throws `EngineMissing` without the engine package and
   * the signal's reason when it aborts.
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

  /** Begins one audio stream whose utterances are not known yet; its owner must close it. */
  open(audio: AudioSettings, signal: AbortSignal): SpeechStream {
    return new SpeechStream(this.#pool.leastBusy(), this.#nextJob++, audio, signal);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/** A piece of encoded audio and the words that begin in it. */
export interface SpokenChunk {
  data: Buffer;
  words: Word[];
}

export interface SpokenUtterance {
  chunks: SpokenChunk[];
  /** Length of its audio. */
  seconds: number;
}

/**
 * One audio stream that is spoken utterance by utterance. Word times count from its start. Its methods throw
 * `EngineMissing` without the engine package and the signal's reason when it aborts.
 */
export class SpeechStream {
  readonly #thread: WorkerThread<Command, Reply>;
  readonly #job: number;
  readonly #signal: AbortSignal;
  readonly #opened: Promise<Reply>;
  #elapsed = 0;
  #open = true;

  constructor(thread: WorkerThread<Command, Reply>, job: number, audio: AudioSettings, signal: AbortSignal) {
    this.#thread = thread;
    this.#job = job;
    this.#signal = signal;
    thread.streams++;
    this.#opened = thread.run({ kind: 'open', job, audio }, signal);
    // The first use throws its failure.
    this.#opened.catch(() => {});
  }

  /** Speaks one utterance; `last` also gives out what the codec holds back, and nothing may follow. */
  async speak(utterance: Utterance, last: boolean): Promise<SpokenUtterance> {
    return await this.#run({ kind: 'speak', job: this.#job, utterance, last });
  }

  /** What the codec still holds back when no utterance was the last one. */
  async finish(): Promise<SpokenUtterance> {
    return await this.#run({ kind: 'finish', job: this.#job });
  }

  /** Gives the encoder back; may be called again. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#thread.streams--;
    this.#thread.post({ kind: 'close', job: this.#job });
  }

  async #run(command: Command): Promise<SpokenUtterance> {
    expect(await this.#opened, 'opened');
    const { chunks, seconds } = expect(await this.#thread.run(command, this.#signal), 'spoken');
    const begin = this.#elapsed;
    this.#elapsed += Math.round(seconds * 1000);
    return { chunks: chunks.map((chunk) => placeChunk(chunk, begin)), seconds };
  }
}

/** Moves a chunk's words to their place in the whole stream. */
function placeChunk({ data, words }: AudioChunk, begin: number): SpokenChunk {
  return {
    data: Buffer.from(data.buffer),
    words: words.map((word) => ({
      ...word,
      beginTime: word.beginTime + begin,
      endTime: word.endTime + begin,
    })),
  };
}

function expect<Kind extends Reply['kind']>(reply: Reply, kind: Kind): Extract<Reply, { kind: Kind }> {
  if (reply.kind === 'failed') {
    throw reply.reason === 'engine_missing' ? new EngineMissing(reply.message) : new Error(reply.message);
  }
  if (reply.kind !== kind) throw new Error(`Expected the reply ${kind}, got ${reply.kind}`);
  return reply as Extract<Reply, { kind: Kind }>;
}
