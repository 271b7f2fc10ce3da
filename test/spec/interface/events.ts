import type { FieldType } from './fields.ts';

export interface EventRow {
  direction: 'client' | 'server';
  type: string;
  /** Its fields beside `event_id` and `type`, and their types. */
  fields: Readonly<Record<string, FieldType>>;
}

/** Parts 4.1 and 6 of the interface: the realtime socket. Both addresses expect the same events. */
export const realtimeAddresses = ['/api-ws/v1/realtime', '/v1/realtime'] as const;

/** Part 4.1: the inference socket. The interface does not define its events. */
export const inferenceAddress = '/api-ws/v1/inference';

export const realtimeEvents: readonly EventRow[] = [
  { direction: 'client', type: 'session.update', fields: { session: 'object' } },
  { direction: 'server', type: 'session.updated', fields: { session: 'object' } },
  { direction: 'client', type: 'input_text_buffer.append', fields: { text: 'string' } },
  { direction: 'client', type: 'input_text_buffer.commit', fields: {} },
  { direction: 'server', type: 'response.audio.delta', fields: { delta: 'string' } },
  {
    direction: 'server',
    type: 'response.done',
    fields: { 'response.id': 'string', 'response.status': 'string', 'response.usage': 'object' },
  },
  { direction: 'client', type: 'session.finish', fields: {} },
  { direction: 'server', type: 'session.finished', fields: {} },
  { direction: 'server', type: 'error', fields: { error: 'object' } },
];

/** Part 2.4: the fields of `session` in session.update; voice is required. */
export const sessionFields = {
  'voice!': 'string',
  mode: 'string',
  language_type: 'string',
  response_format: 'string',
  sample_rate: 'integer',
  speech_rate: 'number',
  volume: 'number',
  pitch_rate: 'number',
  bit_rate: 'integer',
  instructions: 'string',
  optimize_instructions: 'boolean',
} as const satisfies Record<string, FieldType>;

/** Part 6: usage as cumulative characters, or as tokens of a response. */
export const usageFields = {
  'usage.characters': 'integer',
  'usage.input_tokens': 'integer',
  'usage.output_tokens': 'integer',
} as const satisfies Record<string, FieldType>;
