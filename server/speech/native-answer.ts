import { Readable } from 'node:stream';
import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { UpstreamResponse } from '../channels/channel.ts';
import { Failure } from '../failure.ts';
import { passRejection } from '../formats/rejection.ts';
import type { Reply } from '../http/handler.ts';
import type { Metering } from '../ledger/metering.ts';
import { mediaType } from '../providers/media-type.ts';
import { type AnswerWatch, EventWatch } from '../providers/native/answer-watch.ts';
import { joinBody, splitBody } from '../providers/native/split-body.ts';
import { JsonWatch, judge, type NativeAnswer, parseAnswer } from '../providers/native/whole-answer.ts';
import { wordsOf } from '../providers/provider-words.ts';
import type { SpeechAnswer } from './speak.ts';

export interface NativeSpeech {
  model: CatalogueModel;
  /** Events were asked for. */
  events: boolean;
  /** Notes the voice that a cloning call brought into being, before it is charged and answered. */
  keepVoice?: ((channel: string) => Promise<void>) | undefined;
}

type Seen = Pick<AnswerWatch, 'usage' | 'delivered' | 'failure'>;

/** Answers up to this size are looked at whole before they go out; longer ones pass through. */
const small = 1024 * 1024;
/** But what was made is noted before anybody hears of it. */
const maxAnswerBytes = 32 * 1024 * 1024;
const json = 'application/json';
const eventStream = 'text/event-stream';

/**
 * Passes the upstream's own answer on: its events, its JSON, and its refusal, all unchanged. What is no answer of the
 * route becomes a 502, or a broken connection once some of it is out.
 */
export function answerNatively(
  reply: Reply<OperationId>,
  { model, events, keepVoice }: NativeSpeech,
): SpeechAnswer {
  return async (answered, metering, course) => {
    const { response, channel } = answered;
    if (response.status !== 200) {
      await passRejection(answered, reply, metering);
      return;
    }
    const words = wordsOf(answered);
    const settle = async (seen: Seen) => {
      if (seen.failure === undefined) await keepVoice?.(channel.name);
      await settleSeen(seen, metering, channel.name);
    };
    if (events) {
      await requireEvents(response);
      const seen = new EventWatch(model.unit, words);
      course.progress = seen;
      await pass(reply, eventStream, response.body, seen, settle);
      return;
    }
    const judgeIt = (answer: NativeAnswer) => judge(answer, model.unit, words, keepVoice !== undefined);
    const { head, rest } = await splitBody(response, keepVoice === undefined ? small : maxAnswerBytes);
    if (rest === undefined) {
      const { usage, refusal: failure } = judgeIt(parseAnswer(response.headers, head));
      await settle({ usage, failure, delivered: true });
      reply.bytes(200, json, failure === undefined ? head : words.json(head));
      return;
    }
    const seen = new JsonWatch(response.headers, judgeIt);
    course.progress = seen;
    await pass(reply, json, Readable.from(joinBody({ head, rest })), seen, settle);
  };
}

/** @throws Failure 502 when the answer is no event stream */
export async function requireEvents({ headers, body }: UpstreamResponse): Promise<void> {
  if (mediaType(headers) === 'text/event-stream') return;
  await body.dump();
  throw new Failure(502, 'bad_response', 'The provider gave no events.');
}

function pass(
  reply: Reply<OperationId>,
  contentType: string,
  body: Readable,
  seen: AnswerWatch,
  settle: (seen: Seen) => Promise<void>,
): Promise<void> {
  return reply.pass(200, contentType, body, {
    take: (piece) => seen.take(piece),
    // The books are closed before the end is sent, so a delivered answer is a paid one.
    async finish() {
      const rest = seen.end();
      await settle(seen);
      return rest;
    },
  });
}

async function settleSeen(
  { usage, delivered, failure }: Seen,
  metering: Metering,
  channel: string,
): Promise<void> {
  const outcome = { channel, status: 200 };
  if (failure !== undefined) await metering.refund({ ...outcome, errorCode: failure.code });
  else if (usage !== undefined) await metering.charge(usage, outcome);
  else if (delivered) await metering.charge(metering.expected, outcome);
  else await metering.refund({ ...outcome, errorCode: 'no_audio' });
}
