import { createRandom, deriveSeed } from '../drawing/random.ts';
import { type Mode, minorModes } from './harmony.ts';
import type { InstrumentName } from './instruments/names.ts';
import type { Sound, VoiceName } from './song-plan.ts';
import { type Style, styles } from './styles.ts';

const slowWords = /\b(slow|calm|relaxed|mellow|soft|sad|largo|adagio)\b/;
const fastWords = /\b(fast|upbeat|energetic|driving|quick|presto|allegro|lively)\b/;
const darkWords = /\b(sad|dark|melanchol\w+|minor|gloomy|sorrow\w*|haunting)\b/;
const brightWords = /\b(happy|bright|major|cheerful|joyful|sunny|uplifting)\b/;
const beatsPerMinute = /\b(\d{2,3})\s*bpm\b/;
const drumWords = /\b(drums?|percussion|beats?)\b/;

/** Words in tags that name an instrument, mapped to the lead instrument. */
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

const leadPatterns = Object.entries(leads).map(([word, name]) => [createWordPattern([word]), name] as const);
const stylePatterns = styles.map((style) => ({
  style,
  pattern: createWordPattern([style.name, ...style.words]),
}));

/**
 * Chooses the sound that the tags name. Tags take precedence over the description. If neither names a style, their hash
 * chooses one.
 */
export function chooseSound(
  { tags, negativeTags, description }: Record<'tags' | 'negativeTags' | 'description', string>,
  seed: number,
): Sound {
  const [requestedText, unwantedText] = [`${tags} ${description}`.toLowerCase(), negativeTags.toLowerCase()];
  const random = createRandom(seed);
  const style = chooseStyle([tags.toLowerCase(), requestedText], unwantedText);
  const [slowest, fastest] = style.tempo;
  const defaultTempo = slowest + random() * (fastest - slowest);
  const tempoFactor = (slowWords.test(requestedText) ? 0.82 : 1) * (fastWords.test(requestedText) ? 1.22 : 1);
  const requestedTempo = Number(beatsPerMinute.exec(requestedText)?.[1] ?? defaultTempo * tempoFactor);
  const lead = leadPatterns.find(([pattern]) => pattern.test(tags.toLowerCase()))?.[1];
  return {
    style: style.name,
    tempo: Math.round(Math.max(40, Math.min(220, requestedTempo))),
    tonic: Math.floor(random() * 12),
    mode: chooseMode(style, requestedText, random),
    drums: !drumWords.test(unwantedText),
    voice: chooseVoice(requestedText, random),
    ...(lead && { lead }),
  };
}

/** Returns the style of a sound. */
export function findStyle({ style }: Sound): Style {
  const found = styles.find(({ name }) => name === style);
  if (!found) throw new Error(`Style ${style} does not exist`);
  return found;
}

/**
 * Returns the style that comes first in the first text that names one. If all styles are unwanted, any style can be
 * chosen.
 */
function chooseStyle(texts: readonly string[], unwanted: string): Style {
  const allowed = stylePatterns.filter(({ pattern }) => !pattern.test(unwanted));
  const pool = allowed.length > 0 ? allowed : stylePatterns;
  for (const text of texts) {
    const [named] = pool
      .map(({ style, pattern }) => ({ style, at: text.search(pattern) }))
      .filter(({ at }) => at >= 0)
      .sort((first, second) => first.at - second.at);
    if (named) return named.style;
  }
  const chosen = pool[deriveSeed(texts.at(-1) ?? '', 0) % pool.length];
  if (!chosen) throw new Error('No styles are defined');
  return chosen.style;
}

/** Creates a pattern that matches one of the words. A space or hyphen in a word is optional. */
function createWordPattern(words: readonly string[]): RegExp {
  const spelled = words.map((word) => word.replace(/[ -]/g, '[ -]?').replace('&', '\\s?&\\s?')).join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled})(?![\\p{L}\\p{N}])`, 'u');
}

function chooseMode({ modes }: Style, text: string, random: () => number): Mode {
  const chosen = modes[Math.floor(random() * modes.length)] ?? 'major';
  if (darkWords.test(text)) return modes.find((mode) => minorModes.includes(mode)) ?? 'minor';
  if (brightWords.test(text)) return modes.find((mode) => !minorModes.includes(mode)) ?? 'major';
  return chosen;
}

function chooseVoice(text: string, random: () => number): VoiceName {
  const drawn = random() < 0.5 ? 'female' : 'male';
  if (/\b(female|woman|girl|soprano|alto)\b/.test(text)) return 'female';
  return /\b(male|man|boy|tenor|bass voice|baritone)\b/.test(text) ? 'male' : drawn;
}
