import { describe, expect, test } from 'vitest';
import { UsageWatch } from '../../server/providers/native/usage.ts';

const event = (data: object, type = 'result') =>
  `id:1\nevent:${type}\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`;
const audio = (length: number, characters?: number) =>
  event({
    output: { audio: { data: 'A'.repeat(length) } },
    ...(characters === undefined ? {} : { usage: { characters } }),
  });

const watch = (text: string, size: number) => {
  const seen = new UsageWatch('characters');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) seen.push(bytes.subarray(at, at + size));
  return { units: seen.usage?.units, audio: seen.audioSeen, failed: seen.failed };
};

describe.each([1, 7, 100, 1000, 65536])('in pieces of %i bytes', (size) => {
  test('the last report counts, wherever it is cut', () => {
    const text =
      audio(3000, 3) + audio(2000) + audio(5000, 12) + event({ output: {}, usage: { characters: 20 } });
    expect(watch(text, size)).toEqual({ units: 20, audio: true, failed: false });
  });

  test('a report before some events that tell nothing is kept', () => {
    expect(watch(audio(900, 7) + audio(900) + audio(900), size)).toMatchObject({ units: 7 });
  });

  test('JSON without a line feed is read at its end', () => {
    const text = JSON.stringify({ output: { audio: { data: '' } }, usage: { characters: 9 } });
    expect(watch(text, size)).toEqual({ units: 9, audio: false, failed: false });
  });

  test('a text that imitates a report or an error is only text', () => {
    const text = event({
      output: { original_text: '"usage":{"characters":0}\nevent:error\n' },
      usage: { characters: 5 },
    });
    expect(watch(text, size)).toMatchObject({ units: 5, failed: false });
  });

  test('an error at the end is seen', () => {
    expect(watch(audio(100) + event({ code: 'InternalError' }, 'error'), size).failed).toBe(true);
  });
});

test('a figure that no request can reach is no usage', () => {
  expect(watch(event({ usage: { characters: 1e15 } }), 100).units).toBeUndefined();
  expect(watch(event({ usage: { characters: -1 } }), 100).units).toBeUndefined();
});
