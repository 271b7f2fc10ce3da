import { expect, test } from 'vitest';
import { joinBody, readHead } from '../../server/providers/native/split-body.ts';

/** A body of these pieces, which tells how many were taken, and whether it was let go. */
function bodyOf(...pieces: string[]) {
  const told = { taken: 0, over: false };
  async function* body() {
    try {
      for (const piece of pieces) {
        told.taken += 1;
        yield Buffer.from(piece);
      }
    } finally {
      told.over = true;
    }
  }
  return { body: body(), told };
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
])('a head of %i bytes is %j, and the rest follows', async (length, begins, taken) => {
  const { body, told } = bodyOf('one ', 'two ', 'three');
  const split = await readHead(body, length);
  expect([split.head.toString(), told.taken]).toEqual([begins, taken]);
  expect(await text(joinBody(split))).toBe('one two three');
  expect(told.over).toBe(true);
});

test('a body that is left early is let go', async () => {
  const { body, told } = bodyOf('one ', 'two ', 'three');
  for await (const _ of joinBody(await readHead(body, 1))) break;
  expect(told).toEqual({ taken: 1, over: true });
});
