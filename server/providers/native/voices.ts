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

/** The answer with the times that a list says of the voice, too. */
export function withTimes(answer: unknown, voice: VoicesTable): object | undefined {
  const output = objectField(answer, 'output');
  return output && { ...(answer as object), output: { ...output, ...times(voice) } };
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
  const facts = JSON.parse(voice.facts) as Record<string, string>;
  const { language = 'zh', ...described } = facts;
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
