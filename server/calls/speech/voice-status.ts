import type { Gateway } from '../../http/gateway.ts';
import { customizationPath, timeOfChange, voiceStatus } from '../../providers/native/voices.ts';
import { parseAnswer, readWhole } from '../../providers/native/whole-answer.ts';
import { findVoice } from '../../store/queries/voices.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

/** So many voices of a page are asked about again at the most, so many at a time, and no longer than this. */
const maxAsked = 20;
const atOnce = 4;
const timeLimitMs = 5_000;
/** Longest answer about one. */
const maxAnswerBytes = 64 * 1024;

/** The voices with their status as it stands now. Those in preparation are asked about, the first ones first. */
export async function withCurrentStatus(
  gateway: Gateway,
  voices: readonly VoicesTable[],
): Promise<VoicesTable[]> {
  const current = [...voices];
  const unsettled = [...voices.entries()].filter(([, { status }]) => status === 'DEPLOYING');
  const queue = unsettled.slice(0, maxAsked).values();
  const late = new AbortController();
  const alarm = gateway.timers.alarm(timeLimitMs, () => late.abort(new Error('it took too long')));
  const work = async () => {
    for (const [index, voice] of queue) current[index] = await askStatus(gateway, voice, late.signal);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  alarm.cancel();
  return current;
}

/** What the provider does not tell stays as it was. */
async function askStatus(gateway: Gateway, voice: VoicesTable, signal: AbortSignal): Promise<VoicesTable> {
  const { voice_id, service, user_id: user } = voice;
  const channel = gateway.channels.named(voice.channel);
  if (channel === undefined || signal.aborted) return voice;
  const body = { model: channel.upstreamModel(service), input: { action: 'query_voice', voice_id } };
  try {
    const request = { method: 'POST', path: customizationPath, body, user, poll: true, signal } as const;
    const response = await channel.request(request);
    const whole = await readWhole(response, maxAnswerBytes);
    if (response.status !== 200) return voice;
    return await recordStatus(gateway, voice, parseAnswer(response.headers, whole));
  } catch (error) {
    gateway.logger.debug({ channel: channel.name, err: error }, 'a voice could not be asked about');
    return voice;
  }
}

/** Notes what a provider's answer says of a voice, and gives the voice as it is then. */
export async function recordStatus(
  gateway: Gateway,
  voice: VoicesTable,
  answer: unknown,
): Promise<VoicesTable> {
  const status = voiceStatus(answer);
  if (status === undefined || status === voice.status) return voice;
  const updatedAt = timeOfChange(answer, voice, gateway.clock());
  const { voice_id: voiceId, user_id: userId, status: from } = voice;
  const changed = await persist(gateway.store, 'touchVoice', {
    voiceId,
    userId,
    from,
    status,
    now: updatedAt,
  });
  if (changed) return { ...voice, status, updated_at: updatedAt };
  // Somebody else has found it out, or it is gone.
  return (await findVoice(gateway.store.read, voiceId)) ?? voice;
}
