import { describe, expect, test } from 'vitest';
import { maxSpeechUsage } from '../../server/models/usage.ts';
import { SpokenText } from '../../server/quota/spoken-text.ts';

const characters = (units: number) => ({ units, inputTokens: 0, outputTokens: 0 });
const tokens = (inputTokens: number, outputTokens: number) => ({
  units: inputTokens + outputTokens,
  inputTokens,
  outputTokens,
});

describe('unreported usage in characters', () => {
  const spokenOf = (...texts: string[]) => {
    const spoken = new SpokenText('characters');
    for (const text of texts) spoken.add(text);
    return spoken;
  };

  test('is zero without audio', () => {
    expect(spokenOf('Hello there.').unreported).toEqual(characters(0));
  });

  test('covers the whole sentence that has started', () => {
    const spoken = spokenOf('One two. Three four! Five?', ' 六七。八');
    for (const [seconds, spokenUnits] of [
      [0.01, 9],
      [0.7, 9],
      [0.1, 21],
      [1, 26],
      [0.5, 32],
      [100, 34],
      [100, 34],
    ] as const) {
      spoken.addAudio(seconds);
      expect(spoken.unreported).toEqual(characters(spokenUnits));
    }
  });

  test('covers a chunk without a sentence end', () => {
    const spoken = spokenOf('Good ', 'morning');
    spoken.addAudio(0.1);
    expect(spoken.unreported.units).toBe(5);
    spoken.addAudio(0.5);
    expect(spoken.unreported.units).toBe(12);
  });

  test('starts after the last report', () => {
    const spoken = spokenOf('One two. ', 'Three four. ', 'Five.');
    spoken.addAudio(1);
    spoken.report(characters(9));
    expect(spoken.unreported.units).toBe(0);
    spoken.addAudio(0.1);
    expect(spoken.unreported.units).toBe(12);
    // The provider did not count a space. The report still ends at the second sentence.
    spoken.report(characters(20));
    spoken.addAudio(0.01);
    expect(spoken.unreported.units).toBe(5);
    spoken.report(characters(25));
    spoken.addAudio(9);
    expect(spoken.unreported.units).toBe(0);
  });

  test('does not exceed the sent text, including the report', () => {
    const spoken = spokenOf('x'.repeat(12));
    spoken.addAudio(1);
    spoken.report(characters(5));
    spoken.addAudio(9);
    expect(spoken.unreported.units).toBe(7);
  });

  test('is positive when the provider counts higher', () => {
    const spoken = spokenOf('Hello.');
    spoken.addAudio(1);
    spoken.report(characters(60));
    expect(spoken.unreported.units).toBe(0);
    spoken.add('Again.');
    spoken.addAudio(1);
    expect(spoken.unreported.units).toBe(6);
  });

  test('is the text that the provider names before its audio', () => {
    const spoken = spokenOf('One two. Three four. Five six seven.');
    spoken.announce('One two. ');
    expect(spoken.unreported.units).toBe(0);
    spoken.addAudio(99);
    spoken.addAudio(99);
    expect(spoken.unreported.units).toBe(9);
    spoken.announce('Three four. ');
    spoken.addAudio(0.01);
    expect(spoken.unreported.units).toBe(21);
    spoken.announce(undefined);
    spoken.addAudio(0.01);
    expect(spoken.unreported.units).toBe(36);
  });

  test('is the text that the provider names after its audio', () => {
    const spoken = spokenOf('One two. Three four. Five six seven.');
    spoken.addAudio(99);
    spoken.attribute('One two. ');
    expect(spoken.unreported.units).toBe(9);
    spoken.attribute('x'.repeat(1000));
    expect(spoken.unreported.units).toBe(36);
  });

  test('is all committed text after completion', () => {
    const spoken = spokenOf('One two. ');
    spoken.commit();
    spoken.add('Three.');
    spoken.complete();
    expect(spoken.unreported.units).toBe(9);
  });

  test('excludes cleared text', () => {
    const spoken = spokenOf('One two. ');
    spoken.commit();
    spoken.add('x'.repeat(1000));
    spoken.clear();
    spoken.add('Three.');
    spoken.addAudio(0.1);
    expect(spoken.unreported.units).toBe(9);
    spoken.report(characters(9));
    spoken.addAudio(9);
    expect(spoken.unreported.units).toBe(6);
  });

  test('is zero after it is discarded', () => {
    const spoken = spokenOf('One two. ');
    spoken.addAudio(9);
    spoken.discardUnreported();
    expect(spoken.unreported.units).toBe(0);
  });

  test('is exact to a sentence again after a report of many sentences', () => {
    const spoken = spokenOf(...Array.from({ length: 5_000 }, () => 'a.'));
    spoken.report(characters(10_000));
    for (const text of ['Hi. ', 'Yes. ', 'No.']) spoken.add(text);
    spoken.addAudio(0.01);
    expect(spoken.unreported.units).toBe(4);
  });

  test('does not count SSML tags', () => {
    const spoken = new SpokenText('characters', { ssml: true });
    spoken.add('<speak>a.<break time="1.5s"/>b</speak>');
    spoken.addAudio(0.01);
    expect(spoken.unreported.units).toBe(3);
  });

  test('is approximate with very many small texts', () => {
    const spoken = spokenOf(...Array.from({ length: 100_000 }, () => 'a.'));
    spoken.addAudio(10);
    expect(spoken.unreported.units).toBeGreaterThanOrEqual(120);
    expect(spoken.unreported.units).toBeLessThan(400);
    spoken.addAudio(1e9);
    expect(spoken.unreported.units).toBe(200_000);
  });
});

