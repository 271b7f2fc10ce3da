import { createRandom, deriveSeed } from '../media/drawing/random.ts';

export interface Lyrics {
  title: string;
  /** Lines below section marks in brackets. */
  text: string;
}

/** Templates: `1` to `3` are words of the description, `T` is the title. */
const verses = [
  [
    'I was thinking of the 1',
    'With the 2 in my hand',
    'And the 3 kept on calling',
    'Like a slow marching band',
  ],
  ['There is 1 on the window', 'There is 2 on the floor', 'And I dream of the 3', 'That I knew long before'],
  ['Tell me all about the 1', 'Tell me where the 2 goes', 'For the road to the 3', 'Is a road no one knows'],
  ['When the 1 meets the morning', 'And the 2 fades away', 'I will follow the 3', 'To the end of the day'],
] as const;
const choruses = [
  ['Oh T', 'Sing it over again', 'Oh T', 'Till the 1 turns to rain'],
  ['T', 'We are never alone', 'T', 'And the 2 leads us home'],
  ['Hold on to T', 'Hold on to the light', 'Hold on to T', 'Through the 3 and the night'],
] as const;
const stopWords = new Set(
  (
    'a about an and are as at be but by for from has have her his i in into is it its like make me my no not of on or ' +
    'our please she so some song songs music that the their them then there they this to track tune up us very want ' +
    'was we were what when where which who will with without write you your lyrics'
  ).split(' '),
);
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const titleWords = 5;

/** Generates lyrics from the words of a description. */
export function writeLyrics(description: string, seed: number): Lyrics {
  const random = createRandom(deriveSeed(description, seed));
  const words = contentWords(description);
  const title = createTitle(description);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  let turn = 0;
  const fill = (lines: readonly string[]) => {
    turn += 3;
    return lines.map((line) =>
      line
        .replace(/[123]/g, (place) => words[(turn + Number(place)) % words.length] ?? place)
        .replace(/\bT\b/, title),
    );
  };
  const chorus = ['[Chorus]', ...fill(pick(choruses))];
  const first = Math.floor(random() * verses.length);
  const verse = (number: number) => [
    `[Verse ${number}]`,
    ...fill(verses[(first + number) % verses.length] ?? verses[0]),
  ];
  const sections = [verse(1), chorus, verse(2), chorus, ['[Outro]', title]];
  return { title, text: sections.map((lines) => lines.join('\n')).join('\n\n') };
}

/** Returns the first content words of a description, capitalized. */
export function createTitle(description: string): string {
  const words = contentWords(description).slice(0, titleWords);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}

function contentWords(description: string): string[] {
  const words = Array.from(segmenter.segment(description))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
  const contentOnly = words.filter((word) => !stopWords.has(word.toLowerCase()));
  const chosen = contentOnly.length > 0 ? contentOnly : words;
  return chosen.length > 0 ? chosen : ['silence'];
}
