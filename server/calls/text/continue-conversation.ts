import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { failureBody } from '../../http/render-failure.ts';
import { Failure } from '../../lib/failure.ts';
import { messageTokens } from '../../models/text-tokens.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { isJson, mediaType } from '../../providers/headers.ts';
import { formatEvent, publicEvents } from '../../providers/messages/event-stream.ts';
import { TokenCounter } from '../../providers/messages/token-counter.ts';
import { publicMessage } from '../../providers/messages/whole-message.ts';
import { redactorFor } from '../../providers/provider-redactor.ts';
import { readUpTo } from '../../providers/rejection.ts';
import { unusableResponse } from '../../providers/unusable-response.ts';
import { Metering, type Usage } from '../../quota/metering.ts';
import { type CallMeter, type CallResponder, runMeteredCall } from '../metered-call.ts';
import { requestMessage } from './message-request.ts';
import { rejectionFailureOf } from './rejection-failure.ts';
import { findTextModel } from './text-model.ts';

/** Longest message. It may contain images. */
const maxMessageBytes = 32 * 1024 * 1024;
const json = 'application/json; charset=utf-8';

type Request = OperationRequest<'createMessage'>;

/** Creates a message. Reserves the maximum tokens of the prompt plus `max_tokens`. */
export async function continueConversation(request: Request, reply: Reply<'createMessage'>): Promise<void> {
  const { gateway, caller, body, requestId, startedAt } = request;
  const model = findTextModel(request, body.model, 'messages');
  const { most, likely } = messageTokens(body, body.max_tokens);
  const metering = await Metering.open(gateway, {
    requestId,
    caller,
    operation: 'createMessage',
    model,
    expectedUnits: most,
    likely,
    startedAt,
  });
  const counter = new TokenCounter(likely.inputTokens);
  const send = (signal: AbortSignal) => requestMessage(request, model, '/v1/messages', signal);
  const respond =
    body.stream === true
      ? respondWithEvents(reply, model.id, counter, requestId)
      : respondWithMessage(reply, model.id, counter);
  await runMeteredCall(request, reply, metering, send, respond);
}

/** Responds with the whole message after the settlement. */
function respondWithMessage(
  reply: Reply<'createMessage'>,
  model: string,
  counter: TokenCounter,
): CallResponder {
  return async (channelResponse, { settle }) => {
    const { response } = channelResponse;
    if (response.status !== 200) throw await rejectionFailureOf(channelResponse, model);
    if (!isJson(response.headers)) {
      await response.body.dump();
      throw unusableResponse();
    }
    const message = publicMessage(await readUpTo(response.body, maxMessageBytes), model, counter);
    return {
      meter: { usage: undefined, delivered: false },
      async send() {
        await settle({ usage: counter.reported, delivered: true });
        reply.bytes(200, json, JSON.stringify(message));
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
    const { body, headers, status } = channelResponse.response;
    if (status !== 200) throw await rejectionFailureOf(channelResponse, model);
    if (mediaType(headers) !== 'text/event-stream') {
      await body.dump();
      throw unusableResponse();
    }
    const meter = new MessageMeter(counter);
    const message = { model, counter, redactor: redactorFor(channelResponse) };
    const events = readFully(body, (chunks) => publicEvents(chunks, message, () => settle(meter)));
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
        await settle({
          usage: meter.usage,
          deliveredUsage: meter.deliveredUsage,
          delivered: meter.delivered,
          failure,
        });
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
