import type { AudioSettings, Utterance } from './commands.ts';
import { SpeechStream, type SpokenUtterance } from './speech-stream.ts';
import { WorkerThread } from './worker-thread.ts';

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
    return new SpeechStream(this.#leastBusy(), this.#nextJob++, audio, signal);
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
