import { describe, expect, test } from 'vitest';
import { findModel } from '../../server/models/catalogue.ts';
import { checkSpeech } from '../../server/models/speech-rules.ts';

const fields = {
  text: 'input.text',
  voice: 'input.voice',
  instructions: 'input.instructions',
  optimizeInstructions: 'input.optimize_instructions',
};
const check = (text: string) => () =>
  checkSpeech(findModel('alpha-tts'), {
    text,
    voice: 'Aria',
    instructions: undefined,
    optimizeInstructions: false,
    fields,
  });

describe('the limit of 512 tokens of the legacy speech models', () => {
  test.each([
    ['512 short words', 'word '.repeat(512)],
    // More than 2,048 bytes, an earlier limit.
    ['512 long words', 'lighthouse '.repeat(512)],
    ['one word of 5,000 letters', 'a'.repeat(5_000)],
    ['600 Chinese characters, which the provider counts', '你'.repeat(600)],
    ['512 words between other spaces', Array.from({ length: 512 }, () => 'w').join('\u3000\n')],
  ])('accepts %s', (_, text) => {
    expect(check(text)).not.toThrow();
  });

  test.each([
    ['513 words', 'word '.repeat(513)],
    ['513 letters between line breaks', 'a\n'.repeat(513)],
  ])('rejects %s', (_, text) => {
    expect(check(text)).toThrow('input.text: must have at most 512 tokens for alpha-tts.');
  });
});
