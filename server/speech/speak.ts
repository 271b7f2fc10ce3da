import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { type Answered, requestInTurn, unanswered } from '../channels/failover.ts';
import { type OpenedSocket, openSocketInTurn } from '../channels/socket.ts';
import { channelsForVoices, type NamedVoice } from '../channels/voice-route.ts';
import { Failure } from '../failure.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { Metering, type Usage } from '../ledger/metering.ts';
import { findModel } from '../models/catalogue.ts';
import { checkSpeech, type SpeechText } from '../models/speech-rules.ts';
import { countCharacters, likelySpeechTokens, maxSpeechTokens } from '../models/usage.ts';
import { type NativeSpeechRequest, speechPaths } from '../providers/native/speech-request.ts';
import { TimeLimitError, withinLimit } from '../runtime/timers.ts';

/** A speech request that is ready to go upstream. */
export interface SpeechJob {
  operation: OperationId;
  model: CatalogueModel;
  speech: SpeechText;
  /** The text is SSML, whose tags are not billed. */
  ssml: boolean;
  native: Pick<NativeSpeechRequest, 'route' | 'body'>;
  /** The provider is asked for events. */
  events: boolean;
  /** What else in the body might be a voice. */
  voices: readonly NamedVoice[];
  /** It makes something that must not be made twice, so that no second channel is asked. */
  once?: boolean;
}

/** What is known of a call's bill while its answer goes out. */
export interface SpeechMeter {
  /** The last figure that the provider reported. */
  readonly usage: Usage | undefined;
  /** Whether any audio has gone out. */
  readonly delivered: boolean;
  /** What has gone out, where that is known to be more than the last figure. */
  readonly heard?: Usage;
  /** The answer passes, and says that the synthesis failed. */
  readonly failure?: Failure | undefined;
}

/** An answer on its way. */
export interface SpeechOutput {
  meter: SpeechMeter;
  /** Sends it. Before the last of it the books are closed, so that a delivered answer is a paid one. */
  send(): Promise<void>;
}

/** What an answer is made with. */
export interface SpeechCall {
  /** Aborted when the client leaves, or the time for all of it is over. */
  readonly signal: AbortSignal;
  readonly metering: Metering;
  /** Charges what was used. Resolves when it is on disk. */
  settle(meter: SpeechMeter): Promise<void>;
}

/** Makes the answer to the client out of what came from upstream. */
export type SpeechAnswer<Upstream = Answered> = (
  upstream: Upstream,
  call: SpeechCall,
) => Promise<SpeechOutput>;

/** @throws Failure 404 or 403 when the model does not exist or the key may not use it. */
export function modelFor(request: OperationRequest<OperationId>, id: string): CatalogueModel {
  const model = findModel(id);
  request.gateway.access.require(request.caller, model);
  return model;
}

/** Speaks over HTTP, as `run` says. */
export function speak(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  answer: SpeechAnswer,
): Promise<void> {
  const { native, model, events } = job;
  if (native.route === 'inference') throw new Error(`${model.id} speaks over a socket only`);
  const path = speechPaths[native.route];
  const ask = (channels: readonly Channel[], signal: AbortSignal) =>
    requestInTurn(
      channels,
      (channel) => ({
        method: 'POST',
        path,
        ...(events ? { headers: { 'X-Native-SSE': 'enable' } } : {}),
        body: { ...native.body, model: channel.upstreamModel(model.id) },
        user: request.caller.userId,
        signal,
      }),
      request.gateway.logger,
    );
  return run(request, reply, job, ask, answer);
}

/** Speaks over the duplex socket, for models without an HTTP route, as `run` says. */
export function speakOverSocket(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  answer: SpeechAnswer<OpenedSocket>,
): Promise<void> {
  const ask = (channels: readonly Channel[], signal: AbortSignal) =>
    openSocketInTurn(
      channels,
      { path: '/api-ws/v1/inference', model: job.model.id, signal },
      request.gateway.logger,
    );
  return run(request, reply, job, ask, answer);
}

/**
 * Checks what depends on the model, holds quota, asks upstream, and sends the answer. Whatever goes wrong gives the
 * quota back; a client that leaves in the middle, or does not read until the time is over, pays for what has gone out
 * or the upstream has counted by then, or for the whole text where the upstream counts it when it takes it.
 */
async function run<Upstream extends { channel: Channel }>(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  ask: (channels: readonly Channel[], signal: AbortSignal) => Promise<Upstream>,
  answer: SpeechAnswer<Upstream>,
): Promise<void> {
  const { gateway, signal: client } = request;
  checkSpeech(job.model, job.speech);
  const serving = await channelsFor(request, job);
  const metering = await hold(request, job);
  let channel = '';
  let output: SpeechOutput | undefined;
  try {
    await withinLimit(gateway.timers, gateway.settings.speechMs, client, async (signal) => {
      const upstream = await ask(gateway.channels.order(serving).slice(0, job.once ? 1 : undefined), signal);
      channel = upstream.channel.name;
      output = await answer(upstream, {
        signal,
        metering,
        settle: (meter) => settle(metering, meter, upstream.channel.name),
      });
      await output.send();
    });
  } catch (error) {
    // The provider's slowness is not the client's to pay, but what waits for the client was made for it.
    const left = client.aborted || (error instanceof TimeLimitError && reply.behind);
    const failure = error instanceof Failure ? error : unanswered(error);
    const { status, code } = left ? { status: 499, code: 'client_closed_request' } : failure;
    const outcome = { channel, status, errorCode: code };
    const { heard, usage, delivered = false } = output?.meter ?? {};
    if (left && delivered) await metering.charge(heard ?? usage ?? metering.expected, outcome);
    else await metering.refund(outcome);
    throw failure;
  }
}

/** The channels that have the model and every voice that the body names. */
function channelsFor(
  { gateway, caller }: OperationRequest<OperationId>,
  { model, speech: { voice, fields }, voices }: SpeechJob,
): Promise<readonly Channel[]> {
  // A mix of voices needs no single one.
  const main = voice === '' ? [] : [{ field: fields.voice, voice, named: true }];
  return channelsForVoices(gateway, caller, model, [...main, ...voices]);
}

function hold(
  { gateway, caller, requestId, startedAt }: OperationRequest<OperationId>,
  { operation, model, speech, ssml, native }: SpeechJob,
): Promise<Metering> {
  const call = { requestId, caller, operation, model, startedAt };
  if (model.unit !== 'tokens') {
    return Metering.open(gateway, { ...call, expectedUnits: countCharacters(speech.text, { ssml }) });
  }
  const pace = { rate: native.body.input.rate, instruction: speech.instructions };
  return Metering.open(gateway, {
    ...call,
    expectedUnits: maxSpeechTokens(speech.text, pace),
    likely: likelySpeechTokens(speech.text),
  });
}

/** Charges what was reported, or what was expected when audio went out without a figure. */
async function settle(
  metering: Metering,
  { usage, delivered, failure }: SpeechMeter,
  channel: string,
): Promise<void> {
  const outcome = { channel, status: 200 };
  if (failure !== undefined) await metering.refund({ ...outcome, errorCode: failure.code });
  else if (usage !== undefined) await metering.charge(usage, outcome);
  else if (delivered) await metering.charge(metering.expected, outcome);
  else await metering.refund({ ...outcome, errorCode: 'no_audio' });
}
