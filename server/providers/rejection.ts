import { isUnavailable } from '../channels/failure-kinds.ts';
import { readRetryAfter } from '../channels/retry-after.ts';
import { Failure, type NativeErrorBody, ProviderFailure, ProviderOutage } from '../lib/failure.ts';
import type { HttpResponse } from '../outbound/send-request.ts';
import { field, textField } from './json.ts';
import type { ProviderWords } from './provider-words.ts';

/** Longest error body that is read. */
const maxBytes = 64 * 1024;
/** Characters of a provider's code that are kept. */
const maxCodeLength = 200;
const refused = 'The provider refused the request.';

/** A provider's rejection of a request. */
export interface Rejection {
  status: number;
  /** The body as it came, for native routes: masked as `nativeJson` does. */
  body: Buffer;
  code: string | undefined;
  message: string | undefined;
  /** Seconds, as `readRetryAfter`. */
  retryAfter: number | undefined;
}

/**
 * Reads the rejection of an upstream, in the words that a client may read.
 *
 * @throws ProviderOutage 502, 503 or 504 for the provider's own failure; Failure 502 when it refuses the gateway's key or
 *   account
 */
export async function readRejection(
  { status, headers, body }: HttpResponse,
  words: ProviderWords,
): Promise<Rejection> {
  if ([401, 402, 403].includes(status) || status < 400) {
    await body.dump();
    throw providerFailure(status, readRetryAfter(headers));
  }
  if (status >= 500) {
    // A body that breaks off tells nothing more than the status.
    const reported = await readUpTo(body, maxBytes).then(
      (bytes) => nativeErrorIn(words.nativeJson(bytes)),
      () => undefined,
    );
    throw new ProviderOutage(providerFailure(status, readRetryAfter(headers)), reported);
  }
  const bytes = await readUpTo(body, maxBytes);
  const { code, type, message } = errorIn(words.json(bytes));
  if (aboutOurAccount(code ?? type ?? '')) throw providerFailure(502);
  return { status, body: words.nativeJson(bytes), code, message, retryAfter: readRetryAfter(headers) };
}

/** The error body of a provider's own failure; undefined when it has none, or one about the gateway's account. */
function nativeErrorIn(bytes: Buffer): NativeErrorBody | undefined {
  const { code, message, requestId } = errorIn(bytes);
  if (code === undefined || message === undefined || aboutOurAccount(code)) return undefined;
  return { code, message, request_id: requestId };
}

/** The refusal as the generic error of the standard route; the provider's code and words are kept. */
export function rejectionFailure({ status, code, message, retryAfter }: Rejection): Failure {
  if (status === 429) return throttled(retryAfter);
  const reported = ([404, 413, 415] as const).find((one) => one === status) ?? 400;
  return new ProviderFailure(reported, code ?? 'bad_request', message ?? refused);
}

/** `retryAfter` is in seconds. */
export function throttled(retryAfter = 1): Failure {
  return new Failure(429, 'rate_limit_exceeded', 'The provider takes no more requests now.', { retryAfter });
}

/**
 * What a client is reported of a provider's own failure: not its words, which may name hosts and accounts. `retryAfter` is in
 * seconds.
 */
export function providerFailure(status: number, retryAfter = 1): Failure {
  if (isUnavailable(status))
    return new Failure(503, 'get_channel_failed', 'The provider is not available now.', { retryAfter });
  if (status === 504) return new Failure(504, 'upstream_timeout', 'The provider did not answer in time.');
  return new Failure(502, 'bad_response_status_code', 'The provider failed to handle the request.');
}

/** What a failure means for the client that is reported with HTTP 200: in an event, or in a frame. */
export function reportedFailure(code: unknown, message: unknown, words: ProviderWords): Failure {
  const name = typeof code === 'string' ? words.code(code) : '';
  if (isThrottling(name)) return throttled();
  if (aboutOurAccount(name) || !blamesClient(name)) return providerFailure(502);
  const said = typeof message === 'string' && message !== '' ? words.text(message) : refused;
  return new ProviderFailure(400, name, said);
}

/** Verdicts of beta models on our account, and on the provider itself. */
const onUs = new Set<unknown>([1004, 1008, 2038, 2049]);
const onItself = new Set<unknown>([1000, 1001, 1013]);

/** Whose a failure is that beta models report with HTTP 200; undefined when it is the client's, or there is none. */
export function betaFault(output: unknown): 'ours' | 'provider' | undefined {
  const verdict = field(field(output, 'base_resp'), 'status_code');
  return onUs.has(verdict) ? 'ours' : onItself.has(verdict) ? 'provider' : undefined;
}

/** Failures that beta models report with HTTP 200. Undefined: no failure. */
export function betaFailure(output: unknown, words: ProviderWords): Failure | undefined {
  const verdict = field(field(output, 'base_resp'), 'status_code');
  if (typeof verdict !== 'number' || verdict === 0) return undefined;
  if (verdict === 1002 || verdict === 1039) return throttled();
  const said = words.text(textField(field(output, 'base_resp'), 'status_msg') ?? refused);
  if (verdict === 1042 || verdict === 2013) return new ProviderFailure(400, 'InvalidParameter', said);
  if (verdict === 1001) return providerFailure(504);
  return providerFailure(502);
}

export async function readUpTo(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** The fields of an error body, whether they stand at the top or under `error`. */
export function errorIn(
  bytes: Buffer,
): Record<'code' | 'type' | 'message' | 'requestId', string | undefined> {
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    const error = field(parsed, 'error') ?? parsed;
    // The code stands in the books, too, which take no control characters.
    const code = textField(error, 'code')
      ?.replaceAll(/\p{Cc}/gu, '')
      .slice(0, maxCodeLength);
    return {
      code,
      type: textField(error, 'type'),
      message: textField(error, 'message'),
      requestId: textField(error, 'request_id') ?? textField(parsed, 'request_id'),
    };
  } catch {
    return { code: undefined, type: undefined, message: undefined, requestId: undefined };
  }
}

/** Whether a provider's code is about the gateway's own account, of which a client must not hear. */
export function aboutOurAccount(code: string): boolean {
  return /^(invalid_?api_?key|access_?denied|unauthorized|authentication|permission|arrearage|billing|insufficient_?(user_)?quota)/i.test(
    code,
  );
}

/** Whether a provider's code means that it takes no more for now. */
export function isThrottling(code: string): boolean {
  return /^(throttling|rate_?limit|too_?many)/i.test(code);
}

/** Whether a provider's code blames the text or a parameter of the client. */
export function blamesClient(code: string): boolean {
  return /^(invalid|bad_?request|data_?inspection|unsupported|empty)/i.test(code);
}
