import type { VoiceService } from '../../models/catalogue.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { field, objectField, textField } from '../json.ts';
import type { Rejection } from '../rejection.ts';

export const customizationPath = '/api/v1/services/audio/tts/customization';

/** The id of the voice that a create call made; undefined when the answer names none. */
export function createdVoice(answer: unknown): string | undefined {
  const output = field(answer, 'output');
  const id = field(output, 'voice_id') ?? field(output, 'voice');
  return typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined;
}

/** The status that a query reports; undefined when there is none. */
export function voiceStatus(answer: unknown): string | undefined {
  const status = field(field(answer, 'output'), 'status');
  return typeof status === 'string' ? status : undefined;
}

/**
 * When a voice changed, by the gateway's clock. The zone of the provider's times is not known, but its time of making
 * is of the same one. `now` where it does not say so.
 */
export function timeOfChange(answer: unknown, { created_at, updated_at }: VoicesTable, now: number): number {
  const output = field(answer, 'output');
  const reported = (name: string) => Date.parse(`${textField(output, name)?.replace(' ', 'T')}Z`);
  const age = reported('gmt_modified') - reported('gmt_create');
  return Number.isNaN(age) ? now : Math.min(now, Math.max(updated_at, created_at + age));
}

/** What the gateway keeps of the request that made a voice. */
export interface VoiceFacts {
  language?: string;
  voice_prompt?: string;
  preview_text?: string;
  /** The address that a voice was cloned from, as the client gave it. */
  recording?: string;
}

export function factsIn({ facts }: VoicesTable): VoiceFacts {
  return JSON.parse(facts) as VoiceFacts;
}

/** The answer with the times that a list says of the voice, too, and with the address that the client gave. */
export function withOwnFacts(answer: unknown, voice: VoicesTable): object | undefined {
  const output = objectField(answer, 'output');
  if (output === undefined) return undefined;
  const { recording } = factsIn(voice);
  const own = 'resource_link' in output && recording !== undefined ? { resource_link: recording } : {};
  return { ...(answer as object), output: { ...output, ...times(voice), ...own } };
}

/** Whether a provider refused something because it has no such voice. */
export function lacksVoice({ code = '' }: Rejection): boolean {
  return /(voice|resource).*not.?(found|exist)/i.test(code);
}

/** 1 for a call that the provider counts, 0 for one that it does not; 1 where it does not say. */
export function countedActions(answer: unknown): number {
  const count = field(field(answer, 'usage'), 'count');
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 1000 ? count : 1;
}

/** A voice as an item of the service's list. */
export function listItem(service: VoiceService, voice: VoicesTable): Record<string, unknown> {
  const { language = 'zh', recording: _, ...described } = factsIn(voice);
  return service === 'voice-enrollment'
    ? { voice_id: voice.voice_id, ...times(voice), status: voice.status, ...described }
    : { voice: voice.voice_id, ...times(voice), language, target_model: voice.target_model, ...described };
}

function times({ created_at, updated_at }: VoicesTable): { gmt_create: string; gmt_modified: string } {
  return { gmt_create: nativeTime(created_at), gmt_modified: nativeTime(updated_at) };
}

/** Epoch milliseconds as `YYYY-MM-DD HH:MM:SS`, UTC. */
function nativeTime(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}
