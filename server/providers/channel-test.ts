import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import type { Channel, UpstreamRequest } from '../channels/channel.ts';
import {
  type FailureKind,
  failureKindOf,
  failureKindOfStatus,
  isAccountError,
  isRefusal,
} from '../channels/failure-kinds.ts';
import { Failure } from '../lib/failure.ts';
import { objectField, parseJson } from '../lib/json.ts';
import { type Timers, withinLimit } from '../lib/timers.ts';
import { systemVoices } from '../models/catalogue.ts';
import { matcher } from '../settings/model-patterns.ts';
import { isJson } from './headers.ts';
import { speechPaths, toNative } from './native/speech-request.ts';
import { ProviderRedactor } from './provider-redactor.ts';
import { betaFailure, parseError, readUpTo } from './rejection.ts';

/** Longest response that is read. It may contain speech. */
const maxBytes = 4 * 1024 * 1024;
const maxProblemLength = 300;
const unknownId = 'unigate-channel-test';

/** The cheapest call that tests the base URL and the key of a channel. */
interface TestCall extends Pick<UpstreamRequest, 'method' | 'path' | 'headers' | 'body'> {
  kind: 'speech' | 'embeddings' | 'count_tokens' | 'query';
  /** Public id. Null if the call uses no model. */
  model: string | null;
}

export interface ChannelTestResult {
  ok: boolean;
  request: TestCall['kind'];
  model: string | null;
  /** Null without a response. */
  status: number | null;
  /** Null for a success, or if the provider rejected only this request. */
  failure: FailureKind | null;
  /** Redacted sentence. Empty for a success. */
  problem: string;
}

/** Makes a small real call and reports the outcome to the channel's health. @throws the signal's reason */
export async function runChannelTest(
  channel: Channel,
  { timers, limitMs, signal }: { timers: Timers; limitMs: number; signal: AbortSignal },
): Promise<ChannelTestResult> {
  const { kind, model, ...request } = testCallFor(channel);
  const poll = kind === 'query';
  const attempt = channel.health.startAttempt({ poll, ...(model !== null && { model }) });
  let status: number | null = null;
  const result = (failure: FailureKind | null, problem: string) => {
    if (failure === null) attempt.succeed();
    else attempt.fail(failure);
    return { ok: problem === '', request: kind, model, status, failure, problem };
  };
  try {
    const { headers, body } = await withinLimit(timers, limitMs, signal, async (limited) => {
      const response = await channel.request({ ...request, poll, signal: limited });
      ({ status } = response);
      return { headers: response.headers, body: await readUpTo(response.body, maxBytes) };
    });
    const redactor = new ProviderRedactor(channel, request.body);
    return result(...evaluate(kind, status ?? 0, isJson(headers) ? body : undefined, redactor));
  } catch (error) {
    signal.throwIfAborted();
    const failure = failureKindOf(error);
    return result(failure, problemOf(failure, error));
  } finally {
    attempt.finish();
  }
}

/** Returns the failure and the problem of a response. `body` is undefined if it is not JSON. */
function evaluate(
  kind: TestCall['kind'],
  status: number,
  body: Buffer | undefined,
  redactor: ProviderRedactor,
): [failure: FailureKind | null, problem: string] {
  const { code, type, message = '' } = parseError(body ?? Buffer.alloc(0));
  // No client has sent the request, so a refusal of it is one of the account.
  const isRefused = isRefusal(status) || isAccountError(code ?? type ?? '');
  const failure = isRefused ? 'key_refused' : failureKindOfStatus(status);
  const details = redactor.redact(message, maxProblemLength);
  const problem = `The provider answered with status ${status}${details === '' ? '.' : `: ${details}`}`;
  if (failure !== undefined) return [failure, problem];
  if (kind === 'query' && (status === 404 || body !== undefined)) return [null, ''];
  if (status >= 400) return [null, problem];
  const output = objectField(parseJson(body ?? ''), 'output');
  if (status !== 200 || body === undefined || (kind === 'speech' && output === undefined))
    return ['invalid_response', 'The response is not valid.'];
  const error = kind === 'speech' ? betaFailure(output, redactor) : undefined;
  if (error === undefined) return [null, ''];
  return [error.status >= 500 ? 'server_error' : null, error.message];
}

