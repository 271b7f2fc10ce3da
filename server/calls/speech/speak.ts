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
import { type CallResponder, runMeteredCall } from '../metered-call.ts';

/** A speech request, translated for the upstream. */
export interface SpeechJob {
  operation: OperationId;
  model: CatalogueModel;
  speech: SpeechText;
  /** The text is SSML. Its tags are not billed. */
  ssml: boolean;
  native: Pick<NativeSpeechRequest, 'route' | 'body'>;
  /** Requests events from the provider. */
  events: boolean;
  /** Other strings in the body that may name a voice. */
  voices: readonly NamedVoice[];
  /** The request must not run twice. */
  atMostOnce?: boolean;
}

/** @throws Failure 404 or 403 when the model does not exist or the key may not use it. */
export function modelFor(request: OperationRequest<OperationId>, id: string): CatalogueModel {
  const model = findModel(id);
  request.gateway.access.require(request.caller, model);
  return model;
}

/** Runs a speech call over HTTP. */
export function speak(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  respond: CallResponder,
): Promise<void> {
  const { native, model, events } = job;
  if (native.route === 'inference') throw new Error(`${model.id} has no HTTP route`);
  const path = speechPaths[native.route];
  const sendUpstream = (channels: readonly Channel[], signal: AbortSignal) =>
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
      { user: request.caller.userId, model: model.id, atMostOnce: job.atMostOnce },
    );
  return runSpeech(request, reply, job, sendUpstream, respond);
}

/** Runs a speech call over the duplex socket, for models without an HTTP route. */
export function speakOverSocket(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  respond: CallResponder<OpenedSocket>,
): Promise<void> {
  const sendUpstream = (channels: readonly Channel[], signal: AbortSignal) =>
    openSocketWithFailover(
      channels,
      { path: '/api-ws/v1/inference', model: job.model.id, user: request.caller.userId, signal },
      request.gateway.logger,
    );
  return runSpeech(request, reply, job, sendUpstream, respond);
}

/** Checks the request against the model, reserves quota and runs the call as `runMeteredCall`. */
async function runSpeech<Upstream extends Candidate>(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  sendUpstream: (channels: readonly Channel[], signal: AbortSignal) => Promise<Upstream>,
  respond: CallResponder<Upstream>,
): Promise<void> {
  checkSpeech(job.model, job.speech);
  const { channels } = request.gateway;
  const serving = await channelsFor(request, job);
  const metering = await openMetering(request, job);
  const send = (signal: AbortSignal) => sendUpstream(channels.order(serving), signal);
  await runMeteredCall(request, reply, metering, send, respond);
}

/** Channels that have the model and every voice in the body. */
function channelsFor(
  { gateway, caller }: OperationRequest<OperationId>,
  { model, speech: { voice, fields }, voices }: SpeechJob,
): Promise<readonly Channel[]> {
  // A mix of voices has no main voice.
  const main = voice === '' ? [] : [{ field: fields.voice, voice, named: true }];
  return channelsForVoices(gateway, caller, model, [...main, ...voices]);
}

function openMetering(
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
