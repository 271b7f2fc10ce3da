import type { VoiceKind } from '../../../generated/catalogue.ts';
import type { Channel } from '../../channels/channel.ts';
import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { findModel } from '../../models/catalogue.ts';
import { forwardRejection } from '../../providers/native/forward-rejection.ts';
import { parseResponse, readLimited } from '../../providers/native/json-response.ts';
import { countedActions, customizationPath } from '../../providers/native/voices.ts';
import type { Rejection } from '../../providers/rejection.ts';
import type { PricedRequest } from '../../quota/priced-request.ts';
import { openMetering, requestModel } from '../metered-call.ts';
import { linkResponse, type ResponseUrls } from './response-links.ts';

export type VoiceRequest = OperationRequest<'customizeVoice'>;

export interface VoiceCall {
  channels: readonly Channel[];
  /** The model of the voice. */
  target: string;
  urls?: ResponseUrls;
  /** Stores the outcome before the settlement. Returns the response body, or undefined to forward the provider's. */
  recordOutcome(response: unknown, channel: Channel): Promise<object | undefined>;
  /** Returns a body to send instead of a rejection, free of charge. Undefined forwards the rejection. */
  replaceRejection?(rejection: Rejection): Promise<object | undefined>;
}

/** Longest response of a provider: a Base64 preview of a long text. */
const maxResponseBytes = 32 * 1024 * 1024;

/**
 * Sends the client's body to a channel and forwards the response. Reserves one action and charges the provider's count.
 * A sent request runs to its end even if the client disconnects.
 */
export function callVoiceService(
  request: VoiceRequest,
  reply: Reply<'customizeVoice'>,
  call: VoiceCall,
): Promise<void> {
  return request.gateway.detachedCalls.run((signal) => send({ ...request, signal }, reply, call));
}

async function send(
  request: VoiceRequest,
  reply: Reply<'customizeVoice'>,
  { channels, target, urls, recordOutcome, replaceRejection }: VoiceCall,
): Promise<void> {
  const { body, signal } = request;
  const { model } = body;
  const metering = await openMetering(request, { operation: 'customizeVoice', ...priceVoiceCall(body) });
  let channelName = '';
  const settle = async (units: number) => {
    const usage = { units, inputTokens: 0, outputTokens: 0 };
    reply.reportCharge(await metering.charge(usage, { channel: channelName, status: 200 }));
  };
  try {
    const channelResponse = await requestModel(request, channels, {
      path: customizationPath,
      model,
      // Prevents a second voice on another channel.
      atMostOnce: true,
      body: (channel) => upstreamBody(body, target, channel),
      signal,
    });
    const { response, channel } = channelResponse;
    channelName = channel.name;
    if (response.status !== 200) {
      await forwardRejection(channelResponse, reply, metering, async (rejection) => {
        const replacement = await replaceRejection?.(rejection);
        if (replacement === undefined) return false;
        await settle(0);
        reply.bytes(200, 'application/json', JSON.stringify(replacement));
        return true;
      });
      return;
    }
    const whole = await readLimited(response, maxResponseBytes);
    const parsed = parseResponse(response.headers, whole);
    const replacement = await recordOutcome(parsed, channel);
    await settle(countedActions(parsed));
    const sent = replacement === undefined ? whole : JSON.stringify(replacement);
    reply.bytes(200, 'application/json', linkResponse(sent, request, channel, urls));
  } catch (error) {
    const failure = error instanceof Failure ? error : connectionFailure(error);
    await metering.refund({ channel: channelName, status: failure.status, errorCode: failure.code });
    throw failure;
  }
}

/** Returns the price of a request to a provider's voice service. */
export function priceVoiceCall(body: VoiceRequest['body']): PricedRequest {
  return {
    model: findModel(body.model),
    expectedUnits: 1,
    priceFields: () => ({ voice: kindOfNewVoice(body) }),
  };
}

/** Replaces the target model in the client's body with the provider's name. */
function upstreamBody(body: VoiceRequest['body'], target: string, channel: Channel): object {
  if (!('target_model' in body.input)) return body;
  return { ...body, input: { ...body.input, target_model: channel.upstreamModel(target) } };
}

/** Returns the kind of the voice that a request creates or manages, as far as the request shows it. */
function kindOfNewVoice({ model, input }: VoiceRequest['body']): VoiceKind {
  return model === 'alpha-voice-design' || 'voice_prompt' in input ? 'designed' : 'cloned';
}