describe('unreported usage in tokens', () => {
  test('counts the bytes of the text and the seconds of audio', () => {
    const spoken = new SpokenText('tokens');
    spoken.add('Twelve bytes');
    expect(spoken.unreported).toEqual(tokens(0, 0));
    spoken.addAudio(0.2);
    expect(spoken.unreported).toEqual(tokens(3, 50));
    spoken.addAudio(1.3);
    expect(spoken.unreported).toEqual(tokens(3, 75));
    spoken.report(tokens(3, 60));
    expect(spoken.unreported).toEqual(tokens(0, 0));
    spoken.add('早上好。');
    spoken.addAudio(2);
    expect(spoken.unreported).toEqual(tokens(3, 100));
  });
});

describe('the upper bound with one more text', () => {
  test('in characters: adds to the sent text or to the report', () => {
    const spoken = new SpokenText('characters');
    expect(spoken.boundWith('Hello.').units).toBe(6);
    spoken.add('Hello.');
    expect(spoken.boundWith('Bye.').units).toBe(10);
    spoken.report(characters(20));
    expect(spoken.boundWith('Bye.', characters(20)).units).toBe(24);
    spoken.add('Bye.');
    expect([spoken.boundWith('', characters(20)).units, spoken.bound.units]).toEqual([20, 10]);
    // Up to four times the upper bound is plausible.
    expect([spoken.boundWith('', characters(40)).units, spoken.boundWith('', characters(41)).units]).toEqual([
      40, 10,
    ]);
  });

  test('in characters: counts wide characters as 2', () => {
    const spoken = new SpokenText('characters');
    expect(spoken.boundWith('こんにちは').units).toBe(10);
    spoken.add('こんにちは');
    expect([spoken.boundWith('。').units, spoken.bound.units]).toEqual([12, 10]);
    spoken.commit();
    spoken.addAudio(1);
    spoken.complete();
    expect(spoken.unreported).toEqual(characters(5));
    // Cleared text does not count.
    spoken.add('さようなら');
    spoken.clear();
    expect(spoken.bound.units).toBe(10);
  });

  test('in tokens: adds the bound of the unreported text to the report', () => {
    const spoken = new SpokenText('tokens');
    const [hello, bye] = ['Hello. It is me.', 'Bye. It was me.'];
    const [ofHello, ofBye] = [maxSpeechUsage('tokens', hello), maxSpeechUsage('tokens', bye)];
    const bound = (...parts: { units: number; maxOutputTokens: number }[]) => ({
      units: parts.reduce((sum, { units }) => sum + units, 0),
      maxOutputTokens: parts.reduce((sum, part) => sum + part.maxOutputTokens, 0),
    });
    const reported = (input: number, maxOutputTokens: number) => ({
      units: input + maxOutputTokens,
      maxOutputTokens,
    });
    spoken.add(hello);
    expect(spoken.boundWith(bye)).toEqual(bound(ofHello, ofBye));
    // A part of a text may still use all of its reserved units.
    spoken.report(tokens(2, 60));
    expect(spoken.boundWith(bye, tokens(2, 60))).toEqual(bound(reported(2, 60), ofHello, ofBye));
    spoken.report(tokens(4, 120));
    expect(spoken.boundWith(bye, tokens(4, 120))).toEqual(bound(reported(4, 120), ofBye));
    // A text that lacks a whole token is not covered yet.
    const other = new SpokenText('tokens');
    other.add(hello);
    other.report(tokens(3, 60));
    expect(other.boundWith(bye, tokens(3, 60))).toEqual(bound(reported(3, 60), ofHello, ofBye));
  });
});

