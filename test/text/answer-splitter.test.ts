import { expect, test } from 'vitest';
import { AnswerSplitter } from '../../server/providers/embeddings/answer-splitter.ts';

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
const answers = [
  JSON.stringify({ ...outline, data: items }),
  JSON.stringify({ data: items, ...outline }),
  JSON.stringify({ ...outline, data: items }, null, 2),
];

const split = (pieces: readonly Buffer[]) => {
  const splitter = new AnswerSplitter();
  const found = pieces.flatMap((piece) => splitter.take(piece)).map((item) => JSON.parse(item.toString()));
  return { found, rest: splitter.end() };
};

test.each(answers)('takes an answer apart wherever it is cut: %s', (answer) => {
  const bytes = Buffer.from(answer);
  const expected = { found: items, rest: { ...outline, data: [] } };
  for (let at = 0; at <= bytes.length; at += 1)
    expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
  const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  expect(split(single)).toEqual(expected);
});

test('takes no answer that ends too early', () => {
  const bytes = Buffer.from(answers[0] ?? '');
  for (let at = 0; at < bytes.length; at += 1) expect(() => split([bytes.subarray(0, at)])).toThrow();
});
