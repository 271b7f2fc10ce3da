import type { UpstreamResponse } from '../../channels/channel.ts';
import { readUpTo } from '../rejection.ts';

export interface SplitBody {
  head: Buffer;
  /** What comes after the head; undefined when the head is all. */
  rest: AsyncIterator<Buffer> | undefined;
}

/** Reads a body up to about `limit` bytes, so that a short one can be looked at whole and a long one passes through. */
export async function splitBody({ headers, body }: UpstreamResponse, limit: number): Promise<SplitBody> {
  if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= limit) {
    return { head: Buffer.from(await body.arrayBuffer()), rest: undefined };
  }
  return readHead(body[Symbol.asyncIterator](), limit + 1);
}

/** Reads a body of about `limit` bytes at the most. */
export async function readWhole({ headers, body }: UpstreamResponse, limit: number): Promise<Buffer> {
  if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= limit)
    return Buffer.from(await body.arrayBuffer());
  return readUpTo(body, limit);
}

/** Reads at least `length` bytes of a body, or all of it when it has no more. */
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

/** The whole body again, in order. Stopping early lets the upstream go. */
export async function* joinBody({ head, rest }: SplitBody): AsyncGenerator<Buffer> {
  try {
    yield head;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}
