import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { failureBody } from '../../http/render-failure.ts';
import { Failure } from '../../lib/failure.ts';
import { messageTokens } from '../../models/text-tokens.ts';
import type { HttpResponse } from '../../outbound/send-request.ts';
import { isJson, mediaType } from '../../providers/headers.ts';
import { publicEvents, written } from '../../providers/messages/event-stream.ts';
import { TokenTally } from '../../providers/messages/token-tally.ts';
import { publicMessage } from '../../providers/messages/whole-message.ts';
import { wordsOf } from '../../providers/provider-words.ts';
import { readUpTo } from '../../providers/rejection.ts';
import { unusable } from '../../providers/unusable.ts';
import { Metering, type Usage } from '../../quota/metering.ts';
import { answerCall, type CallAnswer, type CallMeter } from '../metered-call.ts';
import { askForMessage } from './message-request.ts';
import { refusalOf } from './refusal.ts';
import { findTextModel } from './text-model.ts';

/** Longest message, in bytes: it may hold pictures. */
const maxMessageBytes = 32 * 1024 * 1024;
const json = 'application/json; charset=utf-8';

type Request = OperationRequest<'createMessage'>;

/** Continues a conversation by one message. As many tokens are held as the prompt can have, and `max_tokens`. */
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
  const tally = new TokenTally(likely.inputTokens);
  const ask = (signal: AbortSignal) => askForMessage(request, model, '/v1/messages', signal);
  const answer =
    body.stream === true
      ? answerWithEvents(reply, model.id, tally, requestId)
      : answerWithMessage(reply, model.id, tally);
  await answerCall(request, reply, metering, ask, answer);
}

/** Answers with the whole message, which is paid before anything of it goes out. */
function answerWithMessage(reply: Reply<'createMessage'>, model: string, tally: TokenTally): CallAnswer {
  return async (answered, { settle }) => {
    const { response } = answered;
    if (response.status !== 200) throw await refusalOf(answered, model);
    if (!isJson(response.headers)) {
      await response.body.dump();
      throw unusable();
    }
    const message = publicMessage(await readUpTo(response.body, maxMessageBytes), model, tally);
    return {
      meter: { usage: undefined, delivered: false },
      async send() {
        await settle({ usage: tally.reported, delivered: true });
        reply.bytes(200, json, JSON.stringify(message));
      },
    };
  };
}

/** What of a message has come, while it comes. */
class MessageMeter implements CallMeter {
  readonly delivered = true;
  readonly #tally: TokenTally;

  constructor(tally: TokenTally) {
    this.#tally = tally;
  }

  get usage(): Usage {
    return this.#tally.reported;
  }

  get heard(): Usage {
    return this.#tally.sofar;
  }
}

/** Answers with the events of the message as they come. A failure in their midst is told by an event, and is free. */
function answerWithEvents(
  reply: Reply<'createMessage'>,
  model: string,
  tally: TokenTally,
  requestId: string,
): CallAnswer {
  return async (answered, { signal, settle }) => {
    const { body, headers, status } = answered.response;
    if (status !== 200) throw await refusalOf(answered, model);
    if (mediaType(headers) !== 'text/event-stream') {
      await body.dump();
      throw unusable();
    }
    const meter = new MessageMeter(tally);
    const message = { model, tally, words: wordsOf(answered) };
    const events = readToTheEnd(body, (pieces) => publicEvents(pieces, message, () => settle(meter)));
    // A failure before the message has begun is an ordinary answer.
    const first = await events.next();
    async function* told(): AsyncGenerator<Buffer> {
      if (first.value !== undefined) yield first.value;
      try {
        yield* events;
      } catch (error) {
        // The client has left, or the time for it is over.
        if (signal.aborted) throw error;
        const failure = error instanceof Failure ? error : connectionFailure(error);
        await settle({ usage: meter.usage, heard: meter.heard, delivered: meter.delivered, failure });
        yield written('error', failureBody(failure, requestId, 'messages') as object);
      }
    }
    return { meter, send: () => reply.stream(200, 'text/event-stream; charset=utf-8', told()) };
  };
}

/** Leaves a body that has been made use of to its end, so that its connection can serve again; any other is broken off. */
async function* readToTheEnd(
  body: HttpResponse['body'],
  use: (pieces: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  let used = false;
  try {
    yield* use(body.chunks());
    used = true;
  } finally {
    if (used) void body.dump();
    else body.destroy();
  }
}
