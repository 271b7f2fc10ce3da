import { describe, expect, test } from 'vitest';
import { createBars } from '../../server/sandbox/media/music/form.ts';
import { parseLyrics } from '../../server/sandbox/media/music/lyrics.ts';
import { chooseSound } from '../../server/sandbox/media/music/sound.ts';
import { styles } from '../../server/sandbox/media/music/styles.ts';
import { createTitle, writeLyrics } from '../../server/sandbox/music/lyrics-writer.ts';

const choose = (tags: string, change: { negativeTags?: string; description?: string } = {}) =>
  chooseSound({ tags, negativeTags: '', description: '', ...change }, 3);

describe('tags', () => {
  test('select a style by its name or by related words', () => {
    for (const { name, words } of styles)
      for (const word of [name, ...words])
        expect(choose(`Some ${word.toUpperCase()} music`).style).toBe(name);
  });

  test('take precedence over a description, and the first of several styles is used', () => {
    expect(choose('jazz', { description: 'a metal song' }).style).toBe('jazz');
    expect(choose('', { description: 'a metal song' }).style).toBe('metal');
    expect(choose('slow blues, folk').style).toBe('blues');
    expect(choose('popular rocket').style).not.toBe('pop');
  });

  test('without a known word select a style deterministically', () => {
    const words = ['zyx', 'wvu', 'tsr', 'qpo', 'nml', 'kji'];
    expect(words.map((word) => choose(word).style)).toEqual(words.map((word) => choose(word).style));
    expect(new Set(words.map((word) => choose(word).style)).size).toBeGreaterThan(2);
  });

  test('that are unwanted exclude a style and the drums', () => {
    expect(choose('rock, folk', { negativeTags: 'Rock' }).style).toBe('folk');
    expect(choose('rock').drums).toBe(true);
    expect(choose('rock', { negativeTags: 'drums' }).drums).toBe(false);
  });

  test('determine tempo, mode, voice and lead instrument', () => {
    const usual = choose('pop').tempo;
    expect(choose('slow pop').tempo).toBeLessThan(usual);
    expect(choose('fast pop').tempo).toBeGreaterThan(usual);
    expect(choose('pop, 97 bpm').tempo).toBe(97);
    expect(choose('pop, 999 bpm').tempo).toBe(220);
    expect([choose('dark pop').mode, choose('happy pop').mode]).toEqual(['minor', 'major']);
    expect([choose('female voice').voice, choose('male voice').voice]).toEqual(['female', 'male']);
    expect(choose('pop, violin').lead).toBe('violin');
  });
});

describe('lyrics', () => {
  test('are parsed into sections, lines and words without losing text', () => {
    const lyrics = '[Verse 1]\nHello, my river!\r\n\n(Chorus)\nOver the hill\n[Guitar solo]\n♪\n[Outro]\nBye';
    const sections = parseLyrics(lyrics);
    expect(sections.map(({ kind, lines }) => [kind, lines.map(({ words }) => words.length)])).toEqual([
      ['verse', [3]],
      ['chorus', [3]],
      ['solo', []],
      ['outro', [1]],
    ]);
    const words = sections.flatMap(({ lines }) => lines.flatMap((line) => line.words));
    expect(words.map(({ written }) => written).join('')).toBe(lyrics);
    expect(words.map(({ text }) => text)).toEqual(['Hello', 'my', 'river', 'Over', 'the', 'hill', 'Bye']);
  });

  test('in round brackets are sung, unless they name a section', () => {
    const counts = (lyrics: string) => parseLyrics(lyrics).map(({ kind, lines }) => [kind, lines.length]);
    expect(counts('(Pre-Chorus)\nLa\n(ooh, ooh)\n(Chorus 2)\nLa')).toEqual([
      ['verse', 2],
      ['chorus', 1],
    ]);
  });

  test('without spaces are split into words', () => {
    const words = parseLyrics('雨落在山上').flatMap(({ lines }) => lines.flatMap((line) => line.words));
    expect(words.length).toBeGreaterThan(2);
    expect(words.map(({ text }) => text).join('')).toBe('雨落在山上');
  });

  test('with one long line are split into phrases, as many as fit', () => {
    const lyrics = 'every single word belongs to somebody '.repeat(20);
    const plan = { title: '', lyrics, seconds: 20, seed: 1, weirdness: 0, startAt: 0, speechEngine: '' };
    const bars = createBars({ ...plan, sound: choose('pop, 120 bpm') });
    expect(bars.filter(({ words }) => words.length > 0).length).toBeGreaterThan(3);
    for (const { words } of bars)
      expect(words.reduce((most, { at, length }) => Math.max(most, at + length), 0)).toBeLessThanOrEqual(16);
    expect(bars.length).toBeLessThanOrEqual(13);
  });

  test('are generated from the words of a description, depending on the seed', () => {
    const first = writeLyrics('A song about the old harbour in winter', 1);
    expect(first.title).toBe('Old Harbour Winter');
    for (const word of ['old', 'harbour', 'winter', '[Verse 1]', '[Chorus]', '[Verse 2]'])
      expect(first.text).toContain(word);
    expect(writeLyrics('A song about the old harbour in winter', 1)).toEqual(first);
    const texts = [1, 2, 3, 4].map((seed) => writeLyrics('The old harbour', seed).text);
    expect(new Set(texts).size).toBeGreaterThan(1);
  });

  test('are generated for any description', () => {
    for (const description of ['', '!?', 'the of and', '雨', '$& $1', 'T 1 2 3'])
      expect(writeLyrics(description, 1).text).toMatch(/^\[Verse 1\]\n.+/);
    expect(createTitle('$& rain')).toBe('Rain');
  });
});
