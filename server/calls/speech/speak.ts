import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import { type Candidate, requestWithFailover } from '../../channels/failover.ts';
import { type OpenedSocket, openSocketWithFailover } from '../../channels/socket.ts';
import { channelsForVoices, type NamedVoice } from '../../channels/voice-route.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { findModel } from '../../models/catalogue.ts';
import { checkSpeech, type SpeechText } from '../../models/speech-rules.ts';
import { likelySpeechUsage, maxSpeechUnits } from '../../models/usage.ts';
import { type NativeSpeechRequest, speechPaths } from '../../providers/native/speech-request.ts';
import { Metering } from '../../quota/metering.ts';
import { answerCall, type CallAnswer } from '../metered-call.ts';

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
  /** It makes something that must not be made twice. */
  once?: boolean;
}

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
  answer: CallAnswer,
): Promise<void> {
  const { native, model, events } = job;
  if (native.route === 'inference') throw new Error(`${model.id} speaks over a socket only`);
  const path = speechPaths[native.route];
  const ask = (channels: readonly Channel[], signal: AbortSignal) =>
    requestWithFailover(
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
      { user: request.caller.userId, model: model.id, atMostOnce: job.once },
    );
  return run(request, reply, job, ask, answer);
}

/** Speaks over the duplex socket, for models without an HTTP route, as `run` says. */
export function speakOverSocket(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  answer: CallAnswer<OpenedSocket>,
): Promise<void> {
  const ask = (channels: readonly Channel[], signal: AbortSignal) =>
    openSocketWithFailover(
      channels,
      { path: '/api-ws/v1/inference', model: job.model.id, user: request.caller.userId, signal },
      request.gateway.logger,
    );
  return run(request, reply, job, ask, answer);
}

/** Checks what depends on the model, holds quota, asks upstream and answers, as `answerCall` says. */
async function run<Upstream extends Candidate>(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  ask: (channels: readonly Channel[], signal: AbortSignal) => Promise<Upstream>,
  answer: CallAnswer<Upstream>,
): Promise<void> {
  checkSpeech(job.model, job.speech);
  const { channels } = request.gateway;
  const serving = await channelsFor(request, job);
  const metering = await hold(request, job);
  const inTurn = (signal: AbortSignal) => ask(channels.order(serving), signal);
  await answerCall(request, reply, metering, inTurn, answer);
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
  const pace = { rate: native.body.input.rate, instruction: speech.instructions };
  return Metering.open(gateway, {
    requestId,
    caller,
    operation,
    model,
    startedAt,
    expectedUnits: maxSpeechUnits(model.unit, speech.text, { ssml, pace }),
    likely: likelySpeechUsage(model.unit, speech.text, { ssml }),
  });
}
