import { beforeAll, describe, expect, test } from 'vitest';
import { type Family, families } from '../../server/sandbox/media/music/instruments/names.ts';
import { songRate } from '../../server/sandbox/media/music/instruments/tone.ts';
import { mixStem } from '../../server/sandbox/media/music/mix.ts';
import { toWav } from '../../server/sandbox/media/music/song-files.ts';
import type { SongPlan } from '../../server/sandbox/media/music/song-plan.ts';
import { chooseSound } from '../../server/sandbox/media/music/sound.ts';
import { type SynthesizedSong, synthesizeSong } from '../../server/sandbox/media/music/synthesize-song.ts';
import { espeakPackage } from '../../server/sandbox/speech/espeak.ts';
import { brightness, inspectWav, level } from '../sandbox/audio-inspection.ts';
import { beatStrength, pitchClasses } from './music-inspection.ts';

const lyrics = '[Verse]\nRain on the roof\n\n[Chorus]\nSunny again';

function planOf(tags: string, change: Partial<SongPlan> = {}): SongPlan {
  const sound = chooseSound({ tags, negativeTags: '', description: '' }, 5);
  const usual = { title: 'Roof', lyrics: '', seconds: 6, seed: 5, weirdness: 0.5, startAt: 0 };
  return { ...usual, sound, speechEngine: espeakPackage, ...change };
}

const wavOf = ({ tracks }: SynthesizedSong, name?: Family | 'Instrumental') =>
  inspectWav(Buffer.from(toWav(mixStem(tracks, name))));
const silence = (samples: Float32Array) => samples.every((sample) => sample === 0);

describe('two styles', () => {
  const plans = { metal: planOf('metal'), lullaby: planOf('lullaby') };
  const songs = {} as Record<keyof typeof plans, SynthesizedSong>;
  beforeAll(async () => {
    songs.metal = await synthesizeSong(plans.metal);
    songs.lullaby = await synthesizeSong(plans.lullaby);
  });

  test('have different tempos, which are audible', () => {
    const { metal, lullaby } = plans;
    expect(metal.sound.tempo).toBeGreaterThan(1.5 * lullaby.sound.tempo);
    for (const [name, other] of [
      ['metal', 'lullaby'],
      ['lullaby', 'metal'],
    ] as const) {
      const { samples } = wavOf(songs[name]);
      const own = beatStrength(samples, songRate, plans[name].sound.tempo);
      expect(own, name).toBeGreaterThan(beatStrength(samples, songRate, plans[other].sound.tempo) + 0.1);
    }
  });

  test('have keys whose notes are louder than other notes', async () => {
    for (const tonic of [2, 7]) {
      const sound = { ...plans.lullaby.sound, tonic };
      const { samples } = wavOf(await synthesizeSong({ ...plans.lullaby, sound, seconds: 4 }));
      const classes = pitchClasses(samples, songRate).map((power, index) => ({ power, index }));
      const loudest = classes.toSorted((first, second) => second.power - first.power).slice(0, 3);
      const scale = [0, 2, 4, 5, 7, 9, 11].map((step) => (tonic + step) % 12);
      expect(loudest.map(({ index }) => index)).toContain(tonic);
      for (const { index } of loudest) expect(scale).toContain(index);
    }
  });

  test('have different instruments and sound different', () => {
    expect(songs.metal.facts.families).toEqual(['Drums', 'Bass', 'Guitar']);
    expect(songs.lullaby.facts.families).toEqual(['Keyboard', 'Strings']);
    expect(brightness(wavOf(songs.metal))).toBeGreaterThan(1.5 * brightness(wavOf(songs.lullaby)));
  });
});

describe('a song with lyrics', () => {
  const plan = planOf('rock, 150 bpm', { lyrics });
  let song: SynthesizedSong;
  beforeAll(async () => {
    song = await synthesizeSong(plan);
  });

  test('is the sum of its stems, except for rounding', () => {
    const whole = wavOf(song).samples;
    for (const names of [['Vocals', 'Instrumental'], families] as const) {
      const stems = names.map((name) => wavOf(song, name).samples);
      let worst = 0;
      for (const [index, sample] of whole.entries()) {
        const sum = stems.reduce((total, stem) => total + (stem[index] ?? 0), 0);
        worst = Math.max(worst, Math.abs(sum - sample) * 32768);
      }
      expect(worst).toBeLessThanOrEqual((names.length + 1) / 2);
      expect(stems.filter((stem) => !silence(stem)).length).toBeGreaterThan(1);
    }
  });

  test('has a high level without clipping, as do its stems', () => {
    for (const name of [undefined, 'Instrumental', ...families] as const) {
      const { samples } = wavOf(song, name);
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      expect(peak).toBeLessThan(0.9);
      if (name === undefined) expect(peak).toBeGreaterThan(0.6);
    }
    expect(level(wavOf(song).samples)).toBeGreaterThan(0.05);
  });

  test('has vocals only at the times of its words', () => {
    const { samples } = wavOf(song, 'Vocals');
    const { words, unsung } = song.facts;
    expect(words.map(({ written }) => written).join('')).toBe(lyrics);
    expect(unsung).toBe(0);
    const loudness = (from: number, to: number) =>
      level(samples.subarray(Math.round(from * songRate), Math.round(to * songRate)));
    const sung = words.map(({ start, end }) => loudness(start, end));
    const [first] = words;
    expect(Math.min(...sung)).toBeGreaterThan(0.02);
    expect(loudness(0, first?.start ?? 0)).toBeLessThan(0.001);
    let gaps = 0;
    for (const [index, { end }] of words.entries()) {
      const next = words[index + 1]?.start ?? song.facts.seconds;
      expect(next).toBeGreaterThanOrEqual(end);
      if (next - end < 0.5) continue;
      gaps++;
      expect(loudness(end + 0.3, next)).toBeLessThan(Math.min(...sung) / 5);
    }
    expect(gaps).toBeGreaterThan(0);
  });

  test('is deterministic, and depends on the seed', async () => {
    const [again, other] = [await synthesizeSong(plan), await synthesizeSong({ ...plan, seed: 6 })];
    expect(Buffer.from(toWav(mixStem(again.tracks, undefined)))).toEqual(
      Buffer.from(toWav(mixStem(song.tracks, undefined))),
    );
    expect(level(wavOf(other).samples)).not.toBe(level(wavOf(song).samples));
  });

  test('contains as many lyrics as fit', async () => {
    const { facts } = await synthesizeSong({ ...plan, lyrics: `${lyrics}\n`.repeat(20), seconds: 4 });
    expect(facts.unsung).toBeGreaterThan(0.5);
    expect(facts.seconds).toBeLessThan(4 * 1.25 + 3);
  });
});

test('without the speech engine there are no vocals', async () => {
  const plan = planOf('folk, 200 bpm', { lyrics, seconds: 4, speechEngine: 'no-such-engine' });
  const { facts } = await synthesizeSong(plan);
  expect(facts).toMatchObject({ words: [], unsung: 1 });
  expect(facts.families).not.toContain('Vocals');
});

test('without lyrics there are no vocals', async () => {
  for (const text of ['', '[Verse]\n\n[Chorus]', '♪ … ♪']) {
    const song = await synthesizeSong(planOf('folk, 200 bpm', { seconds: 2, lyrics: text }));
    expect(song.facts).toMatchObject({ words: [], unsung: 0 });
    expect(song.facts.families).not.toContain('Vocals');
    expect(silence(mixStem(song.tracks, 'Vocals').left)).toBe(true);
  }
});
