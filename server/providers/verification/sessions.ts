import { field, idField, numberBetween, textField, timeField, urlField } from '../../lib/json.ts';
import { DriverError, type Upstream } from '../../tasks/driver.ts';
import { providerFailure } from '../rejection.ts';
import { invalidResponse, requestTask } from '../task-request.ts';

const path = '/api/resource-channel/vendorx/visual-validate/sessions';

/** The contract's limit for session ids. */
const maxIdLength = 128;
/** Lifetime of a session unless the provider reports another one, and the longest that is accepted. */
const defaultLifetimeMs = 30 * 60_000;
const maxLifetimeMs = 24 * 60 * 60_000;

/** A provider's state of a session. `groupId` is the provider's id. */
export type SessionState =
  | { status: 'pending' | 'expired' }
  | { status: 'verified'; resultCode: number; groupId: string | undefined }
  | { status: 'failed'; resultCode: number | undefined };

const passedCode = 10_000;

/** Creates a session at the provider. @throws DriverError as `requestTask` */
export async function startSession(upstream: Upstream, body: object) {
  const data = sessionIn(await requestTask(upstream, { method: 'POST', path, body }));
  const sessionId = idField(data, 'session_id');
  const h5Link = urlField(data, 'h5_link');
  // The browser returns the token to the client, which identifies the session by it.
  const isToken = [undefined, sessionId].includes(textField(data, 'vendor_token'));
  if (sessionId === undefined || sessionId.length > maxIdLength || h5Link === undefined || !isToken)
    throw invalidResponse();
  return { sessionId, h5Link, lifetimeMs: lifetimeOf(data) };
}

/** Polls a session. Some providers check the result only with the browser's result code. Never throws `rejected`. */
export async function fetchSession(
  upstream: Upstream,
  sessionId: string,
  resultCode: number | undefined,
): Promise<SessionState> {
  const query = resultCode === undefined ? '' : `?result_code=${resultCode}`;
  const request = { method: 'GET', path: `${path}/${encodeURIComponent(sessionId)}${query}` } as const;
  const data = sessionIn(await requestTask(upstream, request).catch(rethrowRejection));
  switch (textField(data, 'status')?.toLowerCase()) {
    case undefined:
      throw invalidResponse();
    case 'verified':
    case 'succeeded':
      return { status: 'verified', resultCode: passedCode, groupId: idField(data, 'group_id') };
    case 'failed':
      return { status: 'failed', resultCode: failureCode(data) };
    case 'expired':
      return { status: 'expired' };
    default:
      return { status: 'pending' };
  }
}

/** A rejection of a poll is not caused by the client's request. */
function rethrowRejection(error: unknown): never {
  throw error instanceof DriverError && error.kind === 'rejected' ? invalidResponse() : error;
}

/** Reads the envelope. Some providers report a failure with HTTP 200. */
function sessionIn(answer: unknown): unknown {
  if (field(answer, 'success') === false) throw new DriverError('retryable', providerFailure(502));
  return field(answer, 'data');
}

/** Uses only the provider's clock, which may differ from ours. */
function lifetimeOf(data: unknown): number {
  const life = timeField(data, 'expires_at') - timeField(data, 'created_at');
  return life > 0 && life <= maxLifetimeMs ? life : defaultLifetimeMs;
}

function failureCode(data: unknown): number | undefined {
  const code = numberBetween(data, 'result_code', 0, 2 ** 31 - 1);
  return Number.isInteger(code) && code !== passedCode ? code : undefined;
}
