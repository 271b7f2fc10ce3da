import type { Gateway } from '../../server/http/gateway.ts';
import { generateKey, hashKey, keyHint } from '../../server/store/keys.ts';

/** Paths of the fields that name a voice, by protocol. `[]` stands for each item of a list. */
export const voiceFields = {
  synthesizer: ['input.voice', 'input.voice_id', 'parameters.voice', 'parameters.voice_id'],
  multimodal: [
    'input.voice',
    'input.voice_id',
    'input.voice_setting.voice_id',
    'input.timbre_weights[].voice_id',
    'parameters.voice',
    'parameters.voice_id',
    'parameters.voice_setting.voice_id',
    'parameters.timbre_weights[].voice_id',
  ],
  inference: ['payload.parameters.voice', 'payload.parameters.voice_id', 'payload.voice'],
  realtime: ['session.voice', 'session.voice_id', 'session.audio.output.voice', 'voice', 'response.voice'],
  customization: ['input.voice', 'input.voice_id', 'parameters.voice', 'parameters.voice_id'],
};

/** Creates a second user with a key. */
export async function createOtherUser({ store }: Gateway): Promise<{ userId: number; key: string }> {
  const { id } = await store.run('createUser', { name: 'other', group: 'default', now: 1 });
  const key = generateKey();
  await store.run('createToken', {
    userId: id,
    name: 'theirs',
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    unlimitedQuota: true,
    now: 1,
  });
  return { userId: id, key };
}

/** Inserts a custom voice into the store. */
export async function saveVoice(
  { store }: Gateway,
  voice: { id: string; userId: number; model: string; channel: string; service?: string; status?: string },
): Promise<void> {
  await store.run('saveVoice', {
    voice_id: voice.id,
    user_id: voice.userId,
    token_id: 1,
    service: voice.service ?? 'voice-enrollment',
    target_model: voice.model,
    channel: voice.channel,
    status: voice.status ?? 'OK',
    name: 'name',
    facts: '{}',
    created_at: 1,
    updated_at: 1,
  });
}

/** Returns a copy of a body with a value at a path. `[]` creates a list of one item, with the fields of `siblings`. */
export function withFieldAt(body: object, path: string, value: unknown, siblings: object = {}): object {
  const [first = '', ...rest] = path.split('.');
  const key = first.replace(/\[\]$/, '');
  const inner = (body as Record<string, unknown>)[key];
  const below = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
  const deeper = rest.length === 0 ? value : withFieldAt(below, rest.join('.'), value, siblings);
  if (key === first) return { ...body, [key]: deeper };
  return { ...body, [key]: [typeof deeper === 'object' ? { ...siblings, ...deeper } : deeper] };
}
