/** Language codes that the engine speaks here, and its names for them. English depends on the voice's accent. */
export const engineLanguages = {
  zh: 'cmn',
  en: 'en',
  de: 'de',
  it: 'it',
  pt: 'pt',
  es: 'es',
  ja: 'ja',
  ko: 'ko',
  fr: 'fr',
  ru: 'ru',
  th: 'th',
  id: 'id',
  vi: 'vi',
} as const;

export type Language = keyof typeof engineLanguages;

/** `language_type` of the multimodal route. */
export const languageTypes: Readonly<Record<string, Language | undefined>> = {
  Auto: undefined,
  Chinese: 'zh',
  English: 'en',
  German: 'de',
  Italian: 'it',
  Portuguese: 'pt',
  Spanish: 'es',
  Japanese: 'ja',
  Korean: 'ko',
  French: 'fr',
  Russian: 'ru',
};

const scripts: readonly [RegExp, Language][] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Han}/u, 'zh'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Cyrillic}/u, 'ru'],
  [/\p{Script=Thai}/u, 'th'],
];

/** The language of a sentence by its script; undefined for a script that many languages share. */
function detectLanguage(text: string): Language | undefined {
  return scripts.find(([script]) => script.test(text))?.[1];
}

const hanLanguages: readonly Language[] = ['zh', 'ja', 'ko'];

/** The language to speak a sentence in: the asked one, unless it cannot read the sentence's script. */
export function spokenLanguage(text: string, asked: Language | undefined): Language {
  const detected = detectLanguage(text);
  if (!asked) return detected ?? 'en';
  if (!detected || detected === asked) return asked;
  return detected === 'zh' && hanLanguages.includes(asked) ? asked : detected;
}
