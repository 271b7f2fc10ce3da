import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import type { JsonLinks } from '../../media/json-links.ts';
import type { ChunkSource } from '../../outbound/response-body.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { mediaType } from '../../providers/headers.ts';
import { passRejection } from '../../providers/native/answer-rejection.ts';
import { type AnswerWatch, EventWatch } from '../../providers/native/answer-watch.ts';
import { JsonWatch, judge, type NativeAnswer, parseAnswer } from '../../providers/native/whole-answer.ts';
import { wordsOf } from '../../providers/provider-words.ts';
import type { CallAnswer, CallMeter, CallOutput } from '../metered-call.ts';
import { answerLinks, linkedAnswer } from './linked-answer.ts';

export interface NativeSpeech {
  model: CatalogueModel;
  /** Events were asked for. */
  events: boolean;
  /** Notes the voice that a cloning call brought into being, before it is charged and answered. */
  keepVoice?: ((channel: string) => Promise<void>) | undefined;
}

/** Answers up to this size are looked at whole before they go out; longer ones pass through. */
const small = 1024 * 1024;
/** But what was made is noted before anybody hears of it. */
const maxAnswerBytes = 32 * 1024 * 1024;
const json = 'application/json';
const eventStream = 'text/event-stream';
const nothing: CallMeter = { usage: undefined, delivered: false };

/**
 * Passes the upstream's own answer on: its events, its JSON, and its refusal, all unchanged but for the addresses of
 * files, where the channel relays those. What is no answer of the route becomes a 502, or a broken connection once some of it is out.
 */
export function answerNatively(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  { model, events, keepVoice }: NativeSpeech,
): CallAnswer {
  return async (answered, { metering, ...call }) => {
    const { response, channel } = answered;
    if (response.status !== 200)
      return { meter: nothing, send: () => passRejection(answered, reply, metering) };
    const words = wordsOf(answered);
    const settle = async (meter: CallMeter) => {
      if (meter.failure === undefined) await keepVoice?.(channel.name);
      await call.settle(meter);
    };
    if (events) {
      await requireEvents(response);
      const links = answerLinks(request, channel);
      return passed(reply, eventStream, response.body, new EventWatch(model.unit, words), links, settle);
    }
    const judgeIt = (answer: NativeAnswer) => judge(answer, model.unit, words, keepVoice !== undefined);
    const whole = await response.body.readAll(keepVoice === undefined ? small : maxAnswerBytes);
    if (whole === undefined) {
      const links = answerLinks(request, channel);
      return passed(reply, json, response.body, new JsonWatch(response.headers, judgeIt), links, settle);
    }
    const { usage, refusal: failure } = judgeIt(parseAnswer(response.headers, whole));
    return {
      // Nothing has gone out before it is paid.
      meter: nothing,
      async send() {
        await settle({ usage, failure, delivered: true });
        const told = failure === undefined ? whole : words.json(whole);
        reply.bytes(200, json, linkedAnswer(told, request, channel));
      },
    };
  };
}

/** @throws Failure 502 when the answer is no event stream */
export async function requireEvents({ headers, body }: HttpResponse): Promise<void> {
  if (mediaType(headers) === eventStream) return;
  await body.dump();
  throw new Failure(502, 'bad_response', 'The provider gave no events.');
}

function passed(
  reply: Reply<OperationId>,
  contentType: string,
  body: ChunkSource,
  meter: AnswerWatch,
  links: JsonLinks | undefined,
  settle: (meter: CallMeter) => Promise<void>,
): CallOutput {
  const linked = (parts: readonly Buffer[]) =>
    links === undefined ? parts : parts.flatMap((part) => links.take(part));
  const hooks = {
    transform: (chunk: Buffer) => linked(meter.take(chunk)),
    async end() {
      const rest = meter.end();
      await settle(meter);
      return [...linked(rest), ...(links?.end() ?? [])];
    },
  };
  return { meter, send: () => reply.forward(200, contentType, body, hooks) };
}
