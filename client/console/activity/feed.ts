import { type Signal, signal } from '@preact/signals';
import { pollIntervalMs } from './poll-interval.ts';

interface FeedPage<Item> {
  items: readonly Item[];
  hasMore: boolean;
}

export interface FeedSource<Item> {
  idOf: (item: Item) => string | number;
  newest: (abort: AbortSignal) => Promise<FeedPage<Item>>;
  /** Loads a page after the loaded items. It may repeat some of them. */
  older: (loaded: readonly Item[], abort: AbortSignal) => Promise<FeedPage<Item>>;
}

/** A list, newest first, that polls for new items and loads older ones on demand. */
export class Feed<Item> {
  readonly items: Signal<readonly Item[]> = signal([]);
  readonly hasMore = signal(true);
  /** True after the first response. */
  readonly isLoaded = signal(false);
  readonly error: Signal<unknown> = signal();
  readonly #source: FeedSource<Item>;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLoadingOlder = false;

  constructor(source: FeedSource<Item>) {
    this.#source = source;
  }

  /** Loads the newest items, and again after each interval until `stop`. A hidden page does not poll. */
  async start(): Promise<void> {
    if (!document.hidden || !this.isLoaded.peek()) await this.refresh();
    if (!this.#controller.signal.aborted) this.#timer = setTimeout(() => void this.start(), pollIntervalMs());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  /** Loads the newest items. */
  async refresh(): Promise<void> {
    await this.#attempt(async (abort) => {
      const page = await this.#source.newest(abort);
      const loaded = this.items.peek();
      const merged = this.#merge(page.items, loaded);
      const isFirst = loaded.length === 0;
      const hasGap = merged.length === page.items.length + loaded.length && page.hasMore && !isFirst;
      // Items between the page and the loaded items are missing: start again with the page.
      if (isFirst || hasGap) this.hasMore.value = page.hasMore;
      const next = hasGap ? page.items : merged;
      if (!isSame(next, loaded)) this.items.value = next;
    });
  }

  /** Loads the next older page. */
  async older(): Promise<void> {
    if (this.#isLoadingOlder || !this.hasMore.peek() || !this.isLoaded.peek()) return;
    this.#isLoadingOlder = true;
    await this.#attempt(async (abort) => {
      const page = await this.#source.older(this.items.peek(), abort);
      this.items.value = this.#merge(this.items.peek(), page.items);
      this.hasMore.value = page.hasMore;
    });
    this.#isLoadingOlder = false;
  }

  /** Appends the items of `second` that are not in `first`. */
  #merge(first: readonly Item[], second: readonly Item[]): Item[] {
    const ids = new Set(first.map(this.#source.idOf));
    return [...first, ...second.filter((item) => !ids.has(this.#source.idOf(item)))];
  }

  async #attempt(load: (abort: AbortSignal) => Promise<void>): Promise<void> {
    const abort = this.#controller.signal;
    try {
      await load(abort);
      this.error.value = undefined;
    } catch (error) {
      if (!abort.aborted) this.error.value = error;
    }
    if (!abort.aborted) this.isLoaded.value = true;
  }
}

/** Whether a poll changed nothing, so that nothing is rendered. */
function isSame<Item>(left: readonly Item[], right: readonly Item[]): boolean {
  return (
    left.length === right.length &&
    left.every(
      (item, index) => item === right[index] || JSON.stringify(item) === JSON.stringify(right[index]),
    )
  );
}
