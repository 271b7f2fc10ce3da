import { UnigateError } from '../errors.ts';

type Item<T> = { value: T; size: number } | { error: Error };

/** Queue of received items. One loop at a time reads it, and a later loop continues where the last one stopped. */
export class ReceiveQueue<T> implements AsyncIterable<T> {
  /** Unread bytes. */
  size = 0;
  /** Whether a loop has ever read it. */
  wasRead = false;
  /** Whether a loop is reading it. */
  isReading = false;
  readonly #name: string;
  readonly #onChange: () => void;
  #items: Item<T>[] = [];
  #state: 'open' | 'discarding' | 'overflowed' = 'open';
  #end: { error: Error | undefined } | undefined;
  #wake = () => {};

  /** `onChange` is called when an item is read, or a loop starts or ends. */
  constructor(name: string, onChange: () => void) {
    this.#name = name;
    this.#onChange = onChange;
  }

  push(value: T, size: number): void {
    if (this.#state !== 'open' || this.#end) return;
    this.#items.push({ value, size });
    this.size += size;
    this.#wake();
  }

  /** Throws the error to the reader once, after the earlier items. Another loop can continue to read. */
  pushError(error: Error): void {
    if (this.#state !== 'open' || this.#end) return;
    this.#items.push({ error });
    this.#wake();
  }

  /** Ends the queue. The reader gets the error, if any, after the earlier items. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Discards all current and future items. */
  discard(): void {
    if (this.#state === 'open') this.#state = 'discarding';
    this.#clear();
  }

  /** Discards all items because too many are unread. Reading the queue later is an error. */
  overflow(): void {
    this.#state = 'overflowed';
    this.#clear();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    if (this.isReading) throw new UnigateError(`${this.#name}: another loop is already reading.`);
    if (this.#state === 'overflowed')
      throw new UnigateError(`${this.#name}: the unread data exceeded the buffer; start reading earlier.`);
    this.isReading = true;
    this.wasRead = true;
    this.#onChange();
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
          this.#onChange();
          yield item.value;
        }
      }
    } finally {
      this.isReading = false;
      this.#onChange();
    }
  }

  #clear(): void {
    this.#items = [];
    this.size = 0;
  }
}
