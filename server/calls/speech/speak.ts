import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { Channel } from '../../channels/channel.ts';
import type { Candidate } from '../../channels/failover.ts';
import { type OpenedSocket, openSocketWithFailover } from '../../channels/socket.ts';
import { channelsForVoices, type NamedVoice, voiceKind } from '../../channels/voice-route.ts';
import type { Gateway } from '../../http/gateway.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import type { Caller } from '../../keys/caller.ts';
import { findModel } from '../../models/catalogue.ts';
import { checkSpeech, type SpeechText } from '../../models/speech-rules.ts';
import { likelySpeechUsage, maxSpeechUsage } from '../../models/usage.ts';
import { type NativeSpeechRequest, speechPaths } from '../../providers/native/speech-request.ts';
import type { MeteredCall } from '../../quota/metering.ts';
import type { PricedRequest } from '../../quota/priced-request.ts';
import type { PriceFields } from '../../settings/price-rules.ts';
import { type CallResponder, openMetering, requestModel, runMeteredCall } from '../metered-call.ts';

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
    requestModel(request, channels, {
      path,
      ...(events && { headers: { 'X-Native-SSE': 'enable' } }),
      model: model.id,
      atMostOnce: job.atMostOnce,
      body: () => native.body,
      signal,
    });
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
      {
        path: '/api-ws/v1/inference',
        model: job.model.id,
        user: request.caller.userId,
        hasFallback: request.hasFallback,
        signal,
      },
      request.gateway.logger,
    );
  return runSpeech(request, reply, job, sendUpstream, respond);
}

/** Reserves quota and runs the call as `runMeteredCall`. */
async function runSpeech<Upstream extends Candidate>(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  sendUpstream: (channels: readonly Channel[], signal: AbortSignal) => Promise<Upstream>,
  respond: CallResponder<Upstream>,
): Promise<void> {
  const { serving, ...priced } = await priceSpeech(request, job);
  reply.deferCharge();
  const metering = await openMetering(request, { operation: job.operation, ...priced });
  const send = (signal: AbortSignal) => sendUpstream(request.gateway.channels.order(serving), signal);
  await runMeteredCall(request, reply, metering, send, respond);
}

/**
 * Checks a request against its model. Returns its price, and the channels that can speak with its voices.
 *
 * @throws Failure as `checkSpeech` and `channelsForVoices`
 */
export async function priceSpeech(
  { gateway, caller }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller'>,
  { model, speech, ssml, native, voices }: SpeechJob,
): Promise<PricedRequest & Pick<MeteredCall, 'likely'> & { serving: Channel[] }> {
  checkSpeech(model, speech);
  // A mix of voices has no main voice.
  const main = speech.voice === '' ? [] : [{ field: speech.fields.voice, voice: speech.voice, named: true }];
  const serving = await channelsForVoices(gateway, caller, model, [...main, ...voices]);
  const pace = { rate: native.body.input.rate, instruction: speech.instructions };
  // A mix is priced by the first of its voices.
  const voice = speech.voice === '' ? voices.find(({ named }) => named)?.voice : speech.voice;
  const kind = voice === undefined ? undefined : await pricedVoiceKind(gateway, caller, model, voice);
  const { units, maxOutputTokens } = maxSpeechUsage(model.unit, speech.text, { ssml, pace });
  return {
    serving,
    model,
    priceFields: () => ({ voice: kind }),
    expectedUnits: units,
    maxOutputTokens,
    likely: likelySpeechUsage(model.unit, speech.text, { ssml }),
  };
}

/** Returns the kind of a voice if a price or a cost of the model may depend on it. */
export async function pricedVoiceKind(
  gateway: Gateway,
  caller: Caller,
  model: CatalogueModel,
  voice: string,
): Promise<PriceFields['voice']> {
  const isPriced =
    gateway.prices.dependsOn(model.id, 'voice') || gateway.vendorCosts.dependsOnRequest(model.id);
  return isPriced ? voiceKind(gateway, caller, model, voice) : undefined;
}
