import { expect, test } from 'vitest';
import { embeddingTokens, messageTokens } from '../../server/models/text-tokens.ts';

const said = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const most = (content: unknown, maxTokens = 0) => messageTokens(said(content), maxTokens).most;

test('a text is reserved with one token per byte, including field names', () => {
  const empty = most('');
  expect(most('größe') - empty).toBe(7);
  expect(most('Hi', 100) - empty).toBe(102);
  expect(most([{ type: 'text', text: 'Hi' }])).toBeGreaterThan(empty + 2);
  const system = { ...said(''), system: 'Be brief.' };
  expect(messageTokens(system).most - empty).toBe(9);
  expect(embeddingTokens(['Hi', 'größe']).most).toBe(2 + 7 + 2 * 8);
  expect(embeddingTokens([[1, 2, 3], [4]]).most).toBe(4 + 2 * 8);
});

test('the likely tokens are a quarter of the maximum', () => {
  expect(embeddingTokens('a'.repeat(400)).likely).toEqual({ units: 100, inputTokens: 100, outputTokens: 0 });
  expect(messageTokens(said('a'.repeat(4_000))).likely.inputTokens).toBeGreaterThanOrEqual(1_000);
  expect(messageTokens(said('a'.repeat(4_000))).likely.inputTokens).toBeLessThan(1_010);
});

test('an image counts as the largest, a file by its length or as a long one', () => {
  const data = 'A'.repeat(400_000);
  const held = (type: string, source: object) => most([{ type, source }]) - most([{ type }]);
  const between = (low: number, high: number, tokens: number) => {
    expect(tokens).toBeGreaterThanOrEqual(low);
    expect(tokens).toBeLessThan(high);
  };
  between(5_000, 5_100, held('image', { type: 'base64', media_type: 'image/png', data }));
  between(5_000, 5_100, held('image', { type: 'url', url: 'https://files.example/a.png' }));
  between(400_000, 400_100, held('document', { type: 'base64', media_type: 'application/pdf', data }));
  between(100_000, 100_100, held('document', { type: 'url', url: 'https://files.example/a.pdf' }));
  between(400_000, 400_100, held('document', { type: 'text', media_type: 'text/plain', data }));
});

test('tools are reserved with their prompt and the input that they add', () => {
  const withTool = (tool: { type?: string }) =>
    messageTokens({ ...said('Hi'), tools: [tool] }).most - most('Hi');
  expect(withTool({})).toBeLessThan(1_100);
  expect(withTool({ type: 'memory_20250818' })).toBeLessThan(1_100);
  expect(withTool({ type: 'web_search_20260318' })).toBeGreaterThan(100_000);
});
