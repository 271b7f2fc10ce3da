import { Readable } from 'node:stream';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import { Failure } from '../../failure.ts';
import type { Reply } from '../../http/handler.ts';
import type { Metering } from '../../ledger/metering.ts';
import { field } from '../../providers/json.ts';
import { audioSource } from '../../providers/native/audio.ts';
import { joinBody, splitBody } from '../../providers/native/split-body.ts';
import { readUsage, UsageWatch } from '../../providers/native/usage.ts';
import { type ProviderWords, wordsOf } from '../../providers/provider-words.ts';
import { betaFailure } from '../../providers/rejection.ts';
import { passRejection } from '../pass-rejection.ts';
import type { SpeechAnswer } from './speak.ts';

/** Answers up to this size are looked at whole before they go out; longer ones pass through. */
const small = 1024 * 1024;

/**
 * Passes the upstream's own answer on: its events, its JSON, and its refusal, all unchanged. `keep` notes what a
 * successful JSON answer brought into being, before it is charged and told.
 */
export function answerNatively(
  reply: Reply<OperationId>,
  model: CatalogueModel,
  keep: (channel: string) => Promise<void> = async () => {},
): SpeechAnswer {
  return async (answered, metering, watch) => {
    const { response, channel } = answered;
    if (response.status !== 200) {
      await passRejection(answered, reply, metering);
      return;
    }
    const contentType = response.headers['content-type'] ?? 'application/json';
    const events = contentType.startsWith('text/event-stream');
    const split = events ? undefined : await splitBody(response, small);
    if (split !== undefined && split.rest === undefined) {
      const words = wordsOf(answered);
      const failed = await settleWhole(split.head, model, metering, { channel: channel.name, keep, words });
      reply.bytes(200, contentType, failed ? words.json(split.head) : split.head);
      return;
    }
    const body = split === undefined ? response.body : Readable.from(joinBody(split));
    const seen = new UsageWatch(model.unit);
    watch({
      get usage() {
        return seen.usage;
      },
      get delivered() {
        return seen.audioSeen;
      },
    });
    await reply.pass(200, contentType, body, {
      seen: (piece) => seen.push(piece),
      // The books are closed before the end is told, so a delivered answer is a paid one.
      beforeEnd: () => settleWatched(seen, metering, channel.name),
    });
  };
}

async function settleWatched(seen: UsageWatch, metering: Metering, channel: string): Promise<void> {
  const outcome = { channel, status: 200 };
  if (seen.failed) await metering.refund({ ...outcome, errorCode: 'provider_rejection' });
  else if (seen.usage !== undefined) await metering.charge(seen.usage, outcome);
  else if (seen.audioSeen) await metering.charge(metering.expected, outcome);
  else await metering.refund({ ...outcome, errorCode: 'no_audio' });
}

/** Whether the answer tells of a failure. */
async function settleWhole(
  bytes: Buffer,
  model: CatalogueModel,
  metering: Metering,
  {
    channel,
    keep,
    words,
  }: { channel: string; keep: (channel: string) => Promise<void>; words: ProviderWords },
): Promise<boolean> {
  const answer = parseAnswer(bytes);
  const outcome = { channel, status: 200 };
  const failed = betaFailure(field(answer, 'output'), words);
  const usage = readUsage(model.unit, field(answer, 'usage'));
  if (failed === undefined) await keep(channel);
  if (failed !== undefined) await metering.refund({ ...outcome, errorCode: failed.code });
  else if (usage !== undefined) await metering.charge(usage, outcome);
  else if (audioSource(answer) !== undefined) await metering.charge(metering.expected, outcome);
  else await metering.refund({ ...outcome, errorCode: 'no_audio' });
  return failed !== undefined;
}

/** @throws Failure 502 when the upstream's JSON is none. */
export function parseAnswer(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new Failure(502, 'bad_response', 'The provider did not give a usable answer.', { cause });
  }
}
