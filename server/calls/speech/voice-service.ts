import type { Channel } from '../../channels/channel.ts';
import { connectionFailure, requestWithFailover } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { findModel } from '../../models/catalogue.ts';
import { passRejection } from '../../providers/native/answer-rejection.ts';
import { countedActions, customizationPath } from '../../providers/native/voices.ts';
import { parseAnswer, readWhole } from '../../providers/native/whole-answer.ts';
import type { Rejection } from '../../providers/rejection.ts';
import { Metering } from '../../quota/metering.ts';
import { type AnswerAddresses, linkedAnswer } from './linked-answer.ts';

export type VoiceRequest = OperationRequest<'customizeVoice'>;

export interface VoiceCall {
  /** In the order in which they are to be asked. */
  channels: readonly Channel[];
  /** The model that the voice speaks with. */
  target: string;
  /** What is known of the addresses in the answer. */
  addresses?: AnswerAddresses;
  /** Notes the outcome durably, before it is charged and answered. Gives what is answered; undefined: the provider's answer unchanged. */
  keep(answer: unknown, channel: Channel): Promise<object | undefined>;
  /** What to answer instead of a refusal; undefined: the refusal. Nothing is charged. */
  forgive?(rejection: Rejection): Promise<object | undefined>;
}

/** Longest answer of a provider: a preview of a long text, in Base64. */
const maxAnswerBytes = 32 * 1024 * 1024;

/**
 * Sends the client's body to a channel and passes the answer on. One action is held before, and what the provider
 * counts is charged. Once sent it goes on to its end, even if the client leaves.
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
  { channels, target, addresses, keep, forgive }: VoiceCall,
): Promise<void> {
  const { body, gateway, caller, signal } = request;
  const metering = await Metering.open(gateway, {
    requestId: request.requestId,
    caller,
    operation: 'customizeVoice',
    model: findModel(body.model),
    expectedUnits: 1,
    startedAt: request.startedAt,
  });
  let name = '';
  const settle = (units: number) =>
    metering.charge({ units, inputTokens: 0, outputTokens: 0 }, { channel: name, status: 200 });
  try {
    const answered = await requestWithFailover(
      channels,
      (one) => ({
        method: 'POST',
        path: customizationPath,
        body: forUpstream(body, target, one),
        user: caller.userId,
        signal,
      }),
      gateway.logger,
      // A create that may have been done must not be sent again elsewhere: two voices would be made.
      { user: caller.userId, model: body.model, atMostOnce: true },
    );
    const { response, channel } = answered;
    name = channel.name;
    if (response.status !== 200) {
      await passRejection(answered, reply, metering, async (rejection) => {
        const replacement = await forgive?.(rejection);
        if (replacement === undefined) return false;
        await settle(0);
        reply.bytes(200, 'application/json', JSON.stringify(replacement));
        return true;
      });
      return;
    }
    const whole = await readWhole(response, maxAnswerBytes);
    const answer = parseAnswer(response.headers, whole);
    const replacement = await keep(answer, channel);
    await settle(countedActions(answer));
    const told = replacement === undefined ? whole : JSON.stringify(replacement);
    reply.bytes(200, 'application/json', linkedAnswer(told, request, channel, addresses));
  } catch (error) {
    const failure = error instanceof Failure ? error : connectionFailure(error);
    await metering.refund({ channel: name, status: failure.status, errorCode: failure.code });
    throw failure;
  }
}

/** The client's body with the provider's names of the models. */
function forUpstream(body: VoiceRequest['body'], target: string, channel: Channel): unknown {
  const input =
    'target_model' in body.input
      ? { ...body.input, target_model: channel.upstreamModel(target) }
      : body.input;
  return { ...body, model: channel.upstreamModel(body.model), input };
}
