import { type CatalogueModel, models } from '../../generated/catalogue.ts';
import type { Channel, UpstreamRequest } from '../channels/channel.ts';
import { type FailureKind, failureKindOf, failureKindOfStatus } from '../channels/failure-kinds.ts';
import { Failure } from '../lib/failure.ts';
import { type Timers, withinLimit } from '../lib/timers.ts';
import { systemVoices } from '../models/catalogue.ts';
import { matcher } from '../settings/model-patterns.ts';
import { isJson } from './headers.ts';
import { speechPaths, toNative } from './native/speech-request.ts';
import { parseAnswer } from './native/whole-answer.ts';
import { ProviderWords } from './provider-words.ts';
import { aboutOurAccount, betaFailure, errorIn, readUpTo } from './rejection.ts';

/** Longest answer that is looked at: speech may come within it. */
const maxBytes = 4 * 1024 * 1024;
/** Longest problem of a provider's that is told. */
const maxWords = 300;
/** Nothing has this id. */
const nothing = 'unigate-channel-test';

/** The cheapest call that shows whether address and key of a channel are good. */
interface SmallCall extends Pick<UpstreamRequest, 'method' | 'path' | 'headers' | 'body'> {
  kind: 'speech' | 'embeddings' | 'count_tokens' | 'query';
  /** Public id; null where the call is for none. */
  model: string | null;
}

export interface ChannelVerdict {
  ok: boolean;
  request: SmallCall['kind'];
  model: string | null;
  /** Null: no answer came. */
  status: number | null;
  /** Null: nothing failed, or the provider refused this very request. */
  failure: FailureKind | null;
  /** A sentence without the provider's hosts and keys; empty where nothing went wrong. */
  problem: string;
}

interface Patience {
  timers: Timers;
  limitMs: number;
  /** Aborted when nobody waits any more. */
  signal: AbortSignal;
}

/**
 * Makes a small real call, and tells the channel's health how it ended.
 *
 * @throws the reason of the signal when that is aborted
 */
export async function tryChannel(
  channel: Channel,
  { timers, limitMs, signal }: Patience,
): Promise<ChannelVerdict> {
  const { kind, model, ...request } = smallCall(channel);
  const poll = kind === 'query';
  const attempt = channel.health.startAttempt({ poll, ...(model !== null && { model }) });
  const told = { request: kind, model };
  let status: number | null = null;
  try {
    const { headers, body } = await withinLimit(timers, limitMs, signal, async (limited) => {
      const response = await channel.request({ ...request, poll, signal: limited });
      ({ status } = response);
      return { headers: response.headers, body: await readUpTo(response.body, maxBytes) };
    });
    const words = new ProviderWords(channel, request.body);
    const found = judge(kind, status ?? 0, isJson(headers) ? body : undefined, words);
    if (found.failure === null) attempt.succeed();
    else attempt.fail(found.failure);
    return { ...told, status, ...found };
  } catch (error) {
    signal.throwIfAborted();
    const failure = failureKindOf(error);
    attempt.fail(failure);
    return { ...told, status, ok: false, failure, problem: problemOf(failure, error) };
  } finally {
    attempt.finish();
  }
}

/** `body`: undefined when it is no JSON. */
function judge(
  kind: SmallCall['kind'],
  status: number,
  body: Buffer | undefined,
  words: ProviderWords,
): Pick<ChannelVerdict, 'ok' | 'failure' | 'problem'> {
  const { code, type, message = '' } = errorIn(body ?? Buffer.alloc(0));
  const refused = aboutOurAccount(code ?? type ?? '') ? 'key_refused' : undefined;
  const fault = refused ?? failureKindOfStatus(status);
  const said = words.text(message, maxWords);
  const answered = `The provider answered with status ${status}${said === '' ? '.' : `: ${said}`}`;
  if (fault !== undefined) return { ok: false, failure: fault, problem: answered };
  if (kind === 'query' && (status === 404 || body !== undefined))
    return { ok: true, failure: null, problem: '' };
  if (status >= 400) return { ok: false, failure: null, problem: answered };
  const nonsense = { ok: false, failure: 'bad_answer' as const, problem: 'The answer makes no sense.' };
  if (status !== 200 || body === undefined) return nonsense;
  if (kind !== 'speech') return { ok: true, failure: null, problem: '' };
  try {
    const refusal = betaFailure(parseAnswer({}, body).output, words);
    if (refusal === undefined) return { ok: true, failure: null, problem: '' };
    return { ok: false, failure: refusal.status >= 500 ? 'server_error' : null, problem: refusal.message };
  } catch {
    return nonsense;
  }
}

function problemOf(failure: FailureKind, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  switch (failure) {
    case 'unreachable':
      return `No connection was made${code}.`;
    case 'timeout':
      return 'No answer came in time.';
    case 'busy':
      return 'No connection became free in time.';
    default:
      return error instanceof Failure ? error.message : `The connection broke off${code}.`;
  }
}

function smallCall(channel: Channel): SmallCall {
  const { protocol } = channel.settings;
  switch (protocol) {
    case 'native':
      return speech(channel) ?? query('/api/v1/tasks/');
    case 'embeddings': {
      const model = textModel(channel, 'embeddings');
      if (model === undefined) return query('/v1/models/');
      const body = { model: channel.upstreamModel(model), input: 'a' };
      return { kind: 'embeddings', model, method: 'POST', path: '/v1/embeddings', body };
    }
    case 'messages': {
      const model = textModel(channel, 'messages');
      if (model === undefined) return query('/v1/models/');
      const body = { model: channel.upstreamModel(model), messages: [{ role: 'user', content: 'a' }] };
      const headers = { 'compat-version': '2023-06-01' };
      const path = '/v1/messages/count_tokens';
      return { kind: 'count_tokens', model, method: 'POST', path, headers, body };
    }
    case 'official':
      return query('/api/v3/contents/generations/tasks/');
    case 'eta':
      return query('/v1/videos/');
    case 'sigma':
      return query('/sigma/fetch/');
    case 'imgjob':
      return query('/imgjob/task/', '/fetch');
    case 'verification':
      return query('/api/resource-channel/vendorx/visual-validate/sessions/');
  }
}

/** Asks for something that does not exist. */
function query(before: string, after = ''): SmallCall {
  return { kind: 'query', model: null, method: 'GET', path: `${before}${nothing}${after}` };
}

/** Two letters, by a model that speaks over HTTP with a voice that needs not be made first. */
function speech(channel: Channel): SmallCall | undefined {
  const serves = servedBy(channel);
  for (const model of models) {
    if (!model.protocols.includes('synthesizer') && !model.protocols.includes('multimodal')) continue;
    const voice = voiceOf(channel, model);
    if (voice === undefined || !serves(model.id)) continue;
    const { route, body } = toNative(model, {
      text: 'Hi',
      voice,
      format: undefined,
      speed: undefined,
      instructions: undefined,
      streaming: 'no',
      extraInput: {},
      extraParameters: undefined,
    });
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

/** The first model that the channel names by its whole id, or one of the catalogue that it serves by a pattern. */
function textModel(channel: Channel, protocol: 'embeddings' | 'messages'): string | undefined {
  const named = channel.settings.models.find(({ id }) => !id.includes('*'))?.id;
  const serves = servedBy(channel);
  return named ?? models.find(({ id, protocols }) => protocols.includes(protocol) && serves(id))?.id;
}

function servedBy({ settings }: Channel): (model: string) => boolean {
  return matcher(settings.models.map(({ id }) => id));
}
