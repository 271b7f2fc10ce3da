import { describe, expect, test } from 'vitest';
import { longestSpeech } from '../../server/ledger/speech-time.ts';
import { mostSpeechTokens, TextEstimate } from '../../server/ledger/usage.ts';

describe('a text that comes bit by bit', () => {
  test('has as many characters as its bits', () => {
    const estimate = new TextEstimate('characters');
    expect(estimate.units).toBe(0);
    estimate.add('Good ');
    estimate.add('早안');
    expect(estimate.units).toBe(5 + 2 + 1);
  });

  test('counts as it is told', () => {
    const wide = new TextEstimate('characters', { eastAsian: true });
    wide.add('早안');
    expect(wide.units).toBe(4);
    const ssml = new TextEstimate('characters', { ssml: true });
    ssml.add('<speak>hi</speak>');
    expect(ssml.units).toBe(2);
  });

  test('takes in tokens what each bit may take on its own', () => {
    const estimate = new TextEstimate('tokens');
    estimate.add('');
    estimate.cut();
    expect(estimate.units).toBe(0);
    estimate.add('Good ');
    estimate.add('早');
    expect(estimate.units).toBe(mostSpeechTokens('Good ') + mostSpeechTokens('早'));
  });

  test('takes the least price once more where it is cut, for what is left then', () => {
    const estimate = new TextEstimate('tokens');
    estimate.add('a');
    estimate.cut();
    expect(estimate.units).toBe(mostSpeechTokens('a') + 51);
  });
});

describe('the longest that a text takes to be spoken', () => {
  test.each([
    ['', 0.5],
    ['Hello', 0.5 + 5 * 0.4],
    ['www', 0.5 + 3 * 0.6],
    ['7!', 0.5 + 2],
    ['a b', 0.5 + 0.4 + 0.1 + 0.4],
    ['早こ안', 0.5 + 3 * 1.2],
    ['😀é', 0.5 + 2 * 2.8],
    ['\ud800', 0.5 + 2.8],
  ])('%j: %d seconds', (text, seconds) => {
    expect(longestSpeech(text)).toBeCloseTo(seconds);
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
    expect(longestSpeech('Hello', pace)).toBeCloseTo(longestSpeech('Hello') * factor);
  });
});