describe('between reports', () => {
  const first = 'First one here. ';
  const second = 'Then the second. ';
  const third = 'And at last the third one.';
  const usage = (units: number) => ({ units, inputTokens: units, outputTokens: 0 });
  const spokenOf = (...texts: string[]) => {
    const text = new SpokenText('characters');
    for (const one of texts) text.add(one);
    text.commit();
    return text;
  };

  test('a report of several sentences covers them all', () => {
    const text = spokenOf(first, second, third);
    text.report(usage(33));
    text.addAudio(0.1);
    expect(text.unreported.units).toBe(26);
  });

  test('a report in the middle of a sentence covers none of it', () => {
    const text = spokenOf(first, second, third);
    text.report(usage(8));
    text.addAudio(0.1);
    expect(text.unreported.units).toBe(16);
  });

  test('a sentence ends with its last spoken character', () => {
    const text = spokenOf(first, second, third);
    text.addAudio(16 / 12);
    expect(text.unreported.units).toBe(16);
    text.addAudio(0.1);
    expect(text.unreported.units).toBe(33);
  });

  test('leading punctuation is one part', () => {
    const text = spokenOf('!!! Hi.');
    text.addAudio(0.05);
    expect(text.unreported.units).toBe(4);
  });

  test('completion covers the text committed since the report, and no later text', () => {
    const text = spokenOf(first);
    text.report(usage(16));
    text.add(second);
    text.commit();
    text.add(third);
    text.complete();
    expect(text.unreported.units).toBe(17);
  });

  test('clear keeps reported text that was not committed', () => {
    const text = spokenOf(first);
    text.add(second);
    text.report(usage(33));
    text.clear();
    text.addAudio(60);
    expect(text.unreported.units).toBe(0);
  });

  describe('in tokens', () => {
    const tokens = (...texts: string[]) => {
      const text = new SpokenText('tokens');
      for (const one of texts) text.add(one);
      text.commit();
      return text;
    };

    test('a second of audio speaks three text tokens', () => {
      const text = tokens(first, second, third);
      text.addAudio(1);
      expect(text.unreported.inputTokens).toBe(4);
    });

    test('cleared text is not spoken', () => {
      const text = tokens(first);
      text.add(second);
      text.clear();
      text.addAudio(3);
      expect(text.unreported.inputTokens).toBe(4);
    });

    test('audio after all text was reported costs its own tokens', () => {
      const text = tokens(first);
      text.report({ units: 4, inputTokens: 4, outputTokens: 0 });
      expect(text.unreported).toEqual({ units: 0, inputTokens: 0, outputTokens: 0 });
      text.addAudio(1);
      const { inputTokens, outputTokens, units } = text.unreported;
      expect([inputTokens, outputTokens > 0, units]).toEqual([0, true, outputTokens]);
    });
  });
});
