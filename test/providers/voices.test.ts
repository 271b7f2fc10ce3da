import { describe, expect, test } from 'vitest';
import {
  countedActions,
  createdVoice,
  isVoiceNotFound,
  listItem,
  timeOfChange,
  voiceStatus,
  withStoredFacts,
} from '../../server/providers/native/voices.ts';
import type { VoicesTable } from '../../server/store/schema.ts';

const created_at = Date.parse('2026-03-01T12:00:00.900Z');
const minute = 60_000;
const recording = 'https://files.example/anna.wav';
const voice: VoicesTable = {
  voice_id: 'anna-1',
  user_id: 1,
  token_id: 1,
  service: 'voice-enrollment',
  target_model: 'voxa-v2',
  channel: 'near',
  status: 'DEPLOYING',
  name: 'anna',
  facts: JSON.stringify({ language: 'en', voice_prompt: 'calm', preview_text: 'Hello.', recording }),
  created_at,
  updated_at: created_at + minute,
};
const times = { gmt_create: '2026-03-01 12:00:00', gmt_modified: '2026-03-01 12:01:00' };

test.each([
  [{ voice_id: 'a', voice: 'b' }, 'a'],
  [{ voice: 'b' }, 'b'],
  [{ voice: 'b'.repeat(256) }, 'b'.repeat(256)],
  [{ voice: 'b'.repeat(257) }, undefined],
  [{ voice_id: '', voice: 'b' }, undefined],
  [{ voice_id: 7 }, undefined],
  [undefined, undefined],
])('reads the id of a created voice in %j', (output, id) => {
  expect(createdVoice({ output })).toBe(id);
});

test.each([
  [{ status: 'OK' }, 'OK'],
  [{ status: 1 }, undefined],
  [undefined, undefined],
])('reads the status in %j', (output, status) => {
  expect(voiceStatus({ output })).toBe(status);
});

describe('the time of change of a voice', () => {
  const now = created_at + 60 * minute;
  const changed = (gmt_create: unknown, gmt_modified: unknown) =>
    timeOfChange({ output: { gmt_create, gmt_modified } }, voice, now);

  test('is the creation time plus the provider’s time difference in any time zone', () => {
    expect(changed('2026-03-01 20:00:00', '2026-03-01 20:05:00')).toBe(created_at + 5 * minute);
    expect(changed('2026-03-01T04:00:00', '2026-03-01T04:05:00')).toBe(created_at + 5 * minute);
  });

  test('is neither before the stored time nor after now', () => {
    expect(changed('2026-03-01 20:00:00', '2026-03-01 20:00:01')).toBe(created_at + minute);
    expect(changed('2026-03-01 20:00:00', '2026-04-01 20:00:00')).toBe(now);
  });

  test.each([
    ['long ago', '2026-03-01 20:00:00'],
    ['2026-03-01 20:00:00', 7],
    [undefined, undefined],
  ])('is now for the times %j and %j', (made, modified) => {
    expect(changed(made, modified)).toBe(now);
  });
});

describe('a response about a voice', () => {
  test('has the stored times and the client’s URL', () => {
    const output = {
      status: 'OK',
      gmt_create: 'x',
      gmt_modified: 'x',
      resource_link: 'https://oss.example/7',
    };
    expect(withStoredFacts({ request_id: 'r', output }, voice)).toEqual({
      request_id: 'r',
      output: { status: 'OK', ...times, resource_link: recording },
    });
  });

  test('has no URL without a reported or a stored one', () => {
    expect(withStoredFacts({ output: {} }, voice)).toEqual({ output: times });
    const output = { resource_link: 'https://oss.example/7' };
    expect(withStoredFacts({ output }, { ...voice, facts: '{}' })).toEqual({
      output: { ...output, ...times },
    });
    expect(withStoredFacts({ output: [] }, voice)).toBeUndefined();
  });
});

test.each([
  ['VoiceNotFound', true],
  ['InvalidParameter.ResourceNotExist', true],
  ['voice.not.found', true],
  ['resource_not_exist', true],
  ['NotFound', false],
  ['VoiceNotReady', false],
  [undefined, false],
])('the rejection %s means an unknown voice: %s', (code, lacks) => {
  const rejection = { status: 400, body: Buffer.alloc(0), code, message: undefined, retryAfter: undefined };
  expect(isVoiceNotFound(rejection)).toBe(lacks);
});

test.each([
  [0, 0],
  [1, 1],
  [1000, 1000],
  [1001, 1],
  [-1, 1],
  [0.5, 1],
  ['0', 1],
  [undefined, 1],
])('the count %j is charged as %i', (count, actions) => {
  expect(countedActions({ usage: { count } })).toBe(actions);
});

test('a list item has the layout of its service', () => {
  const described = { voice_prompt: 'calm', preview_text: 'Hello.' };
  expect(listItem('voice-enrollment', voice)).toEqual({
    voice_id: 'anna-1',
    ...times,
    status: 'DEPLOYING',
    ...described,
  });
  expect(listItem('alpha-voice-enrollment', voice)).toEqual({
    voice: 'anna-1',
    ...times,
    language: 'en',
    target_model: 'voxa-v2',
    ...described,
  });
  expect(listItem('alpha-voice-enrollment', { ...voice, facts: '{}' })).toMatchObject({ language: 'zh' });
});
