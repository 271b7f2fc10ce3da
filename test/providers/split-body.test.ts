import { expect, test } from 'vitest';
import { joinBody, readHead } from '../../server/providers/native/split-body.ts';

/** A body of these chunks, the number of chunks read, and whether it was closed. */
function bodyOf(...chunks: string[]) {
  const state = { read: 0, isClosed: false };
  async function* body() {
    try {
      for (const chunk of chunks) {
        state.read += 1;
        yield Buffer.from(chunk);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { body: body(), state };
}

async function text(parts: AsyncIterable<Buffer>): Promise<string> {
  let whole = '';
  for await (const part of parts) whole += part.toString();
  return whole;
}

test.each([
  [0, '', 0],
  [1, 'one ', 1],
  [4, 'one ', 1],
  [5, 'one two ', 2],
  [100, 'one two three', 3],
])('a head of %i bytes is %j, and the rest follows', async (length, start, read) => {
  const { body, state } = bodyOf('one ', 'two ', 'three');
  const split = await readHead(body, length);
  expect([split.head.toString(), state.read]).toEqual([start, read]);
  expect(await text(joinBody(split))).toBe('one two three');
  expect(state.isClosed).toBe(true);
});

test('a body is closed if the loop ends early', async () => {
  const { body, state } = bodyOf('one ', 'two ', 'three');
  for await (const _ of joinBody(await readHead(body, 1))) break;
  expect(state).toEqual({ read: 1, isClosed: true });
});
