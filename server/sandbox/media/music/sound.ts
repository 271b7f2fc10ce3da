import { chance, seedOf } from '../drawing/chance.ts';
import { darkModes, type Mode } from './harmony.ts';
import type { InstrumentName } from './instruments/names.ts';
import type { Sound, VoiceName } from './song-plan.ts';
import { type Style, styles } from './styles.ts';

const slow = /\b(slow|calm|relaxed|mellow|soft|sad|largo|adagio)\b/;
const fast = /\b(fast|upbeat|energetic|driving|quick|presto|allegro|lively)\b/;
const dark = /\b(sad|dark|melanchol\w+|minor|gloomy|sorrow\w*|haunting)\b/;
const bright = /\b(happy|bright|major|cheerful|joyful|sunny|uplifting)\b/;
const beatsPerMinute = /\b(\d{2,3})\s*bpm\b/;
const drumWords = /\b(drums?|percussion|beats?)\b/;

/** Words in tags that name an instrument, and the one that then leads. */
const leads: Readonly<Record<string, InstrumentName>> = {
  piano: 'piano',
  violin: 'violin',
  fiddle: 'violin',
  flute: 'flute',
  trumpet: 'trumpet',
  horn: 'horn',
  saxophone: 'saxophone',
  sax: 'saxophone',
  harmonica: 'harmonica',
  organ: 'organ',
  harp: 'harp',
  cello: 'cello',
  banjo: 'banjo',
  bells: 'bell',
  guitar: 'steel guitar',
  synth: 'synth lead',
};

const leadPatterns = Object.entries(leads).map(([word, name]) => [anyOf([word]), name] as const);
const stylePatterns = styles.map((style) => ({ style, pattern: anyOf([style.name, ...style.words]) }));

/**
 * The sound that the tags name. Their own words come before those of a description; where none names a style, all of
 * them choose one together.
 */
export function chooseSound(
  { tags, negativeTags, description }: Record<'tags' | 'negativeTags' | 'description', string>,
  seed: number,
): Sound {
  const [asked, unwanted] = [`${tags} ${description}`.toLowerCase(), negativeTags.toLowerCase()];
  const next = chance(seed);
  const style = chooseStyle([tags.toLowerCase(), asked], unwanted);
  const [slowest, fastest] = style.tempo;
  const usual = slowest + next() * (fastest - slowest);
  const pace = (slow.test(asked) ? 0.82 : 1) * (fast.test(asked) ? 1.22 : 1);
  const told = Number(beatsPerMinute.exec(asked)?.[1] ?? usual * pace);
  const lead = leadPatterns.find(([pattern]) => pattern.test(tags.toLowerCase()))?.[1];
  return {
    style: style.name,
    tempo: Math.round(Math.max(40, Math.min(220, told))),
    tonic: Math.floor(next() * 12),
    mode: chooseMode(style, asked, next),
    drums: !drumWords.test(unwanted),
    voice: chooseVoice(asked, next),
    ...(lead && { lead }),
  };
}

/** The style of that name. */
export function styleOf({ style }: Sound): Style {
  const found = styles.find(({ name }) => name === style);
  if (!found) throw new Error(`There is no style ${style}`);
  return found;
}

/** The style that comes first in the first text that names one; with all styles unwanted any will do. */
function chooseStyle(texts: readonly string[], unwanted: string): Style {
  const wanted = stylePatterns.filter(({ pattern }) => !pattern.test(unwanted));
  const pool = wanted.length > 0 ? wanted : stylePatterns;
  for (const text of texts) {
    const [named] = pool
      .map(({ style, pattern }) => ({ style, at: text.search(pattern) }))
      .filter(({ at }) => at >= 0)
      .sort((first, second) => first.at - second.at);
    if (named) return named.style;
  }
  const chosen = pool[seedOf(texts.at(-1) ?? '', 0) % pool.length];
  if (!chosen) throw new Error('There are no styles');
  return chosen.style;
}

/** Finds one of the words; where they have a blank or a hyphen, either or none will do. */
function anyOf(words: readonly string[]): RegExp {
  const spelled = words.map((word) => word.replace(/[ -]/g, '[ -]?').replace('&', '\\s?&\\s?')).join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled})(?![\\p{L}\\p{N}])`, 'u');
}

function chooseMode({ modes }: Style, asked: string, next: () => number): Mode {
  const chosen = modes[Math.floor(next() * modes.length)] ?? 'major';
  if (dark.test(asked)) return modes.find((mode) => darkModes.includes(mode)) ?? 'minor';
  if (bright.test(asked)) return modes.find((mode) => !darkModes.includes(mode)) ?? 'major';
  return chosen;
}

function chooseVoice(asked: string, next: () => number): VoiceName {
  const drawn = next() < 0.5 ? 'female' : 'male';
  if (/\b(female|woman|girl|soprano|alto)\b/.test(asked)) return 'female';
  return /\b(male|man|boy|tenor|bass voice|baritone)\b/.test(asked) ? 'male' : drawn;
}
