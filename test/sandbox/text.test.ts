import { describe, expect, test } from 'vitest';
import { countAudioTokens, countCharacters, countTextTokens } from '../../server/sandbox/billing.ts';
import { chooseLanguage } from '../../server/sandbox/language.ts';
import { prosodyFromInstructions } from '../../server/sandbox/prosody.ts';
import { splitSentences, splitText, stripSsml, sumPauses } from '../../server/sandbox/sentences.ts';
import { TextBuffer } from '../../server/sandbox/sockets/text-buffer.ts';
import { findTriggers } from '../../server/sandbox/triggers.ts';

describe('billing', () => {
  test.each([
    ['hello', 5],
    ['你好', 4],
    ['你好, world', 11],
    ['東京タワー', 7],
    ['한국어 漢字', 8],
    ['😀', 1],
    ['', 0],
  ])('counts the characters of %s', (text, count) => {
    expect(countCharacters(text)).toBe(count);
  });

  test('counts tokens', () => {
    expect([countTextTokens('abcd'), countTextTokens('abcde'), countTextTokens('你好')]).toEqual([1, 2, 2]);
    expect([countAudioTokens(0.1), countAudioTokens(1), countAudioTokens(2.01)]).toEqual([50, 50, 101]);
  });
});

describe('sentences', () => {
  test.each([
    ['One. Two! Three?', ['One. ', 'Two! ', 'Three?']],
    ['你好。再见！', ['你好。', '再见！']],
    ['Only one', ['Only one']],
    ['\n\nFirst.\n\n\nSecond.\n', ['\n\nFirst.\n\n\n', 'Second.\n']],
  ])('splits %j', (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  test.each(['word '.repeat(2000), 'x'.repeat(5000), '字'.repeat(5000), '😀'.repeat(2000), ' '.repeat(3000)])(
    'splits long text without losing characters',
    (text) => {
      const pieces = splitSentences(text);
      expect(pieces.join('')).toBe(text);
      if (text.trim() !== '')
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(241);
    },
  );
});

describe('text that arrives in chunks', () => {
  test.each<[string[], string[]]>([
    [
      ['Good ', 'day.', ' Go well'],
      ['', 'Good day.', ''],
    ],
    [['One. Two. Thr'], ['One. Two. ']],
    [
      ['你好。', '再见'],
      ['你好。', ''],
    ],
    [
      ['It costs 3.', '50 euros.'],
      ['', 'It costs 3.50 euros.'],
    ],
    [
      ['He said "Hi."', ' And left'],
      ['He said "Hi."', ''],
    ],
    [
      ['...', ' ', 'Well.'],
      ['', '', '... Well.'],
    ],
    [
      ['Line\n', 'next'],
      ['Line\n', ''],
    ],
    [
      ['Wait. [[dr', 'op]]', ' Now.'],
      ['', 'Wait. [[drop]]', ' Now.'],
    ],
    [['Stop. [[drop]]'], ['Stop. [[drop]]']],
    [['[[slow]]'], ['']],
    [[' \n'], ['']],
  ])('%j returns complete sentences', (pieces, sentences) => {
    const buffer = new TextBuffer();
    const sentencesRead = pieces.map((piece) => {
      buffer.append(piece);
      return buffer.readSentences();
    });
    expect(sentencesRead).toEqual(sentences);
    expect(sentencesRead.join('') + buffer.readAll()).toBe(pieces.join(''));
    expect([buffer.length, buffer.isBlank]).toEqual([0, true]);
  });

  test('a sentence without an end is returned in parts', () => {
    const buffer = new TextBuffer();
    let taken = '';
    for (let count = 0; count < 500; count++) {
      buffer.append('word ');
      taken += buffer.readSentences();
      expect(buffer.length).toBeLessThan(300);
    }
    expect(taken + buffer.readAll()).toBe('word '.repeat(500));
  });
});

describe('splitText', () => {
  test('replaces unspoken characters with spaces, so that positions do not change', () => {
    const [first, second, ...more] = splitText('Wait [[slow]] here.<#1.25#> (laughs) Go.', {
      pauses: true,
      interjections: true,
    });
    expect(first).toEqual({
      text: 'Wait [[slow]] here.<#1.25#>',
      spoken: 'Wait          here.        ',
      pause: 1250,
    });
    expect(second).toEqual({ text: ' (laughs) Go.', spoken: '          Go.', pause: 0 });
    expect(more).toEqual([]);
  });

  test('sums up pauses', () => {
    expect(sumPauses('a<#2#>b<#0.5#>c<#x#>')).toBe(2.5);
  });

  test('strips SSML', () => {
    expect(stripSsml('<speak>a &lt;b&gt; <break time="1s"/>c &amp;lt; <w')).toBe('a <b> c &lt; <w');
  });
});

test('finds triggers', () => {
  expect(findTriggers('[[slow]] x [[base-resp:1002]] [[nothing]] [reject]')).toEqual(
    new Map([
      ['slow', undefined],
      ['base-resp', 1002],
    ]),
  );
});

test.each([
  ['Hello', undefined, 'en'],
  ['你好', undefined, 'zh'],
  ['こんにちは世界', undefined, 'ja'],
  ['안녕', undefined, 'ko'],
  ['Привет', undefined, 'ru'],
  ['Guten Tag', 'de', 'de'],
  ['你好', 'en', 'zh'],
  ['日本', 'ja', 'ja'],
] as const)('%s requested in %s is spoken in %s', (text, asked, spoken) => {
  expect(chooseLanguage(text, asked)).toBe(spoken);
});

test.each([
  ['Speak slowly', { rate: 0.75 }],
  ['a slow flow', { rate: 0.75, pitch: 1 }],
  ['LOW and loud', { pitch: 0.8, volume: 1.6 }],
  ['兴奋', { rate: 1.15 }],
  ['whisper it', { whisper: true }],
  ['', { rate: 1, pitch: 1, volume: 1, range: 1, whisper: false }],
])('recognizes the instructions %j', (instructions, delivery) => {
  expect(prosodyFromInstructions(instructions)).toMatchObject(delivery);
});
