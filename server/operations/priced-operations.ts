import type { Protocol } from '../../generated/catalogue.ts';
import type { OperationId } from '../../generated/operations.ts';
import { imageModel, priceOfAction } from '../calls/image-jobs.ts';
import { priceSpeech, type SpeechJob } from '../calls/speech/speak.ts';
import { priceVoiceCall } from '../calls/speech/voice-service.ts';
import { pricedSession, sessionModel } from '../calls/start-session.ts';
import type { TaskPlan } from '../calls/start-task.ts';
import { priceMessage } from '../calls/text/continue-conversation.ts';
import { priceEmbeddings } from '../calls/text/embed.ts';
import type { Channel } from '../channels/channel.ts';
import type { OperationRequest } from '../http/handler.ts';
import { invalid } from '../lib/failure.ts';
import { findModel } from '../models/catalogue.ts';
import { actionOf } from '../providers/imgjob/image-job.ts';
import { type PossibleValues, possibleValues } from '../providers/video-values.ts';
import type { PricedRequest } from '../quota/priced-request.ts';
import { pricedTask } from '../tasks/task-creation.ts';
import { channelProtocol } from '../tasks/task-model.ts';
import { planModel3d } from './models3d/createModel3d.ts';
import { songOf } from './music/createMusic.ts';
import { planMusic } from './music/start-music.ts';
import { planLyrics } from './music/submitLyrics.ts';
import { speechOf } from './speech/createSpeech.ts';
import { multimodalSpeechOf } from './speech/generateMultimodalSpeech.ts';
import { synthesisOf } from './speech/synthesizeSpeech.ts';
import { planNativeVideo } from './video/createNativeVideo.ts';
import { planOfficialVideo } from './video/createOfficialVideo.ts';
import { orderVideo } from './video/generic-create.ts';
import { creationTarget } from './voices/customizeVoice.ts';

/** A request with its price, and the channels that can serve it, in no order. */
export interface ServedRequest {
  priced: PricedRequest;
  channels: readonly Channel[];
  /** The values that a provider can report. Absent: it makes no videos. */
  possible?: PossibleValues;
}

interface PricedOperation<Op extends OperationId> {
  /** Protocols of its models. */
  protocols: readonly Protocol[];
  /** The model of every request. Absent: the body names the model. */
  fixedModel?: string;
  /** Returns the price of a valid request, as its handler calculates it. Calls no provider. @throws Failure as the handler */
  price(request: OperationRequest<Op>): ServedRequest | Promise<ServedRequest>;
}

const video: readonly Protocol[] = ['native_video', 'official', 'eta'];
const music = { protocols: ['sigma'], fixedModel: 'sigma_music' } as const;
const image = { protocols: ['imgjob'], fixedModel: 'imgjob_image' } as const;

