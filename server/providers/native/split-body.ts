export interface SplitBody {
  head: Buffer;
  /** The body after the head. Undefined if the head is the whole body. */
  rest: AsyncIterator<Buffer> | undefined;
}

/** Reads at least `length` bytes of a body, or all of a shorter one. */
export async function readHead(body: AsyncIterator<Buffer>, length: number): Promise<SplitBody> {
  const chunks: Buffer[] = [];
  for (let size = 0; size < length; ) {
    const next = await body.next();
    if (next.done) return { head: Buffer.concat(chunks), rest: undefined };
    chunks.push(next.value);
    size += next.value.length;
  }
  return { head: Buffer.concat(chunks), rest: body };
}

/** Yields the whole body. Aborts the upstream when the loop ends early. */
export async function* joinBody({ head, rest }: SplitBody): AsyncGenerator<Buffer> {
  try {
    yield head;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}
