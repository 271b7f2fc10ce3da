import { describe, expect, test } from 'vitest';
import { maxSpeechSeconds } from '../../server/models/speech-time.ts';
import { likelySpeechTokens } from '../../server/models/usage.ts';

describe('the longest time to speak a text', () => {
  test.each([
    ['', 0.5],
    ['Hello', 0.5 + 5 * 0.4],
    ['www', 0.5 + 3 * 0.6],
    ['7!', 0.5 + 2],
    ['\n', 0.5 + 1],
    ['a b', 0.5 + 0.4 + 0.1 + 0.4],
    ['早こ안', 0.5 + 3 * 1.2],
    ['😀é', 0.5 + 2 * 2.8],
    ['\ud800', 0.5 + 2.8],
  ])('%j: %d seconds', (text, seconds) => {
    expect(maxSpeechSeconds(text)).toBeCloseTo(seconds);
  });

  test.each([
    [{ rate: 0.5 }, 2],
    [{ rate: 0.01 }, 2],
    [{ rate: 2 }, 1],
    [{ rate: 0 }, 1],
    [{ rate: Number.NaN }, 1],
    [{ rate: '0.5' }, 1],
    [{ instruction: 'slow' }, 2.5],
    [{ instruction: '' }, 1],
    [{ instruction: 'slow', rate: 0.5 }, 5],
  ])('%j stretches it %d times', (pace, factor) => {
    expect(maxSpeechSeconds('Hello', pace)).toBeCloseTo(maxSpeechSeconds('Hello') * factor);
  });
});

test('the likely usage is a token per 4 bytes, and 50 a second of audio with a minimum', () => {
  expect(likelySpeechTokens('Hi')).toEqual({ units: 51, inputTokens: 1, outputTokens: 50 });
  expect(likelySpeechTokens('x'.repeat(240))).toEqual({ units: 1060, inputTokens: 60, outputTokens: 1000 });
  expect(likelySpeechTokens('早'.repeat(80))).toEqual({ units: 1060, inputTokens: 60, outputTokens: 1000 });
});
