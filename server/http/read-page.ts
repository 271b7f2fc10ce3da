const defaultSize = 20;

/** Where a page begins and how long it is. */
export function readPage({ p = 1, page_size: limit = defaultSize }: { p?: number; page_size?: number }): {
  offset: number;
  limit: number;
} {
  return { offset: (p - 1) * limit, limit };
}
