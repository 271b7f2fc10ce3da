import { type Signal, signal } from '@preact/signals';
import type { CallOptions, ListedVoice, PagePromise } from '../../index.ts';

type Load = (options: CallOptions) => PagePromise<ListedVoice, ListedVoice[]>;

/** Voices that each step shows. */
const stepSize = 20;

/** The list of voices. Pages of the gateway are loaded when they are shown. */
export class VoicePages {
  /** The shown voices. Undefined until the first page is loaded. */
  readonly voices: Signal<readonly ListedVoice[] | undefined> = signal();
  readonly hasMore = signal(false);
  readonly isLoading = signal(false);
  readonly error: Signal<unknown> = signal();
  readonly #load: Load;
  #iterator: AsyncIterator<ListedVoice> | undefined;
  #controller = new AbortController();

  constructor(load: Load) {
    this.#load = load;
  }

  /** Starts again with the first voices. The old ones stay until they are loaded. */
  async reload(): Promise<void> {
    this.stop();
    this.#iterator = this.#load({ signal: this.#controller.signal })[Symbol.asyncIterator]();
    await this.#next([]);
  }

  async more(): Promise<void> {
    await this.#next(this.voices.peek() ?? []);
  }

  /** Removes a voice that was deleted. */
  remove(id: string | undefined): void {
    this.voices.value = this.voices.peek()?.filter((voice) => voice.id !== id);
  }

  stop(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
  }

  async #next(shown: readonly ListedVoice[]): Promise<void> {
    const { signal: abort } = this.#controller;
    const added: ListedVoice[] = [];
    this.isLoading.value = true;
    try {
      let isDone = false;
      while (!isDone && added.length < stepSize) {
        const next = await this.#iterator?.next();
        isDone = next?.done ?? true;
        if (next && !next.done) added.push(next.value);
      }
      if (abort.aborted) return;
      this.voices.value = [...shown, ...added];
      this.hasMore.value = !isDone;
      this.error.value = undefined;
    } catch (error) {
      if (!abort.aborted) this.error.value = error;
    } finally {
      if (!abort.aborted) this.isLoading.value = false;
    }
  }
}
