import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { failureBody } from '../../http/render-failure.ts';
import { Failure } from '../../lib/failure.ts';
import { messageTokens } from '../../models/text-tokens.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { formatEvent, publicEvents } from '../../providers/messages/event-stream.ts';
import { TokenCounter } from '../../providers/messages/token-counter.ts';
import { publicMessage } from '../../providers/messages/whole-message.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import { readUpTo } from '../../providers/rejection.ts';
import type { Usage } from '../../quota/metering.ts';
import { type CallMeter, type CallResponder, openMetering, runMeteredCall } from '../metered-call.ts';
import { findTextModel, type PricedText, requestMessage, requireContent } from './text-call.ts';

/** Longest message. It may contain images. */
const maxMessageBytes = 32 * 1024 * 1024;
const json = 'application/json; charset=utf-8';

type Request = OperationRequest<'createMessage'>;

/** Creates a message. Reserves the maximum tokens of the prompt plus `max_tokens`. */
export async function continueConversation(request: Request, reply: Reply<'createMessage'>): Promise<void> {
  const { body, requestId } = request;
  const { model, ...priced } = priceMessage(request);
  const metering = await openMetering(request, { operation: 'createMessage', model, ...priced });
  const counter = new TokenCounter(priced.likely.inputTokens);
  const send = (signal: AbortSignal) => requestMessage(request, model, '/v1/messages', signal);
  const respond =
    body.stream === true
      ? respondWithEvents(reply, model.id, counter, requestId)
      : respondWithMessage(reply, model.id, counter);
  await runMeteredCall(request, reply, metering, send, respond);
}

/** Returns the price of a message. @throws Failure as `findTextModel` */
export function priceMessage(request: Request): PricedText {
  const { body } = request;
  const model = findTextModel(request, body.model, 'messages');
  const { most, mostOutput, likely } = messageTokens(body, body.max_tokens);
  return { model, expectedUnits: most, maxOutputTokens: mostOutput, likely };
}

/** Responds with the whole message after the settlement. */
function respondWithMessage(
  reply: Reply<'createMessage'>,
  model: string,
  counter: TokenCounter,
): CallResponder {
  return async (channelResponse, { settle }) => {
    await requireContent(channelResponse, model, 'json');
    const bytes = await readUpTo(channelResponse.response.body, maxMessageBytes);
    const message = publicMessage(bytes, model, counter);
    return {
      meter: { usage: undefined, delivered: false },
      async send() {
        const cost = await settle({ usage: counter.reported, delivered: true });
        const usage = { ...message.usage, ...(cost !== undefined && { cost }) };
        reply.bytes(200, json, JSON.stringify({ ...message, usage }));
      },
    };
  };
}

class MessageMeter implements CallMeter {
  readonly delivered = true;
  readonly #counter: TokenCounter;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  get usage(): Usage {
    return this.#counter.reported;
  }

  get deliveredUsage(): Usage {
    return this.#counter.delivered;
  }
}

/** Responds with the message's events as they arrive. A failure after the first event becomes an event, free of charge. */
function respondWithEvents(
  reply: Reply<'createMessage'>,
  model: string,
  counter: TokenCounter,
  requestId: string,
): CallResponder {
  return async (channelResponse, { signal, settle }) => {
    await requireContent(channelResponse, model, 'events');
    const meter = new MessageMeter(counter);
    const message = { model, counter, redactor: redactorFor(channelResponse) };
    const events = readFully(channelResponse.response.body, (chunks) =>
      publicEvents(chunks, message, () => settle(meter)),
    );
    // A failure before the first event becomes an error response.
    const first = await events.next();
    async function* withFailureEvent(): AsyncGenerator<Buffer> {
      if (first.value !== undefined) yield first.value;
      try {
        yield* events;
      } catch (error) {
        // The client disconnected or the call timed out.
        if (signal.aborted) throw error;
        const failure = error instanceof Failure ? error : connectionFailure(error);
        const { usage, deliveredUsage, delivered } = meter;
        await settle({ usage, deliveredUsage, delivered, failure });
        yield formatEvent('error', failureBody(failure, requestId, 'messages') as object);
      }
    }
    return { meter, send: () => reply.stream(200, 'text/event-stream; charset=utf-8', withFailureEvent()) };
  };
}

/** Reads a used body to its end, which keeps the connection open. Aborts the body after a failure. */
async function* readFully(
  body: HttpResponse['body'],
  use: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  let isUsed = false;
  try {
    yield* use(body.chunks());
    isUsed = true;
  } finally {
    if (isUsed) void body.dump();
    else body.destroy();
  }
}
