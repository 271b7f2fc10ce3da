import type { SubjectName } from './subjects.ts';

export type Ground = 'meadow' | 'sea' | 'snow' | 'desert' | 'city';
type Light = 'day' | 'dusk' | 'night';

/** Properties of a scene that the words of a prompt determine. */
export interface PromptWords {
  /** At most three, in the order of the prompt. Empty if no word is known. */
  subjects: readonly SubjectName[];
  ground: Ground;
  light: Light;
  /** Hues in turns. */
  hues: readonly number[];
}

const subjectWords: readonly [SubjectName, RegExp][] = [
  ['boat', /boats?|ships?|sail\w*|yachts?|canoes?|ferry/],
  ['house', /houses?|homes?|cottages?|cabins?|huts?|barns?|village/],
  ['castle', /castles?|palaces?|fort\w*|towers?|temples?/],
  ['lighthouse', /lighthouses?|rockets?/],
  ['tree', /trees?|oaks?|pines?|palms?|willows?|forests?|woods?/],
  ['mountain', /mountains?|peaks?|volcano\w*|alps/],
  ['cat', /cats?|kittens?|dogs?|pupp\w+|fox\w*|wol(?:f|ves)|lions?|tigers?|bears?|animals?|horses?/],
  ['bird', /birds?|owls?|eagles?|crows?|parrots?|swans?|ducks?|penguins?/],
  ['fish', /fish\w*|whales?|sharks?|dolphins?/],
  [
    'person',
    /persons?|people|m[ae]n|wom[ae]n|girls?|boys?|portraits?|knights?|wizards?|kings?|queens?|astronauts?/,
  ],
  ['flower', /flowers?|roses?|tulips?|sunflowers?|lotus|blossoms?/],
  ['car', /cars?|trucks?|bus(?:es)?|taxis?|trains?/],
  ['robot', /robots?|androids?|machines?|mechs?/],
  ['balloon', /balloons?|kites?|airships?|lanterns?/],
];

const grounds: readonly [Ground, RegExp][] = [
  ['sea', /sea|ocean|lakes?|rivers?|water|harbou?r|beach|waves?|underwater|boats?|ships?|fish|whales?/],
  ['snow', /snow\w*|winter|ic[ey]|arctic|frozen|glaciers?|penguins?/],
  ['desert', /deserts?|sand|dunes?|mars|canyons?/],
  ['city', /city|cities|streets?|skyline|urban|cyberpunk|downtown|traffic|cars?|taxis?/],
];

const lights: readonly [Light, RegExp][] = [
  ['night', /night\w*|midnight|stars?|starry|moon\w*|galaxy|space|dark|neon|cyberpunk/],
  ['dusk', /sunset|sunrise|dusk|dawn|evening|golden|twilight|autumn/],
];

const hueWords: readonly [number, RegExp][] = [
  [0, /red|crimson|scarlet/],
  [0.08, /orange|amber|copper/],
  [0.14, /yellow|gold(?:en)?/],
  [0.33, /green|emerald/],
  [0.48, /teal|turquoise|cyan/],
  [0.61, /blue|azure|indigo/],
  [0.77, /purple|violet|lavender/],
  [0.92, /pink|magenta|rose/],
];

/** Options such as `--zoom 2` do not describe the image. */
const optionPattern = /\s--\w+(?:\s+[\d.:]+)?/g;

/** Returns the text that is drawn and shown as the caption. */
export function withoutOptions(prompt: string): string {
  return ` ${prompt}`.replace(optionPattern, '').trim();
}

export function readPrompt(prompt: string): PromptWords {
  const words =
    withoutOptions(prompt)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const known = words.flatMap((word) => matches(subjectWords, word));
  return {
    subjects: Array.from(new Set(known)).slice(0, 3),
    ground: words.flatMap((word) => matches(grounds, word))[0] ?? 'meadow',
    light: words.flatMap((word) => matches(lights, word))[0] ?? 'day',
    hues: words.flatMap((word) => matches(hueWords, word)),
  };
}

function matches<Value>(table: readonly [Value, RegExp][], word: string): Value[] {
  return table.flatMap(([value, { source }]) => (new RegExp(`^(?:${source})$`).test(word) ? [value] : []));
}