function problemOf(failure: FailureKind, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  switch (failure) {
    case 'unreachable':
      return `No connection was made${code}.`;
    case 'timeout':
      return 'The provider did not respond in time.';
    case 'busy':
      return 'No connection became free in time.';
    default:
      return error instanceof Failure ? error.message : `The connection broke off${code}.`;
  }
}

/** Paths of objects that do not exist. */
const queryPaths: Readonly<Record<Channel['settings']['protocol'], string>> = {
  native: `/api/v1/tasks/${unknownId}`,
  embeddings: `/v1/models/${unknownId}`,
  messages: `/v1/models/${unknownId}`,
  official: `/api/v3/contents/generations/tasks/${unknownId}`,
  eta: `/v1/videos/${unknownId}`,
  sigma: `/sigma/fetch/${unknownId}`,
  imgjob: `/imgjob/task/${unknownId}/fetch`,
  verification: `/api/resource-channel/vendorx/visual-validate/sessions/${unknownId}`,
};

function testCallFor(channel: Channel): TestCall {
  const { protocol } = channel.settings;
  const call =
    protocol === 'native'
      ? speechCall(channel)
      : protocol === 'embeddings' || protocol === 'messages'
        ? textCall(channel, protocol)
        : undefined;
  return call ?? { kind: 'query', model: null, method: 'GET', path: queryPaths[protocol] };
}

function textCall(channel: Channel, protocol: 'embeddings' | 'messages'): TestCall | undefined {
  const model = textModel(channel, protocol);
  if (model === undefined) return undefined;
  const upstream = channel.upstreamModel(model);
  if (protocol === 'embeddings') {
    const body = { model: upstream, input: 'a' };
    return { kind: 'embeddings', model, method: 'POST', path: '/v1/embeddings', body };
  }
  const body = { model: upstream, messages: [{ role: 'user', content: 'a' }] };
  const headers = { 'compat-version': '2023-06-01' };
  return { kind: 'count_tokens', model, method: 'POST', path: '/v1/messages/count_tokens', headers, body };
}

/** Synthesizes two letters with a model that has an HTTP route and a system voice. */
function speechCall(channel: Channel): TestCall | undefined {
  const serves = servedBy(channel);
  for (const model of models) {
    if (!model.protocols.includes('synthesizer') && !model.protocols.includes('multimodal')) continue;
    const voice = voiceOf(channel, model);
    if (voice === undefined || !serves(model.id)) continue;
    const { route, body } = toNative(model, { text: 'Hi', voice, streaming: 'no', extraInput: {} });
    if (route === 'inference') continue;
    const sent = { ...body, model: channel.upstreamModel(model.id) };
    return { kind: 'speech', model: model.id, method: 'POST', path: speechPaths[route], body: sent };
  }
  return undefined;
}

function voiceOf({ settings: { voices } }: Channel, model: CatalogueModel): string | undefined {
  const system = systemVoices(model).map(({ id }) => id);
  return voices === undefined || voices === 'catalogue'
    ? system[0]
    : system.find((id) => voices.includes(id));
}

/** The first model that the channel lists by full id, or a model of the catalog that matches a pattern. */
function textModel(channel: Channel, protocol: 'embeddings' | 'messages'): string | undefined {
  const named = channel.settings.models.find(({ id }) => !id.includes('*'))?.id;
  const serves = servedBy(channel);
  return named ?? models.find(({ id, protocols }) => protocols.includes(protocol) && serves(id))?.id;
}

function servedBy({ settings }: Channel): (model: string) => boolean {
  return matcher(settings.models.map(({ id }) => id));
}
