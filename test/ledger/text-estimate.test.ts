import { describe, expect, test } from 'vitest';
import { estimateSpeechTokens, TextEstimate } from '../../server/ledger/usage.ts';

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

  test('takes the tokens of the whole, however it is cut', () => {
    const text = 'A sentence that takes rather more than a second to be spoken, with 早 in it.';
    const estimate = new TextEstimate('tokens', { eastAsian: true });
    expect(estimate.units).toBe(0);
    for (const word of text.split(/(?<= )/)) estimate.add(word);
    expect(estimate.units).toBe(estimateSpeechTokens(text));
  });

  test('takes the least price for each piece that is spoken on its own', () => {
    const estimate = new TextEstimate('tokens');
    for (let piece = 0; piece < 4; piece += 1) {
      estimate.add('a');
      estimate.cut();
    }
    estimate.add('a');
    expect(estimate.units).toBe(Math.ceil(5 / 4) + 5 * 50);
  });
});
