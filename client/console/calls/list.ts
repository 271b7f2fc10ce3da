import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { PagePromise } from '../../index.ts';

interface Page<Item> {
  items: Item[];
  total: number;
}

type LoadPage<Item> = (page: number, abort: AbortSignal) => PagePromise<Item, Page<Item>>;

/** A list with numbered pages, of which the user loads more on demand. */
export class List<Item> {
  readonly #items: Signal<readonly Item[] | undefined> = signal();
  readonly total = signal(0);
  readonly error: Signal<unknown> = signal();
  readonly isLoading = signal(false);
  #load: LoadPage<Item> | undefined;
  #pages = 0;
  #controller = new AbortController();

  /** The loaded items. Undefined until the first page is loaded. */
  get items(): ReadonlySignal<readonly Item[] | undefined> {
    return this.#items;
  }

  /** Starts again with the first page. The old items stay until it is loaded. */
  async start(load: LoadPage<Item> | undefined = this.#load): Promise<void> {
    this.#load = load;
    this.#pages = 0;
    await this.more();
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    this.stop();
    const { signal: abort } = this.#controller;
    this.isLoading.value = true;
    try {
      const page = await this.#load?.(this.#pages + 1, abort);
      if (abort.aborted || page === undefined) return;
      this.#items.value = this.#pages === 0 ? page.items : [...(this.#items.peek() ?? []), ...page.items];
      this.total.value = page.total;
      this.error.value = undefined;
      this.#pages += 1;
    } catch (error) {
      if (!abort.aborted) this.error.value = error;
    } finally {
      if (!abort.aborted) this.isLoading.value = false;
    }
  }

  stop(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
  }
}

/** Loads a list when the component appears and whenever `key` changes. */
export function useList<Item>(load: LoadPage<Item>, key: unknown = ''): List<Item> {
  const list = useMemo(() => new List<Item>(), []);
  useEffect(() => {
    void list.start(load);
    return () => list.stop();
  }, [key]);
  return list;
}
