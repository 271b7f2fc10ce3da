import type { Gateway } from '../http/gateway.ts';
import { channelUnavailable, Failure } from '../lib/failure.ts';
import { fetchSession, type SessionState } from '../providers/verification/sessions.ts';
import type { VerificationEnd } from '../store/commands/verification-sessions.ts';
import { findVerificationSession } from '../store/queries/verification-sessions.ts';
import type { VerificationSessionsTable } from '../store/schema.ts';
import { reportDriverError } from '../tasks/driver.ts';
import { stampedId } from './assets/stamped-id.ts';

const pollTimeoutMs = 20_000;

/**
 * Returns the current session. Concurrent readers of a pending session share one poll of the provider. `resultCode` is
 * the code that the browser delivered to the client.
 *
 * @throws Failure 502, 503 or 504 when the poll fails, 429 when the provider throttles it
 */
export async function refreshSession(
  gateway: Gateway,
  session: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<VerificationSessionsTable> {
  if (session.status !== 'pending') return session;
  if (gateway.clock() >= session.expires_at)
    return endSession(gateway, session, { status: 'expired' }, session.expires_at);
  const { verificationChecks: checks } = gateway;
  const { session_id: id } = session;
  const earlier = await checks.get(id);
  // A poll without the result code may have been too early.
  if (earlier !== undefined && (resultCode === undefined || earlier.status !== 'pending')) return earlier;
  const running = checks.get(id);
  if (running !== undefined) return running;
  const poll = pollAndRecord(gateway, session, resultCode).finally(() => checks.delete(id));
  checks.set(id, poll);
  return poll;
}

async function pollAndRecord(
  gateway: Gateway,
  session: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<VerificationSessionsTable> {
  const state = await pollSession(gateway, session, resultCode);
  const now = gateway.clock();
  switch (state.status) {
    case 'pending':
      return session;
    case 'verified': {
      const { groupId: upstreamId, resultCode: passed } = state;
      const group = upstreamId === undefined ? undefined : { id: stampedId('group', now), upstreamId };
      return endSession(gateway, session, { status: 'verified', resultCode: passed, group }, now);
    }
    case 'failed':
      return endSession(gateway, session, { status: 'failed', resultCode: state.resultCode }, now);
    case 'expired':
      return endSession(gateway, session, { status: 'expired' }, now);
  }
}

/** Ends the session unless it has already ended. Returns the stored session. */
async function endSession(
  { store }: Gateway,
  session: VerificationSessionsTable,
  end: VerificationEnd,
  now: number,
): Promise<VerificationSessionsTable> {
  const { session_id: sessionId, user_id: userId } = session;
  await store.run('finishVerificationSession', { sessionId, end, now });
  return (await findVerificationSession(store.read, { sessionId, userId })) ?? session;
}

async function pollSession(
  { channels, logger, timers }: Gateway,
  { session_id: session, channel: name, user_id: user }: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<SessionState> {
  const channel = channels.named(name);
  if (channel === undefined) throw channelUnavailable('The provider of this session is not available.');
  // Not the client's signal, because other readers may wait for the same poll.
  const timeout = new AbortController();
  const failure = new Failure(504, 'upstream_timeout', 'The provider did not answer in time.');
  const alarm = timers.alarm(pollTimeoutMs, () => timeout.abort(failure));
  const attempt = channel.health.startAttempt({ user, poll: true });
  try {
    const state = await fetchSession({ channel, user, signal: timeout.signal }, session, resultCode);
    attempt.succeed();
    return state;
  } catch (error) {
    const candidate = { channel, attempt };
    throw reportDriverError(logger, error, candidate, 'could not poll a verification session').failure;
  } finally {
    alarm.cancel();
  }
}
