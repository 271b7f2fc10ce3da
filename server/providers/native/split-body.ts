/** Reads at least `length` bytes of a body. `rest` is undefined if they are the whole body. */
export async function readHead(body: AsyncIterator<Buffer>, length: number) {
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
export async function* joinBody({
  head,
  rest,
}: Awaited<ReturnType<typeof readHead>>): AsyncGenerator<Buffer> {
  try {
    yield head;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}
