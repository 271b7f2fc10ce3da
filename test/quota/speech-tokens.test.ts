import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { maxSpeechSeconds, type Pace } from '../../server/models/speech-time.ts';
import { maxSpeechUsage, sumUsage, type Usage } from '../../server/models/usage.ts';
import { usageOf } from '../../server/providers/token-usage.ts';
import { SpokenText } from '../../server/quota/spoken-text.ts';
import { Meter } from '../../server/sandbox/billing.ts';
import { languageTypes } from '../../server/sandbox/language.ts';
import { createUtterances } from '../../server/sandbox/native/speech.ts';
import { combineProsody, neutralProsody, prosodyFromInstructions } from '../../server/sandbox/prosody.ts';
import { splitText } from '../../server/sandbox/sentences.ts';
import { SpeechEngine } from '../../server/sandbox/speech/engine.ts';
import { findSystemVoice } from '../../server/sandbox/voices.ts';

const engine = new SpeechEngine({ module: '@echogarden/espeak-ng-emscripten', workers: 1 });
const audio = { format: 'pcm', sampleRate: 22_050, channels: 1 } as const;
/** The slowest voice of the models that are metered in tokens. */
const timbre = findSystemVoice('alpha-legacy', 'Mei') ?? expect.fail('no such voice');
const never = new AbortController().signal;

afterAll(() => engine.close());

/** Tokens that the sandbox counts for a text: text tokens, and 50 a second of audio, at least 50. */
async function counted(text: string, prosody = neutralProsody, language?: string): Promise<number> {
  const meter = new Meter();
  const sentences = splitText(text);
  const spoken = languageTypes[language ?? 'Auto'];
  const request = {
    text,
    sentences,
    timbre,
    prosody,
    audio,
    ...(spoken === undefined ? {} : { language: spoken }),
  };
  let index = 0;
  for await (const { seconds } of engine.speak(createUtterances(request), audio, never)) {
    meter.addSentence(sentences[index]?.text ?? '', seconds);
    index += 1;
  }
  return meter.textTokens + meter.audioTokens;
}

const scripts = [
  'héé こ 안 好',
  '😀👨‍👩‍👧🏳️‍🌈☃️™€',
  'e\u0301\u0302\u0303 a\u20dd \u0301',
  ' \t\n\u00a0\u2003\u200d\u200b',
  'WWWW xkcd HTTP QWRT ',
  '1234567890123.45 7777777 ½ ٣٤٥',
  '@#$%^&*!?~`|\\<>[]{}',
  'Привет ЖЖЖ ѤѪ αβγ עִבְרִית عربى हिन्दी ไทย አማርኛ',
  '早上好々〇龘𠀀ーーワタﾀ',
  'tiếng Việt ÇÛÂ',
  'ex xi iv ei la ou. a. b! c? ',
];

const codePoints = scripts.flatMap((text) => Array.from(text));

/** Texts of any code points, of these scripts' characters mixed, and of one repeated. */
const texts = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
    fc.string({
      unit: fc.constantFrom(...codePoints),
      minLength: 1,
      maxLength: 8,
    }),
    fc
      .tuple(fc.constantFrom(...codePoints), fc.integer({ min: 1, max: 5 }))
      .map(([unit, times]) => unit.repeat(times)),
    fc.constantFrom(...scripts),
  )
  .filter((text) => text.trim() !== '');

const maxSpeechTokens = (text: string, pace?: Pace) => maxSpeechUsage('tokens', text, { pace }).units;

describe('the reservation for a text in tokens', () => {
  test('is at least what the sandbox counts in any script and language', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(...Object.keys(languageTypes)), async (text, language) => {
        expect(maxSpeechTokens(text)).toBeGreaterThanOrEqual(await counted(text, neutralProsody, language));
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  test('is enough for the slowest speech that a request can ask for', async () => {
    const instruction = 'slow, calm, sad';
    const slowed = combineProsody(prosodyFromInstructions(instruction), { rate: 0.5 });
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const half = await counted(text, combineProsody(neutralProsody, { rate: 0.5 }));
        expect(maxSpeechTokens(text, { rate: 0.5 })).toBeGreaterThanOrEqual(half);
        expect(maxSpeechTokens(text, { rate: 0.5, instruction })).toBeGreaterThanOrEqual(
          await counted(text, slowed),
        );
      }),
      { numRuns: 5 },
    );
  }, 60_000);

  test('is enough for a text in chunks, however they are grouped into responses', () => {
    const plan = fc.array(fc.tuple(texts, fc.boolean()), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(plan, (bits) => {
        const spoken = new SpokenText('tokens');
        const held = { units: 0, maxOutputTokens: 0 };
        let reported: Usage = { units: 0, inputTokens: 0, outputTokens: 0 };
        let waiting = '';
        for (const [text, speak] of bits) {
          const bound = spoken.boundWith(text, reported);
          held.units = Math.max(held.units, bound.units);
          held.maxOutputTokens = Math.max(held.maxOutputTokens, bound.maxOutputTokens);
          spoken.add(text);
          waiting += text;
          if (!speak) continue;
          // Each response has its own text tokens and its own minimum.
          const input = Math.ceil(Buffer.byteLength(waiting) / 4);
          const output = Math.max(50, Math.ceil((maxSpeechSeconds(waiting) - 0.5) * 50));
          waiting = '';
          reported = sumUsage(reported, usageOf(input, output));
          spoken.report(reported);
        }
        expect(held.units).toBeGreaterThanOrEqual(reported.units);
        expect(held.maxOutputTokens).toBeGreaterThanOrEqual(reported.outputTokens);
      }),
    );
  });

  test('is a few times the usage of an ordinary sentence, not a hundred times', async () => {
    for (const text of [
      'Good morning from one key, and good night.',
      '早上好，今天天气很好。',
      'Straße, naïve, déjà vu.',
    ]) {
      const taken = await counted(text);
      expect(maxSpeechTokens(text) / taken).toBeLessThan(12);
    }
  });
});
