/**
 * Supported language codes and the names that the speech engine uses for them. The variant of English depends on the
 * accent of the voice.
 */
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

/** Values of `language_type` of the multimodal route. */
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

/** Detects the language of a sentence by its script. Returns undefined for a script that many languages share. */
function detectLanguage(text: string): Language | undefined {
  return scripts.find(([script]) => script.test(text))?.[1];
}

const hanLanguages: readonly Language[] = ['zh', 'ja', 'ko'];

/**
 * Returns the requested language, or the detected one if the requested language does not use the script of the
 * sentence.
 */
export function chooseLanguage(text: string, requested: Language | undefined): Language {
  const detected = detectLanguage(text);
  if (!requested) return detected ?? 'en';
  if (!detected || detected === requested) return requested;
  return detected === 'zh' && hanLanguages.includes(requested) ? requested : detected;
}
