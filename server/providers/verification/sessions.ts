import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { askForTask, badAnswer } from '../ask-for-task.ts';
import { field, idField, numberField, textField, webAddress } from '../json.ts';
import { providerFailure } from '../rejection.ts';

const path = '/api/resource-channel/vendorx/visual-validate/sessions';

/** Longest id that is taken for one: the longest that the contract lets a client ask for. */
const maxIdLength = 128;
/** A session lasts so long unless the provider says otherwise, and never longer than a day, in milliseconds. */
const usualLife = 30 * 60_000;
const longestLife = 24 * 60 * 60_000;

/** A session that a provider has made. */
export interface StartedSession {
  /** It is the token, too. */
  sessionId: string;
  h5Link: string;
  /** Milliseconds. */
  lifeMs: number;
}

/** What a provider says of a session. `groupId` is its own id. */
export type ToldSession =
  | { status: 'pending' | 'expired' }
  | { status: 'verified'; resultCode: number; groupId: string | undefined }
  | { status: 'failed'; resultCode: number | undefined };

/** What a passed check has as its result code. */
const passed = 10_000;

/**
 * Has the provider make a session.
 *
 * @throws DriverError as `askForTask`
 */
export async function startSession(upstream: Upstream, body: object): Promise<StartedSession> {
  const data = sessionIn(await askForTask(upstream, { method: 'POST', path, body }));
  const sessionId = idField(data, 'session_id');
  const h5Link = webAddress(data, 'h5_link');
  // The browser brings the token to the client, who knows the session by it.
  const isToken = [undefined, sessionId].includes(textField(data, 'vendor_token'));
  if (sessionId === undefined || sessionId.length > maxIdLength || h5Link === undefined || !isToken)
    throw badAnswer();
  return { sessionId, h5Link, lifeMs: lifeOf(data) };
}

/**
 * Asks how a session stands. The result code that the client was brought is passed on, since some providers look for
 * the result only then.
 *
 * @throws DriverError as `askForTask`, never `rejected`
 */
export async function askForSession(
  upstream: Upstream,
  sessionId: string,
  resultCode: number | undefined,
): Promise<ToldSession> {
  const query = resultCode === undefined ? '' : `?result_code=${resultCode}`;
  const request = { method: 'GET', path: `${path}/${encodeURIComponent(sessionId)}${query}` } as const;
  const data = sessionIn(await askForTask(upstream, request).catch(unlessRefused));
  switch (textField(data, 'status')?.toLowerCase()) {
    case undefined:
      throw badAnswer();
    case 'verified':
    case 'succeeded':
      return { status: 'verified', resultCode: passed, groupId: idField(data, 'group_id') };
    case 'failed':
      return { status: 'failed', resultCode: failureCode(data) };
    case 'expired':
      return { status: 'expired' };
    default:
      return { status: 'pending' };
  }
}

/** A refusal is not about what the client has asked for, whose session it is. */
function unlessRefused(error: unknown): never {
  throw error instanceof DriverError && error.kind === 'rejected' ? badAnswer() : error;
}

/** What the envelope holds. Some providers refuse with HTTP 200. */
function sessionIn(answer: unknown): unknown {
  if (field(answer, 'success') === false) throw new DriverError('retryable', providerFailure(502));
  return field(answer, 'data');
}

/** By the provider's own clock, whatever that shows. */
function lifeOf(data: unknown): number {
  const reported = (name: string) => Date.parse(textField(data, name) ?? '');
  const life = reported('expires_at') - reported('created_at');
  return life > 0 && life <= longestLife ? life : usualLife;
}

function failureCode(data: unknown): number | undefined {
  const code = numberField(data, 'result_code');
  const usable = code !== undefined && Number.isInteger(code) && code >= 0 && code < 2 ** 31;
  return usable && code !== passed ? code : undefined;
}
