/** A request for one page of a list. */
export interface PageSource<Item, Page> {
  load(): Promise<Page>;
  itemsOf(page: Page): readonly Item[];
  /** Returns the next page, or undefined after the last one. */
  next(page: Page): PageSource<Item, Page> | undefined;
}

/**
 * A list. `await` returns its first page, and `for await` yields the items of all pages. Further pages are requested on
 * demand. An item that is created during the loop can shift the pages, so that the loop yields an item twice.
 *
 * @example for await (const token of client.tokens.list()) console.log(token.name);
 */
export class PagePromise<Item, Page> extends Promise<Page> implements AsyncIterable<Item> {
  readonly #source: PageSource<Item, Page>;

  /** `then`, `catch` and `finally` return plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(source: PageSource<Item, Page>) {
    super((resolve, reject) => void source.load().then(resolve, reject));
    this.#source = source;
  }

  /** Yields the pages, starting with the requested one. */
  async *pages(): AsyncGenerator<Page, void> {
    let page: Page = await this.then((first) => first);
    yield page;
    for (let source = this.#source.next(page); source; source = source.next(page)) {
      page = await source.load();
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const page of this.pages()) yield* this.#source.itemsOf(page);
  }
}

/** A page of a list with page numbers. */
export interface NumberedPage<Item> {
  items: Item[];
  /** Number of matching items on all pages. */
  total: number;
}

interface PageNumbers {
  p?: number | undefined;
  page_size?: number | undefined;
}

/** The page size of the contract without `page_size`. */
const defaultPageSize = 20;

/** Creates a list with the parameters `p` and `page_size`. */
export function listPages<Query extends PageNumbers, Page extends NumberedPage<unknown>>(
  query: Query,
  load: (query: Query) => Promise<Page>,
): PagePromise<Page['items'][number], Page> {
  return new PagePromise(numberedPage(query, load));
}

function numberedPage<Query extends PageNumbers, Page extends NumberedPage<unknown>>(
  query: Query,
  load: (query: Query) => Promise<Page>,
): PageSource<Page['items'][number], Page> {
  const { p = 1, page_size = defaultPageSize } = query;
  return {
    load: () => load(query),
    itemsOf: ({ items }) => items,
    next: ({ items, total }) =>
      items.length === 0 || p * page_size >= total ? undefined : numberedPage({ ...query, p: p + 1 }, load),
  };
}

/** A page of a list with a cursor. */
interface CursorPage {
  /** Id of the last item, to send as `after`. Null if the page is empty. */
  last_id: string | number | null;
  has_more: boolean;
}

/** Creates a list with the parameter `after`. */
export function listAfter<Query extends { after?: string | number }, Page extends CursorPage, Item>(
  query: Query,
  load: (query: Query) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): PagePromise<Item, Page> {
  return new PagePromise(cursorPage(query, load, itemsOf));
}

function cursorPage<Query extends { after?: string | number }, Page extends CursorPage, Item>(
  query: Query,
  load: (query: Query) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): PageSource<Item, Page> {
  return {
    load: () => load(query),
    itemsOf,
    next: ({ has_more, last_id }) => {
      // Stops if a page refers to itself.
      if (!has_more || !last_id || last_id === query.after) return undefined;
      return cursorPage({ ...query, after: last_id }, load, itemsOf);
    },
  };
}
