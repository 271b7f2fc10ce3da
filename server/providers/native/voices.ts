import { field, objectField, textField } from '../../lib/json.ts';
import type { VoiceService } from '../../models/catalogue.ts';
import type { VoicesTable } from '../../store/schema.ts';
import type { Rejection } from '../rejection.ts';

export const customizationPath = '/api/v1/services/audio/tts/customization';

/** Id of a created voice. Undefined if the response has none. */
export function createdVoice(answer: unknown): string | undefined {
  const output = field(answer, 'output');
  const id = field(output, 'voice_id') ?? field(output, 'voice');
  return typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined;
}

/** Status in the response to a query. Undefined if there is none. */
export function voiceStatus(answer: unknown): string | undefined {
  return textField(field(answer, 'output'), 'status');
}

/** Time of a voice's last change by our clock, from the difference of the provider's times. `now` if unknown. */
export function timeOfChange(answer: unknown, { created_at, updated_at }: VoicesTable, now: number): number {
  const output = field(answer, 'output');
  const reported = (name: string) => Date.parse(`${textField(output, name)?.replace(' ', 'T')}Z`);
  const age = reported('gmt_modified') - reported('gmt_create');
  return Number.isNaN(age) ? now : Math.min(now, Math.max(updated_at, created_at + age));
}

/** Stored properties of the request that created a voice. */
export interface VoiceFacts {
  language?: string;
  voice_prompt?: string;
  preview_text?: string;
  /** The client's URL of the cloned recording. */
  recording?: string;
}

/** Returns the properties of a voice that are stored from a request. */
export function factsOf(input: object): VoiceFacts {
  const { language, voice_prompt, preview_text, language_hints, url } = input as Record<string, unknown>;
  const spoken = language ?? (Array.isArray(language_hints) ? language_hints[0] : undefined);
  // A recording inside the request is too large to store.
  const recording = typeof url === 'string' && /^https?:/i.test(url) ? url : undefined;
  const facts = { language: spoken, voice_prompt, preview_text, recording };
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function factsIn({ facts }: VoicesTable): VoiceFacts {
  return JSON.parse(facts) as VoiceFacts;
}

/** Sets the times of the list and the client's URL in a response. */
export function withStoredFacts(answer: unknown, voice: VoicesTable): object | undefined {
  const output = objectField(answer, 'output');
  if (output === undefined) return undefined;
  const { recording } = factsIn(voice);
  const own = 'resource_link' in output && recording !== undefined ? { resource_link: recording } : {};
  return { ...(answer as object), output: { ...output, ...times(voice), ...own } };
}

/** Whether a rejection means that the provider does not have the voice. */
export function isVoiceNotFound({ code = '' }: Rejection): boolean {
  return /(voice|resource).*not.?(found|exist)/i.test(code);
}

/** Number of actions that the provider counts. Default 1. */
export function countedActions(answer: unknown): number {
  const count = field(field(answer, 'usage'), 'count');
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 1000 ? count : 1;
}

export function listItem(service: VoiceService, voice: VoicesTable): Record<string, unknown> {
  const { language = 'zh', recording: _, ...described } = factsIn(voice);
  return service === 'voice-enrollment'
    ? { voice_id: voice.voice_id, ...times(voice), status: voice.status, ...described }
    : { voice: voice.voice_id, ...times(voice), language, target_model: voice.target_model, ...described };
}

function times({ created_at, updated_at }: VoicesTable) {
  return { gmt_create: nativeTime(created_at), gmt_modified: nativeTime(updated_at) };
}

/** Formats epoch milliseconds as `YYYY-MM-DD HH:MM:SS` in UTC. */
function nativeTime(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}