/** The operations that cost quota, except sockets. Of several that accept a body, the first is the default. */
const all = {
  createSpeech: {
    protocols: ['multimodal', 'synthesizer', 'inference'],
    price: (request) => ofSpeech(request, speechOf(request).job),
  },
  generateMultimodalSpeech: {
    protocols: ['multimodal'],
    price: (request) => ofSpeech(request, multimodalSpeechOf(request)),
  },
  synthesizeSpeech: {
    protocols: ['synthesizer'],
    price: (request) => ofSpeech(request, synthesisOf(request)),
  },
  customizeVoice: { protocols: ['customization'], price: ofVoice },
  createVideo: {
    protocols: video,
    price: (request) => ofTask(request, orderVideo(request, 'createVideo', request.body).plan(request.body)),
  },
  createGenericVideo: {
    protocols: video,
    price: (request) =>
      ofTask(request, orderVideo(request, 'createGenericVideo', request.body).plan(request.body)),
  },
  createNativeVideo: {
    protocols: ['native_video'],
    price: (request) => ofTask(request, planNativeVideo(request)),
  },
  createOfficialVideo: {
    protocols: ['official'],
    price: (request) => ofTask(request, planOfficialVideo(request)),
  },
  createModel3d: { protocols: ['native_3d'], price: (request) => ofTask(request, planModel3d(request)) },
  submitMusic: { ...music, price: (request) => ofTask(request, planMusic(request, request.body)) },
  createMusic: { ...music, price: (request) => ofTask(request, planMusic(request, songOf(request.body))) },
  submitLyrics: {
    protocols: ['sigma'],
    fixedModel: 'sigma_lyrics',
    price: (request) => ofTask(request, planLyrics(request)),
  },
  submitImagine: { ...image, price: (request) => ofImage(request, 'IMAGINE') },
  submitImageAction: { ...image, price: (request) => ofImage(request, actionOf(request.body.customId)) },
  createMessage: { protocols: ['messages'], price: (request) => ofText(priceMessage(request)) },
  createEmbedding: { protocols: ['embeddings'], price: (request) => ofText(priceEmbeddings(request)) },
  createVerificationSession: {
    protocols: ['verification'],
    fixedModel: sessionModel.id,
    price({ gateway, caller }) {
      gateway.access.require(caller, sessionModel);
      const channels = gateway.channels.serving('verification', sessionModel.id, caller.group);
      return { priced: pricedSession, channels };
    },
  },
} as const satisfies { readonly [Op in OperationId]?: PricedOperation<Op> };

export type PricedId = keyof typeof all;

export const pricedIds = Object.keys(all) as PricedId[];

/** Properties of the priced operations. */
export const pricedOperations: Readonly<
  Record<PricedId, Pick<PricedOperation<OperationId>, 'protocols' | 'fixedModel'>>
> = all;

/**
 * Returns the price of a request, and the channels that can serve it, as the handler of the operation finds them. Calls no
 * provider. `body` is valid for the operation.
 *
 * @throws Failure as the handler, for a request that the model refuses
 */
export async function priceRequest(
  operation: PricedId,
  request: Omit<OperationRequest<'explainPrice'>, 'body'> & { body: object },
): Promise<ServedRequest> {
  // The table pairs each id with its own request; the union of all functions cannot be called without this.
  const { price } = all[operation] as PricedOperation<OperationId>;
  return price(request as unknown as OperationRequest<OperationId>);
}

async function ofSpeech(request: OperationRequest<OperationId>, job: SpeechJob): Promise<ServedRequest> {
  const { serving: channels, ...priced } = await priceSpeech(request, job);
  return { priced, channels };
}

function ofText({ model, ...priced }: ReturnType<typeof priceMessage>): ServedRequest {
  return { priced: { model, ...priced }, channels: model.channels };
}

function ofTask(
  { gateway, caller }: Pick<OperationRequest<OperationId>, 'gateway' | 'caller'>,
  plan: Pick<TaskPlan, 'model' | 'expectedUnits' | 'maxOutputTokens' | 'priceFields' | 'openFields'>,
): ServedRequest {
  const { id, protocol } = plan.model;
  const channels = gateway.channels.serving(channelProtocol(protocol), id, caller.group);
  const isVideo = plan.priceFields?.duration !== undefined;
  const possible = isVideo && { possible: possibleValues({ id, protocols: [protocol] }) };
  return { priced: pricedTask(plan), channels, ...possible };
}

function ofImage(
  request: OperationRequest<'submitImagine' | 'submitImageAction'>,
  action: Parameters<typeof priceOfAction>[0],
): ServedRequest {
  return ofTask(request, { model: imageModel(request), ...priceOfAction(action) });
}

function ofVoice(request: OperationRequest<'customizeVoice'>): ServedRequest {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  gateway.access.require(caller, findModel(service));
  if (input.action === 'list' || input.action === 'list_voice')
    throw invalid('input.action', 'lists voices without a provider, which is free.');
  const channels =
    'target_model' in input
      ? creationTarget(request, input.target_model).channels
      : gateway.channels.serving('native', service, caller.group);
  return { priced: priceVoiceCall(body), channels };
}
