import { describe, expect, test } from 'vitest';
import { voicesIn } from '../../server/providers/native/voice-fields.ts';

type Protocol = Parameters<typeof voicesIn>[0];

/** Fields of the found voices. Voice fields end in `!`. */
const fieldsIn = (protocol: Protocol, body: object, except?: string[]) =>
  voicesIn(protocol, { ...body }, except).map(({ field, named }) => field + (named ? '!' : ''));

const timbre_weights = [{ voice_id: 'v', weight: 1 }, { voice_id: 'v' }];
test.each<[Protocol, object, string[]]>([
  [
    'synthesizer',
    {
      input: {
        voice: 'v',
        voice_id: 'v',
        text: 'words',
        instruction: 'words',
        hot_fix: { a: 'words' },
        x: 'v',
      },
      parameters: { voice: 'v', voice_id: 'v' },
    },
    ['input.voice!', 'input.voice_id!', 'input.x', 'parameters.voice!', 'parameters.voice_id!'],
  ],
  [
    'multimodal',
    {
      input: {
        voice: 'v',
        voice_id: 'v',
        voice_setting: { voice_id: 'v' },
        timbre_weights,
        text: 'words',
        instructions: 'words',
        pronunciation_dict: { tone: ['words'] },
        clone_prompt: { prompt_text: 'words' },
      },
      parameters: { voice: 'v', voice_id: 'v', voice_setting: { voice_id: 'v' }, timbre_weights },
    },
    ['input', 'parameters'].flatMap((top) => [
      `${top}.voice!`,
      `${top}.voice_id!`,
      `${top}.voice_setting.voice_id!`,
      `${top}.timbre_weights.0.voice_id!`,
      `${top}.timbre_weights.1.voice_id!`,
    ]),
  ],
  [
    'inference',
    {
      payload: {
        voice: 'v',
        parameters: { voice: 'v', voice_id: 'v', instruction: 'words', hot_fix: ['words'] },
        input: { voice: 'v', voice_id: 'v', text: 'words' },
      },
    },
    [
      'payload.voice!',
      'payload.parameters.voice!',
      'payload.parameters.voice_id!',
      'payload.input.voice!',
      'payload.input.voice_id!',
    ],
  ],
  [
    'realtime',
    {
      text: 'words',
      voice: 'v',
      session: { voice: 'v', voice_id: 'v', audio: { output: { voice: 'v' } }, instructions: 'words' },
      response: { voice: 'v' },
    },
    ['voice!', 'session.voice!', 'session.voice_id!', 'session.audio.output.voice!', 'response.voice!'],
  ],
  [
    'customization',
    {
      input: { voice: 'v', voice_id: 'v', voice_prompt: 'words', preview_text: 'words', text: 'words' },
      parameters: { voice: 'v', voice_id: 'v' },
    },
    ['input.voice!', 'input.voice_id!', 'parameters.voice!', 'parameters.voice_id!'],
  ],
])('%s: finds voice fields and skips spoken text', (protocol, body, fields) => {
  expect(fieldsIn(protocol, body)).toEqual(fields);
});

describe('unknown fields', () => {
  test.each(['voice', 'Voice_ID', 'voice-name', '_voices', 'speaker', 'speakerId'])(
    'the key %s is a voice field, with all values below it',
    (key) => {
      expect(fieldsIn('realtime', { session: { [key]: ['v', { deep: 'v' }] } })).toEqual([
        `session.${key}.0!`,
        `session.${key}.1.deep!`,
      ]);
    },
  );

  test.each(['invoice', 'voiceover', 'xvoice', 'speakers_note'])('the key %s may be a voice field', (key) => {
    expect(fieldsIn('realtime', { [key]: 'v' })).toEqual([key]);
  });

  test('listed values are no voices, except in voice fields', () => {
    const others =
      'action aigc_propagate_id aigc_propagator audio_url data emotion event_id format function header language ' +
      'language_boost language_hints language_type mode model output_format preferred_name prefix response_format ' +
      'sound_effects streaming target_model task task_group task_id text_type type url';
    for (const name of others.split(' ')) {
      expect(fieldsIn('realtime', { [name]: 'v', session: { [name]: ['v'] } })).toEqual([]);
      expect(fieldsIn('realtime', { voices: { [name]: 'v' } })).toEqual([`voices.${name}!`]);
    }
  });

  test('numbers, booleans, null and empty texts are no voices', () => {
    expect(fieldsIn('realtime', { voice: 7, a: true, b: null, c: '', session: { voice: '' } })).toEqual([]);
  });

  test('texts of more than 256 characters are no voices, except in voice fields', () => {
    const [most, more] = ['v'.repeat(256), 'v'.repeat(257)];
    expect(fieldsIn('realtime', { a: most, b: more, voice: more })).toEqual(['a', 'voice!']);
  });
});

test('a key that looks like a path, or a list, is not an excluded field', () => {
  expect(fieldsIn('synthesizer', { 'input.text': 'v', input: [{ text: 'v' }] })).toEqual([
    'input.text',
    'input.0.text',
  ]);
});

test('a field that the caller checks is excluded', () => {
  const body = { session: { voice: 'v', voice_id: 'v' } };
  expect(fieldsIn('realtime', body, ['session.voice'])).toEqual(['session.voice_id!']);
  expect(fieldsIn('realtime', body)).toEqual(['session.voice!', 'session.voice_id!']);
  expect(voicesIn('realtime', { voice: 'anna' })).toEqual([{ field: 'voice', voice: 'anna', named: true }]);
});

test('the number and the depth of voices are limited', () => {
  const many = (count: number) => ({ session: Array.from({ length: count }, () => 'v') });
  expect(fieldsIn('realtime', many(500))).toHaveLength(500);
  expect(() => fieldsIn('realtime', many(501))).toThrow(
    'session.500: exceeds the limit of 500 unknown values.',
  );
  const deep = (levels: number): object => (levels === 0 ? { voice: 'v' } : { d: deep(levels - 1) });
  // Field names are cut off.
  expect(fieldsIn('realtime', deep(99))).toEqual([`${'d.'.repeat(99)}vo!`]);
  expect(() => fieldsIn('realtime', deep(100))).toThrow(
    `${'d.'.repeat(100).slice(0, 199)}: is nested deeper than 100 levels.`,
  );
});
