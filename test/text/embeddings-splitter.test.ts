import { expect, test } from 'vitest';
import { ResponseSplitter } from '../../server/providers/embeddings/splitter.ts';

const items = [
  { embedding: [0.5, -1e-7], note: 'a "quoted" ] and } \\' },
  { embedding: 'AAAA', inner: { data: [[1], { a: '[' }] } },
  {},
];
const outline = {
  object: 'list',
  'x"data"': { data: [1] },
  usage: { prompt_tokens: 3 },
  model: 'größe — 模型',
};
const responses = [
  JSON.stringify({ ...outline, data: items }),
  JSON.stringify({ data: items, ...outline }),
  JSON.stringify({ ...outline, data: items }, null, 2),
];

const split = (chunks: readonly Buffer[]) => {
  const splitter = new ResponseSplitter();
  const found = chunks.flatMap((chunk) => splitter.write(chunk)).map((item) => JSON.parse(item.toString()));
  return { found, rest: splitter.end() };
};

test.each(responses)('splits a response with any chunk boundaries: %s', (response) => {
  const bytes = Buffer.from(response);
  const expected = { found: items, rest: { ...outline, data: [] } };
  for (let at = 0; at <= bytes.length; at += 1)
    expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
  const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  expect(split(single)).toEqual(expected);
});

test('rejects an incomplete response', () => {
  const bytes = Buffer.from(responses[0] ?? '');
  for (let at = 0; at < bytes.length; at += 1) expect(() => split([bytes.subarray(0, at)])).toThrow();
});
