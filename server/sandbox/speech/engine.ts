import type { AudioChunk, AudioSettings, Reply, Utterance, Word } from './commands.ts';
import { EngineMissing } from './espeak.ts';
import { WorkerThread } from './worker-thread.ts';

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

/** The speech engine behind a small pool of worker threads, started when they are first needed. */
export class SpeechEngine {
  readonly #module: string;
  readonly #size: number;
  #threads: WorkerThread[] = [];
  #nextJob = 1;

  constructor({ module, workers }: { module: string; workers: number }) {
    this.#module = module;
    this.#size = workers;
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
    const thread = this.#leastBusy();
    const job = this.#nextJob++;
    thread.jobs++;
    try {
      expect(await thread.run({ kind: 'open', job, audio }, signal), 'opened');
      let elapsed = 0;
      for (const [position, utterance] of utterances.entries()) {
        const last = position === utterances.length - 1;
        const reply = await thread.run({ kind: 'speak', job, utterance, last }, signal);
        const { chunks, seconds } = expect(reply, 'spoken');
        const begin = elapsed;
        elapsed += Math.round(seconds * 1000);
        yield { chunks: chunks.map((chunk) => placeChunk(chunk, begin)), seconds };
      }
    } finally {
      thread.jobs--;
      thread.post({ kind: 'close', job });
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
  }

  #leastBusy(): WorkerThread {
    this.#threads = this.#threads.filter((thread) => thread.alive);
    const idle = this.#threads.find((thread) => thread.jobs === 0);
    if (idle) return idle;
    if (this.#threads.length < this.#size) {
      const started = new WorkerThread(this.#module);
      this.#threads.push(started);
      return started;
    }
    return this.#threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least));
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
