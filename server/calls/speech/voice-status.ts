import type { Gateway } from '../../http/gateway.ts';
import { parseResponse, readLimited } from '../../providers/native/json-response.ts';
import { customizationPath, timeOfChange, voiceStatus } from '../../providers/native/voices.ts';
import { findVoice } from '../../store/queries/voices.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

/** Limits of the polls for one page of voices. */
const maxPolledVoices = 20;
const concurrency = 4;
const timeLimitMs = 5_000;
/** Longest response about one voice. */
const maxResponseBytes = 64 * 1024;

/** Returns the voices with their current status. Polls the first ones that are in preparation. */
export async function refreshStatuses(
  gateway: Gateway,
  voices: readonly VoicesTable[],
): Promise<VoicesTable[]> {
  const current = [...voices];
  const deploying = [...voices.entries()].filter(([, { status }]) => status === 'DEPLOYING');
  const queue = deploying.slice(0, maxPolledVoices).values();
  const timeout = new AbortController();
  const alarm = gateway.timers.alarm(timeLimitMs, () =>
    timeout.abort(new Error('polling the voices timed out')),
  );
  const work = async () => {
    for (const [index, voice] of queue) current[index] = await pollStatus(gateway, voice, timeout.signal);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  alarm.cancel();
  return current;
}

/** Returns the voice unchanged when the poll fails. */
async function pollStatus(gateway: Gateway, voice: VoicesTable, signal: AbortSignal): Promise<VoicesTable> {
  const { voice_id, service, user_id: user } = voice;
  const channel = gateway.channels.named(voice.channel);
  if (channel === undefined || signal.aborted) return voice;
  const body = { model: channel.upstreamModel(service), input: { action: 'query_voice', voice_id } };
  try {
    const request = { method: 'POST', path: customizationPath, body, user, poll: true, signal } as const;
    const response = await channel.request(request);
    const whole = await readLimited(response, maxResponseBytes);
    if (response.status !== 200) return voice;
    return await recordStatus(gateway, voice, parseResponse(response.headers, whole));
  } catch (error) {
    gateway.logger.debug({ channel: channel.name, err: error }, 'could not poll a voice');
    return voice;
  }
}

/** Stores the status in a provider's response. Returns the stored voice. */
export async function recordStatus(
  gateway: Gateway,
  voice: VoicesTable,
  response: unknown,
): Promise<VoicesTable> {
  const status = voiceStatus(response);
  if (status === undefined || status === voice.status) return voice;
  const updatedAt = timeOfChange(response, voice, gateway.clock());
  const { voice_id: voiceId, user_id: userId, status: from } = voice;
  const changed = await persist(gateway.store, 'updateVoice', {
    voiceId,
    userId,
    from,
    status,
    now: updatedAt,
  });
  if (changed) return { ...voice, status, updated_at: updatedAt };
  // Changed or deleted concurrently.
  return (await findVoice(gateway.store.read, voiceId)) ?? voice;
}
