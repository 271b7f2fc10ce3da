import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { OperationId } from '../../../generated/operations.ts';
import { type Answered, requestInTurn, unanswered } from '../../channels/failover.ts';
import { channelsForVoice } from '../../channels/voice-route.ts';
import { Failure } from '../../failure.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { Metering, type Usage } from '../../ledger/metering.ts';
import { countCharacters, estimateSpeechTokens } from '../../ledger/usage.ts';
import { findModel } from '../../models/catalogue.ts';
import { checkSpeech, type SpeechText } from '../../models/speech-rules.ts';
import { type NativeSpeechRequest, speechPaths } from '../../providers/native/speech-request.ts';

/** A speech request that is ready to go upstream. */
export interface SpeechJob {
  operation: OperationId;
  model: CatalogueModel;
  speech: SpeechText;
  /** The text is SSML, whose tags are not billed. */
  ssml: boolean;
  native: Pick<NativeSpeechRequest, 'route' | 'body'>;
  /** Native events instead of one JSON answer. */
  events: boolean;
}

/** What has gone out to the client so far, for the bill of a call that the client breaks off. */
export interface Progress {
  readonly usage: Usage | undefined;
  readonly delivered: boolean;
}

/** Sends the answer out. It charges by itself as soon as all is delivered, and says how far it has come before that. */
export type SpeechAnswer = (
  answered: Answered,
  metering: Metering,
  watch: (progress: Progress) => void,
) => Promise<void>;

/** @throws Failure 404 or 403 when the model does not exist or the key may not use it. */
export function modelFor(request: OperationRequest<OperationId>, id: string): CatalogueModel {
  const model = findModel(id);
  request.gateway.access.require(request.caller, model);
  return model;
}

/**
 * Speaks: checks what depends on the model, holds quota, asks the channels in turn, and lets `answer` pass the
 * result on. Whatever goes wrong gives the quota back; a client that leaves in the middle pays for what the
 * upstream has counted by then, or for the whole text where the upstream counts it when it takes it.
 */
export async function speak(
  request: OperationRequest<OperationId>,
  job: SpeechJob,
  answer: SpeechAnswer,
): Promise<void> {
  const { gateway, caller, signal } = request;
  const { model } = job;
  checkSpeech(model, job.speech);
  const { voice, fields } = job.speech;
  const channels = await channelsForVoice(gateway, caller, model, voice, fields.voice);
  const metering = await Metering.open(gateway, {
    requestId: request.requestId,
    caller,
    operation: job.operation,
    model,
    expectedUnits: expectedUnits(job),
    startedAt: request.startedAt,
  });
  let channel = '';
  let progress: Progress | undefined;
  try {
    const answered = await requestInTurn(
      gateway.channels.order(channels),
      (one) => ({
        method: 'POST',
        path: speechPaths[job.native.route],
        ...(job.events ? { headers: { 'X-Native-SSE': 'enable' } } : {}),
        body: { ...job.native.body, model: one.upstreamModel(model.id) },
        signal,
      }),
      gateway.logger,
    );
    channel = answered.channel.name;
    await answer(answered, metering, (started) => {
      progress = started;
    });
  } catch (error) {
    const left = signal.aborted;
    if (left && progress?.delivered) {
      const outcome = { channel, status: 499, errorCode: 'client_closed_request' };
      await metering.charge(progress.usage ?? metering.expected, outcome);
      throw error;
    }
    const failure = error instanceof Failure ? error : unanswered(error);
    const { status, code } = left ? { status: 499, code: 'client_closed_request' } : failure;
    await metering.refund({ channel, status, errorCode: code });
    throw failure;
  }
}

function expectedUnits({ model, speech, ssml }: SpeechJob): number {
  return model.unit === 'tokens' ? estimateSpeechTokens(speech.text) : countCharacters(speech.text, { ssml });
}
