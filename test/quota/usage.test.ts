import { describe, expect, test } from 'vitest';
import {
  countCharacters,
  isPlausible,
  maxBillingCharacters,
  maxSpeechUsage,
  price,
} from '../../server/models/usage.ts';

describe('countCharacters', () => {
  test.each([
    ['', 0],
    ['Hello, world', 12],
    ['你好', 4],
    ['你好, world!', 12],
    ['𠀀𪜶𰀀', 6], // extension blocks, each a surrogate pair
    ['豈', 2], // a compatibility ideograph
    ['😀', 1], // one code point
    ['e\u0301', 2], // a letter and a combining mark
    ['，。', 2], // punctuation is not an ideograph
    ['東京タワー', 4 + 3],
    ['한국', 2],
  ])('%j counts %i', (text, expected) => {
    expect(countCharacters(text)).toBe(expected);
  });

  test.each([
    ['東京タワー', 10],
    ['ひらがな', 8],
    ['한국', 4],
    ['abc', 3],
  ])('%j counts %i with eastAsian', (text, expected) => {
    expect(countCharacters(text, { eastAsian: true })).toBe(expected);
  });

  test.each([
    ['<speak>你好</speak>', 4],
    ['<speak><break time="1s"/>hi</speak>', 2],
    ['<say-as note="a > b">hi</say-as>', 2],
    ["<say-as note='a > b'>hi</say-as>", 2],
    ["a<!-- don't > count -->b", 2],
    ['1 < 2', 5],
    ['a <unclosed', 11],
    ['<!-- unclosed', 13],
  ])('%j counts %i as SSML', (text, expected) => {
    expect(countCharacters(text, { ssml: true })).toBe(expected);
  });

  test('tags are text unless it is SSML', () => {
    expect(countCharacters('<b>hi</b>')).toBe(9);
  });
});

describe('maxBillingCharacters', () => {
  test.each([
    ['', 0],
    ['Hello, world', 12],
    ['こんにちは', 10],
    ['東京タワー', 10],
    ['한국어', 6],
    ['ᄀ', 2], // a Hangul letter
    ['你好，世界。', 12],
    ['「」・〜　！？', 14], // wide and fullwidth punctuation
    ['ﾀﾜ', 4], // halfwidth kana, which some providers count twice
    ['𠀀😀𝒜', 6], // two code units each
    ['⌚⭐', 4], // wide emoji of the BMP
    ['é“”…–€', 6], // ambiguous width
    ['e\u0301', 2],
    ['ไทย עברית Ελλ', 13],
  ])('%j is at most %i', (text, expected) => {
    expect(maxBillingCharacters(text)).toBe(expected);
  });

  test('is never below the count of the gateway or the number of code units beyond the BMP', () => {
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      if (code >= 0xd8_00 && code < 0xe0_00) continue;
      const character = String.fromCodePoint(code);
      const least = Math.max(character.length, countCharacters(character, { eastAsian: true }));
      if (maxBillingCharacters(character) < least) expect.fail(`U+${code.toString(16)}`);
    }
  });

  test('tags of SSML count nothing', () => {
    expect(maxBillingCharacters('<speak>こん<break time="1s"/></speak>', { ssml: true })).toBe(4);
    expect(maxSpeechUsage('characters', '<b>あ</b>', { ssml: true })).toEqual({
      units: 2,
      maxOutputTokens: 0,
    });
    expect(maxSpeechUsage('characters', '<b>あ</b>')).toEqual({ units: 9, maxOutputTokens: 0 });
  });

  test('a report is plausible up to four times the upper bound', () => {
    expect([0, 10, 40].map((units) => isPlausible(units, 10))).toEqual([true, true, true]);
    expect([41, 40.001, -1, Number.NaN, Infinity].map((units) => isPlausible(units, 10))).not.toContain(true);
  });
});

describe('price', () => {
  test.each([
    [0, 2, 1, 0],
    [10, 2, 1, 20],
    [10, 2, 2.5, 50],
    [1, 0.001, 1, 1],
    [3, 0.5, 1, 2],
    [100, 1.1, 1.1, 121],
    [30, 0.1, 1, 3],
    [1, 1e-20, 1, 1],
    [5, 0, 3, 0],
  ])('%d units at %d × %d cost %i', (units, pricePerUnit, ratio, expected) => {
    expect(price(units, pricePerUnit, ratio)).toBe(expected);
  });

  test.each([
    [Number.NaN, 1, 1],
    [1, Number.NaN, 1],
    [1, 1, Number.NaN],
    [-1, 1, 1],
    [1, -1, 1],
    [1, 1, -1],
    [Number.POSITIVE_INFINITY, 1, 1],
    [2 ** 53, 1, 1],
    [1e300, 1e300, 0],
  ])('%d, %d, %d has no price', (units, pricePerUnit, ratio) => {
    expect(() => price(units, pricePerUnit, ratio)).toThrow(RangeError);
  });
});
