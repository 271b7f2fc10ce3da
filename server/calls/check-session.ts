import type { Gateway } from '../http/gateway.ts';
import { channelUnavailable, Failure } from '../lib/failure.ts';
import { askForSession, type ToldSession } from '../providers/verification/sessions.ts';
import type { VerificationEnd } from '../store/commands/verification-sessions.ts';
import { findVerificationSession } from '../store/queries/verification-sessions.ts';
import type { VerificationSessionsTable } from '../store/schema.ts';
import { noteDriverError } from '../tasks/driver.ts';
import { stampedId } from './assets/stamped-id.ts';

/** A reader waits so long for the provider, in milliseconds. */
const patience = 20_000;

/**
 * The session as it stands now. While it is pending its provider is asked, once however many want to know; one whose
 * time is over is expired without that. `resultCode`: what the browser brought to the client.
 *
 * @throws Failure 502, 503 or 504 when the provider does not tell, 429 when it is asked too often
 */
export async function checkedSession(
  gateway: Gateway,
  session: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<VerificationSessionsTable> {
  if (session.status !== 'pending') return session;
  if (gateway.clock() >= session.expires_at)
    return settle(gateway, session, { status: 'expired' }, session.expires_at);
  const { verificationChecks: checks } = gateway;
  const { session_id: id } = session;
  const earlier = await checks.get(id);
  // Before the code came, there may have been no result yet.
  if (earlier !== undefined && (resultCode === undefined || earlier.status !== 'pending')) return earlier;
  const running = checks.get(id);
  if (running !== undefined) return running;
  const begun = check(gateway, session, resultCode).finally(() => checks.delete(id));
  checks.set(id, begun);
  return begun;
}

async function check(
  gateway: Gateway,
  session: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<VerificationSessionsTable> {
  const told = await ask(gateway, session, resultCode);
  const now = gateway.clock();
  switch (told.status) {
    case 'pending':
      return session;
    case 'verified': {
      const { groupId: upstreamId, resultCode: passed } = told;
      const group = upstreamId === undefined ? undefined : { id: stampedId('group', now), upstreamId };
      return settle(gateway, session, { status: 'verified', resultCode: passed, group }, now);
    }
    case 'failed':
      return settle(gateway, session, { status: 'failed', resultCode: told.resultCode }, now);
    case 'expired':
      return settle(gateway, session, { status: 'expired' }, now);
  }
}

/** Ends the session, unless somebody else has, and gives it as it is then. */
async function settle(
  { store }: Gateway,
  session: VerificationSessionsTable,
  end: VerificationEnd,
  now: number,
): Promise<VerificationSessionsTable> {
  const { session_id: sessionId, user_id: userId } = session;
  await store.run('settleVerificationSession', { sessionId, end, now });
  return (await findVerificationSession(store.read, { sessionId, userId })) ?? session;
}

/** @throws Failure as `checkedSession` */
async function ask(
  { channels, logger, timers }: Gateway,
  { session_id: session, channel: name, user_id: user }: VerificationSessionsTable,
  resultCode: number | undefined,
): Promise<ToldSession> {
  const channel = channels.named(name);
  if (channel === undefined) throw channelUnavailable('The provider of this session is not available.');
  // Its own limit and not a reader's signal: others may be waiting for the same answer.
  const late = new AbortController();
  const tooLate = new Failure(504, 'upstream_timeout', 'The provider did not answer in time.');
  const alarm = timers.alarm(patience, () => late.abort(tooLate));
  const attempt = channel.health.startAttempt({ user, poll: true });
  try {
    const told = await askForSession({ channel, user, signal: late.signal }, session, resultCode);
    attempt.succeed();
    return told;
  } catch (error) {
    const turn = { channel, attempt };
    throw noteDriverError(logger, error, turn, 'a verification session could not be asked about').failure;
  } finally {
    alarm.cancel();
  }
}
