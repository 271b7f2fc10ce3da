import { describe, expect, test, vi } from 'vitest';
import { publicEmbeddings } from '../../server/providers/embeddings/response.ts';
import { inChunks } from '../support/in-chunks.ts';

const item = (index: number) => ({ object: 'embedding', index, embedding: [index, 0.5] });
const answer = (count: number) =>
  JSON.stringify({
    data: Array.from({ length: count }, (_, index) => ({ ...item(index), note: 'a "]}" of theirs' })),
    usage: { prompt_tokens: 6 },
  });

const likely = { units: 2, inputTokens: 2, outputTokens: 0 };
const asked = { model: 'own', count: 3, encoding: 'float', likely } as const;

describe.each([1, 7, 100, 65_536])('a response in chunks of %i bytes', (size) => {
  test('is unchanged, and its last chunk waits for the settlement', async () => {
    const finish = vi.fn(() => Promise.resolve());
    let text = '';
    for await (const chunk of publicEmbeddings(inChunks(answer(3), size), asked, finish)) {
      expect(finish).toHaveBeenCalledTimes(chunk.includes('"usage"') ? 1 : 0);
      text += chunk.toString();
    }
    expect(finish).toHaveBeenCalledWith({ units: 6, inputTokens: 6, outputTokens: 0 });
    expect(JSON.parse(text)).toMatchObject({ object: 'list', data: [0, 1, 2].map(item), model: 'own' });
  });

  test.each([
    ['a number between them', '7,'],
    ['half of one', '{"index":1,"embedding":[1,},'],
  ])('is invalid with %s', async (_, between) => {
    const text = answer(3).replace('{"object":"embedding","index":1', `${between}$&`);
    const reading = (async () => {
      for await (const _ of publicEmbeddings(inChunks(text, size), asked, async () => {})) continue;
    })();
    await expect(reading).rejects.toMatchObject({ status: 502, code: 'bad_response' });
  });

  test('yields no additional vectors', async () => {
    const finish = vi.fn();
    let text = '';
    const reading = (async () => {
      for await (const chunk of publicEmbeddings(inChunks(answer(5), size), asked, finish))
        text += chunk.toString();
    })();
    await expect(reading).rejects.toMatchObject({ status: 502, code: 'bad_response' });
    expect(text).not.toContain('"index":3');
    expect(finish).not.toHaveBeenCalled();
  });
});
