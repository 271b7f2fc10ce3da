import type { VoiceService } from '../../models/voice-services.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { field } from '../json.ts';

export const customizationPath = '/api/v1/services/audio/tts/customization';

/** The id of the voice that a create call made; undefined when the answer names none. */
export function createdVoice(answer: unknown): string | undefined {
  const output = field(answer, 'output');
  const id = field(output, 'voice_id') ?? field(output, 'voice');
  return typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined;
}

/** The status that a query tells; undefined when it tells none. */
export function voiceStatus(answer: unknown): string | undefined {
  const status = field(field(answer, 'output'), 'status');
  return typeof status === 'string' ? status : undefined;
}

/** 1 for a call that the provider counts, 0 for one that it does not; 1 where it does not say. */
export function countedActions(answer: unknown): number {
  const count = field(field(answer, 'usage'), 'count');
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 1000 ? count : 1;
}

/** A voice as an item of the service's list. */
export function listItem(service: VoiceService, voice: VoicesTable): Record<string, unknown> {
  const facts = JSON.parse(voice.facts) as Record<string, string>;
  const times = { gmt_create: nativeTime(voice.created_at), gmt_modified: nativeTime(voice.updated_at) };
  const { language = 'zh', ...described } = facts;
  return service === 'voice-enrollment'
    ? { voice_id: voice.voice_id, ...times, status: voice.status, ...described }
    : { voice: voice.voice_id, ...times, language, target_model: voice.target_model, ...described };
}

/** Epoch milliseconds as `YYYY-MM-DD HH:MM:SS`, UTC. */
export function nativeTime(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}
