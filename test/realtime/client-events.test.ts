import { describe, expect, test } from 'vitest';
import { findModel } from '../../server/models/catalogue.ts';
import { UsedIds } from '../../server/sockets/frames.ts';
import { readClientEvent, sessionProblem } from '../../server/sockets/realtime/events.ts';

describe('a client event', () => {
  const read = (event: unknown, seen = new UsedIds()) => readClientEvent(JSON.stringify(event), seen);

  test.each([
    { type: 'session.update', session: { voice: 'Aria', mode: 'commit' } },
    { type: 'input_text_buffer.append', text: 'Hello.' },
    { type: 'input_text_buffer.commit' },
    { type: 'input_text_buffer.clear' },
    { type: 'response.cancel' },
    { type: 'session.finish' },
  ])('is read by its type: $type', (event) => {
    expect(read({ event_id: 'e1', ...event })).toEqual({ event: { event_id: 'e1', ...event } });
  });

  const unknown =
    'type: must be one of session.update, input_text_buffer.append, input_text_buffer.commit, ' +
    'input_text_buffer.clear, response.cancel, session.finish.';

  test.each([
    [[], null, 'invalid_event', undefined, 'The frame is not a JSON object.'],
    [{ event_id: 'e1' }, 'e1', 'invalid_event', 'type', unknown],
    [{ event_id: 'e1', type: 'response.create' }, 'e1', 'invalid_event', 'type', unknown],
    [{ event_id: '', type: 'x' }, null, 'invalid_event', 'type', unknown],
    [{ event_id: ['e1'], type: 'x' }, null, 'invalid_event', 'type', unknown],
    [{ event_id: 7, type: 'x' }, null, 'invalid_event', 'type', unknown],
    [{ event_id: 'e'.repeat(512), type: 'x' }, 'e'.repeat(512), 'invalid_event', 'type', unknown],
    [{ event_id: 'e'.repeat(513), type: 'x' }, null, 'invalid_event', 'type', unknown],
    [
      { event_id: 'e1', type: 'input_text_buffer.append' },
      'e1',
      'invalid_event',
      'text',
      'text: is required.',
    ],
    [
      { event_id: 'e1', type: 'session.update', session: { voice: 'Aria', mode: 'x' } },
      'e1',
      'invalid_value',
      'session.mode',
      'session.mode: must be one of server_commit, commit.',
    ],
  ])('that is invalid is refused with its id and its field: %j', (event, eventId, code, param, message) => {
    expect(read(event)).toEqual({ problem: { code, message, param }, eventId });
  });

  test('with an id used before is refused', () => {
    const seen = new UsedIds();
    const event = { event_id: 'e1', type: 'response.cancel' };
    read(event, seen);
    expect(read(event, seen)).toEqual({
      problem: {
        code: 'invalid_value',
        message: 'event_id: must be unique in this connection.',
        param: 'event_id',
      },
      eventId: 'e1',
    });
  });
});

describe('settings', () => {
  const flash = 'alpha3-tts-flash-realtime';
  const legacy = 'alpha-tts-realtime';
  const problem = (model: string, session: object) =>
    sessionProblem(findModel(model), { voice: 'Aria', mode: 'commit', ...session });

  test.each([
    [flash, { model: legacy }, 'model', `must be ${flash}, the model of this connection.`],
    [flash, { instructions: 'Fast.' }, 'instructions', 'is supported only by instruct models.'],
    [
      flash,
      { optimize_instructions: true },
      'optimize_instructions',
      'is supported only by instruct models.',
    ],
    [
      flash,
      { optimize_instructions: true, instructions: 'x' },
      'instructions',
      'is supported only by instruct models.',
    ],
    [legacy, { response_format: 'wav' }, 'response_format', 'must be pcm for this model.'],
    [legacy, { sample_rate: 48_000 }, 'sample_rate', 'must be 24000 for this model.'],
    ...['speech_rate', 'volume', 'pitch_rate', 'bit_rate'].map(
      (name) => [legacy, { [name]: 1 }, name, 'is not supported by this model.'] as const,
    ),
    [
      'alpha3-tts-vc-realtime-2026-01-15',
      {},
      'voice',
      'must be a cloned voice for this model; "Aria" is a system voice.',
    ],
    [
      'alpha3-tts-vd-realtime-2026-01-15',
      {},
      'voice',
      'must be a designed voice for this model; "Aria" is a system voice.',
    ],
  ] as const)('that %s refuses: %j', (model, session, field, message) => {
    expect(problem(model, session)).toEqual({
      code: 'invalid_value',
      message: `session.${field}: ${message}`,
      param: `session.${field}`,
    });
  });

  test.each([
    [flash, {}],
    [flash, { model: flash, optimize_instructions: false, response_format: 'wav', volume: 1 }],
    [legacy, { response_format: 'pcm', sample_rate: 24_000 }],
    ['alpha3-tts-instruct-flash-realtime', { instructions: 'Fast.', optimize_instructions: true }],
    ['alpha3-tts-vc-realtime-2026-01-15', { voice: 'mine-1' }],
  ])('that %s accepts: %j', (model, session) => {
    expect(problem(model, session)).toBeUndefined();
  });
});
