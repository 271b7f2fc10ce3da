import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import type { JsonLinks } from '../../media/json-links.ts';
import type { ChunkSource } from '../../outbound/response-body.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { mediaType } from '../../providers/headers.ts';
import { forwardRejection } from '../../providers/native/forward-rejection.ts';
import {
  evaluateSpeech,
  JsonMonitor,
  type NativeResponse,
  parseResponse,
} from '../../providers/native/json-response.ts';
import { EventMonitor, type ResponseMonitor } from '../../providers/native/response-monitor.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import type { CallMeter, CallOutput, CallResponder } from '../metered-call.ts';
import { linkResponse, responseLinks } from './response-links.ts';

export interface NativeSpeech {
  model: CatalogueModel;
  /** The client requested events. */
  events: boolean;
  /** Stores the voice that a cloning call made, before the call is settled. */
  storeVoice?: ((channel: string) => Promise<void>) | undefined;
}

/** A response up to this size is checked before it is sent. A longer one is streamed. */
const maxCheckedBytes = 1024 * 1024;
/** The response of a cloning call is always checked, because the voice must be stored first. */
const maxCloningBytes = 32 * 1024 * 1024;
const json = 'application/json';
const eventStream = 'text/event-stream';
const emptyMeter: CallMeter = { usage: undefined, delivered: false };

/**
 * Forwards the upstream's events, JSON or rejection unchanged, except URLs of relayed files and the charge, which the last
 * event states. An invalid response becomes a 502, or aborts the connection if output was already sent.
 */
export function respondNatively(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  { model, events, storeVoice }: NativeSpeech,
): CallResponder {
  return async (channelResponse, { metering, ...call }) => {
    const { response, channel } = channelResponse;
    if (response.status !== 200)
      return { meter: emptyMeter, send: () => forwardRejection(channelResponse, reply, metering) };
    const redactor = redactorFor(channelResponse);
    const settle = async (meter: CallMeter) => {
      if (meter.failure === undefined) await storeVoice?.(channel.name);
      return call.settle(meter);
    };
    if (events) {
      await requireEvents(response);
      const links = responseLinks(request, channel);
      return forward(
        reply,
        eventStream,
        response.body,
        new EventMonitor(model.unit, redactor),
        links,
        settle,
      );
    }
    const check = (body: NativeResponse) =>
      evaluateSpeech(body, model.unit, redactor, storeVoice !== undefined);
    const whole = await response.body.readAll(storeVoice === undefined ? maxCheckedBytes : maxCloningBytes);
    if (whole === undefined) {
      const links = responseLinks(request, channel);
      return forward(reply, json, response.body, new JsonMonitor(response.headers, check), links, settle);
    }
    const { usage, rejection: failure } = check(parseResponse(response.headers, whole));
    return {
      // Settled before anything is sent.
      meter: emptyMeter,
      async send() {
        await settle({ usage, failure, delivered: true });
        const sent = failure === undefined ? whole : redactor.redactNativeJson(whole);
        reply.bytes(200, json, linkResponse(sent, request, channel));
      },
    };
  };
}

/** @throws Failure 502 when the response is not an event stream */
export async function requireEvents({ headers, body }: HttpResponse): Promise<void> {
  if (mediaType(headers) === eventStream) return;
  await body.dump();
  throw new Failure(502, 'bad_response', 'The provider returned no events.');
}

function forward(
  reply: Reply<OperationId>,
  contentType: string,
  body: ChunkSource,
  meter: ResponseMonitor,
  links: JsonLinks | undefined,
  settle: (meter: CallMeter) => Promise<number | undefined>,
): CallOutput {
  const linked = (parts: readonly Buffer[]) =>
    links === undefined ? parts : parts.flatMap((part) => links.write(part));
  const hooks = {
    transform: (chunk: Buffer) => linked(meter.write(chunk)),
    async end() {
      const rest = meter.end();
      const charged = await settle(meter);
      return [...linked([...rest, ...meter.release(charged)]), ...(links?.end() ?? [])];
    },
    abort: () => linked(meter.release()),
  };
  return { meter, send: () => reply.forward(200, contentType, body, hooks) };
}
