import { UnigateError } from '../errors.ts';

type Item<T> = { value: T; size: number } | { error: Error };

/** What has arrived and was not read yet, in order. One loop at a time reads it; another may go on where it left. */
export class Inbox<T> implements AsyncIterable<T> {
  /** Bytes that wait. */
  size = 0;
  /** Whether it was ever read. */
  claimed = false;
  /** Whether a loop is at it. */
  reading = false;
  readonly #name: string;
  readonly #changed: () => void;
  #items: Item<T>[] = [];
  #state: 'kept' | 'dropped' | 'lost' = 'kept';
  #end: { error: Error | undefined } | undefined;
  #wake = () => {};

  /** `changed` is called when something was read, or a loop began or ended. */
  constructor(name: string, changed: () => void) {
    this.#name = name;
    this.#changed = changed;
  }

  push(value: T, size: number): void {
    if (this.#state !== 'kept' || this.#end) return;
    this.#items.push({ value, size });
    this.size += size;
    this.#wake();
  }

  /** Throws the error to the reader once, after what came before; another loop may read on. */
  pushError(error: Error): void {
    if (this.#state !== 'kept' || this.#end) return;
    this.#items.push({ error });
    this.#wake();
  }

  /** Nothing more comes. The error, if any, is thrown after what came before. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Keeps nothing from now on, because nobody is going to read it. */
  drop(): void {
    if (this.#state === 'kept') this.#state = 'dropped';
    this.#forget();
  }

  /** The same because there was too much of it; reading it later is an error. */
  lose(): void {
    this.#state = 'lost';
    this.#forget();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    if (this.reading) throw new UnigateError(`${this.#name}: another loop is reading.`);
    if (this.#state === 'lost')
      throw new UnigateError(`${this.#name}: too much has come; begin to read before there is any.`);
    this.reading = true;
    this.claimed = true;
    this.#changed();
    try {
      for (;;) {
        const item = this.#items.shift();
        if (!item) {
          if (this.#end?.error) throw this.#end.error;
          if (this.#end) return;
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else if ('error' in item) {
          throw item.error;
        } else {
          this.size -= item.size;
          this.#changed();
          yield item.value;
        }
      }
    } finally {
      this.reading = false;
      this.#changed();
    }
  }

  #forget(): void {
    this.#items = [];
    this.size = 0;
  }
}
