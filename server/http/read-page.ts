const defaultSize = 20;

/** Converts page parameters to an offset and a limit. */
export function readPage({ p = 1, page_size: limit = defaultSize }: { p?: number; page_size?: number }): {
  offset: number;
  limit: number;
} {
  return { offset: (p - 1) * limit, limit };
}
