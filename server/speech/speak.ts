import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Channel } from '../channels/channel.ts';
import { type Answered, requestInTurn, unanswered } from '../channels/failover.ts';
import { channelsForVoices, type NamedVoice } from '../channels/voice-route.ts';
import { Failure } from '../failure.ts';
import type { OperationRequest, Reply } from '../http/handler.ts';
import { Metering, type Usage } from '../ledger/metering.ts';
import { findModel } from '../models/catalogue.ts';
import { checkSpeech, type SpeechText } from '../models/speech-rules.ts';
import { countCharacters, likelySpeechTokens, maxSpeechTokens } from '../models/usage.ts';
import type { NativeSpeechRequest } from '../providers/native/speech-request.ts';
import { TimeLimitError, withinLimit } from '../tasks/time-limit.ts';

/** A speech request that is ready to go upstream. */
export interface SpeechJob {
  operation: OperationId;
  model: CatalogueModel;
  speech: SpeechText;
  /** The text is SSML, whose tags are not billed. */
  ssml: boolean;
  native: Pick<NativeSpeechRequest, 'route' | 'body'>;
  /** What else in the body might be a voice. */
  voices: readonly NamedVoice[];
}

/** What has gone out to the client so far, for the bill of a call that the client breaks off. */
export interface Progress {
  readonly usage: Usage | undefined;
  readonly delivered: boolean;
}

/** How far a call has come, and how long it may go on. */
export interface Course {
  /** Aborted when the client leaves, or the time for all of it is over. */
  readonly signal: AbortSignal;
  /** Name of the channel that took it; empty before. */
  channel: string;
  progress: Progress | undefined;
}

/**
 * Goes upstream and sends the answer out. It charges by itself as soon as all is delivered, and keeps the course
 * up to date before that.
 */
export type SpeechRun = (channels: readonly Channel[], metering: Metering, course: Course) => Promise<void>;

/** Sends the answer of an HTTP upstream out, as `SpeechRun` says. */
export type SpeechAnswer = (answered: Answered, metering: Metering, course: Course) => Promise<void>;

/** @throws Failure 404 or 403 when the model does not exist or the key may not use it. */
export function modelFor(request: OperationRequest<OperationId>, id: string): CatalogueModel {
  const model = findModel(id);
  request.gateway.access.require(request.caller, model);
  return model;
}

/**
 * Speaks: checks what depends on the model, holds quota, and lets `run` do the work. Whatever goes wrong gives the
 * quota back; a client that leaves in the middle, or does not read until the time is over, pays for what the upstream
 * has counted by then, or for the whole text where the upstream counts it when it takes it.
 */
export async function speak(
  request: OperationRequest<OperationId>,
  reply: Reply<OperationId>,
  job: SpeechJob,
  run: SpeechRun,
): Promise<void> {
  const { gateway, caller, signal: client } = request;
  const { model } = job;
  checkSpeech(model, job.speech);
  const { voice, fields } = job.speech;
  // A mix of voices needs no single one.
  const main = voice === '' ? [] : [{ field: fields.voice, voice, named: true }];
  const channels = await channelsForVoices(gateway, caller, model, [...main, ...job.voices]);
  const metering = await Metering.open(gateway, {
    requestId: request.requestId,
    caller,
    operation: job.operation,
    model,
    expectedUnits: expectedUnits(job),
    ...(model.unit === 'tokens' ? { likely: likelySpeechTokens(job.speech.text) } : {}),
    startedAt: request.startedAt,
  });
  const { timers, settings } = gateway;
  let course: Course = { signal: client, channel: '', progress: undefined };
  try {
    await withinLimit(timers, settings.speechMs, client, (signal) => {
      course = { ...course, signal };
      return run(gateway.channels.order(channels), metering, course);
    });
  } catch (error) {
    const { channel, progress } = course;
    // The provider's slowness is not the client's to pay, but what waits for the client was made for it.
    const left = client.aborted || (error instanceof TimeLimitError && reply.behind);
    const failure = error instanceof Failure ? error : unanswered(error);
    const { status, code } = left ? { status: 499, code: 'client_closed_request' } : failure;
    const outcome = { channel, status, errorCode: code };
    if (left && progress?.delivered) await metering.charge(progress.usage ?? metering.expected, outcome);
    else await metering.refund(outcome);
    throw failure;
  }
}

/** Asks the channels in turn over HTTP at `path`, for events or for one JSON answer, and passes the answer on. */
export function overHttp(
  { gateway, caller }: OperationRequest<OperationId>,
  { model, native }: SpeechJob,
  path: string,
  events: boolean,
  answer: SpeechAnswer,
): SpeechRun {
  return async (channels, metering, course) => {
    const answered = await requestInTurn(
      channels,
      (channel) => ({
        method: 'POST',
        path,
        ...(events ? { headers: { 'X-Native-SSE': 'enable' } } : {}),
        body: { ...native.body, model: channel.upstreamModel(model.id) },
        user: caller.userId,
        signal: course.signal,
      }),
      gateway.logger,
    );
    course.channel = answered.channel.name;
    await answer(answered, metering, course);
  };
}

function expectedUnits({ model, speech, ssml, native }: SpeechJob): number {
  if (model.unit !== 'tokens') return countCharacters(speech.text, { ssml });
  return maxSpeechTokens(speech.text, { rate: native.body.input.rate, instruction: speech.instructions });
}
