import { randomUUID } from 'node:crypto';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { callVoiceService, type VoiceRequest } from '../../calls/speech/voice-service.ts';
import { recordStatus, refreshStatuses } from '../../calls/speech/voice-status.ts';
import type { Channel } from '../../channels/channel.ts';
import { rejectOtherUsersVoices } from '../../channels/voice-route.ts';
import type { Handler, Reply } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { Failure } from '../../lib/failure.ts';
import { findModel, quoted, targetModel, type VoiceService } from '../../models/catalogue.ts';
import { voicesIn } from '../../providers/native/voice-fields.ts';
import {
  createdVoice,
  factsIn,
  factsOf,
  isVoiceNotFound,
  listItem,
  withStoredFacts,
} from '../../providers/native/voices.ts';
import { findVoices, listVoices } from '../../store/queries/voices.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

/**
 * Manages custom voices. A voice belongs to its user, its target model and the channel that created it. Later calls go to that
 * channel, and for other users the voice does not exist.
 */
export const customizeVoice: Handler<'customizeVoice'> = async (request, reply) => {
  const { body, gateway, caller } = request;
  gateway.access.require(caller, findModel(body.model));
  const { input } = body;
  const isCreate = input.action === 'create' || input.action === 'create_voice';
  const field = idField(body.model);
  await rejectOtherUsersVoices(
    gateway,
    caller,
    voicesIn('customization', { ...body }, isCreate ? [] : [`input.${field}`]),
  );
  switch (input.action) {
    case 'create':
    case 'create_voice':
      return create(request, reply);
    case 'list':
    case 'list_voice':
      return list(request, reply);
    default:
      return change(request, reply, (input as unknown as Record<typeof field, string>)[field]);
  }
};

/** Returns a service's name of the field with the voice id. */
function idField(service: VoiceService): 'voice' | 'voice_id' {
  return service === 'voice-enrollment' ? 'voice_id' : 'voice';
}

async function create(request: VoiceRequest, reply: Reply<'customizeVoice'>): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  if (!('target_model' in input)) throw new Error('the contract requires a target model');
  const { target, channels } = creationTarget(request, input.target_model);
  const order = gateway.channels.order(channels);
  const store = async (response: unknown, channel: Channel) => {
    const voiceId = createdVoice(response);
    if (voiceId === undefined) throw new Failure(502, 'bad_response', 'The provider returned no voice id.');
    const now = gateway.clock();
    const saved = await persist(gateway.store, 'saveVoice', {
      voice_id: voiceId,
      user_id: caller.userId,
      token_id: caller.tokenId,
      service,
      target_model: target.id,
      channel: channel.name,
      status: service === 'voice-enrollment' ? 'DEPLOYING' : 'OK',
      name: 'prefix' in input ? input.prefix : input.preferred_name,
      facts: JSON.stringify(factsOf(input)),
      created_at: now,
      updated_at: now,
    });
    if (!saved)
      throw new Failure(502, 'bad_response', 'The provider returned the id of a voice that exists.');
    return undefined;
  };
  await callVoiceService(request, reply, { channels: order, target: target.id, recordOutcome: store });
}

/** Returns the model that a new voice is for, and the channels that can create it. @throws Failure as `targetModel` */
export function creationTarget(
  { body: { model: service }, gateway, caller }: VoiceRequest,
  targetId: string,
): { target: CatalogueModel; channels: Channel[] } {
  const target = targetModel(service, targetId);
  gateway.access.require(caller, target);
  const ofTarget = new Set(gateway.channels.serving('native', target.id, caller.group));
  const serving = gateway.channels.serving('native', service, caller.group);
  return { target, channels: serving.filter((channel) => ofTarget.has(channel)) };
}

/** Lists voices from the store, because the provider's list contains the voices of all users. */
async function list(request: VoiceRequest, reply: Reply<'customizeVoice'>): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service } = body;
  const { page_index: page = 0, page_size: size = 10, prefix: name } = body.input as ListInput;
  const filter = { ...viewerOf(caller), service, name, offset: page * size, limit: size };
  const { voices, total } = await listVoices(gateway.store.read, filter);
  const voiceList = (await refreshStatuses(gateway, voices)).map((voice) => listItem(service, voice));
  const output =
    service === 'voice-enrollment'
      ? { voice_list: voiceList }
      : { page_index: page, page_size: size, total_count: total, voice_list: voiceList };
  const response = { request_id: randomUUID(), output, usage: { count: 0 } };
  reply.bytes(200, 'application/json; charset=utf-8', JSON.stringify(response));
}

interface ListInput {
  page_index?: number;
  page_size?: number;
  prefix?: string;
}

/** Forwards a query, update or delete to the channel of the voice. */
async function change(request: VoiceRequest, reply: Reply<'customizeVoice'>, voiceId: string): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  const voice = await ownVoice(request, service, voiceId);
  const channels = gateway.channels
    .serving('native', service, caller.group)
    .filter(({ name }) => name === voice.channel);
  const { recording } = factsIn(voice);
  const urls = { clientUrl: recording, makesFiles: false };
  const call = { channels, target: voice.target_model, urls };
  const removeVoice = () => persist(gateway.store, 'deleteVoice', { voiceId, userId: caller.userId });
  switch (input.action) {
    case 'delete':
    case 'delete_voice':
      return callVoiceService(request, reply, {
        ...call,
        async recordOutcome() {
          await removeVoice();
          return undefined;
        },
        // A voice that the provider no longer has counts as deleted.
        async replaceRejection(rejection) {
          if (!isVoiceNotFound(rejection)) return undefined;
          await removeVoice();
          const output = service === 'voice-enrollment' ? {} : { voice: voiceId };
          return { request_id: randomUUID(), output, usage: { count: 0 } };
        },
      });
    case 'update_voice':
      return callVoiceService(request, reply, {
        ...call,
        async recordOutcome() {
          const facts = JSON.stringify({ ...factsIn(voice), recording: undefined, ...factsOf(input) });
          const { userId } = caller;
          const updated = { voiceId, userId, status: 'DEPLOYING', facts, now: gateway.clock() };
          await persist(gateway.store, 'updateVoice', updated);
          return undefined;
        },
      });
    default:
      return callVoiceService(request, reply, {
        ...call,
        recordOutcome: async (response) =>
          withStoredFacts(response, await recordStatus(gateway, voice, response)),
      });
  }
}

/** Finds the caller's voice. @throws Failure 404, which does not reveal voices of other users */
async function ownVoice(
  { gateway, caller }: VoiceRequest,
  service: VoiceService,
  voiceId: string,
): Promise<VoicesTable> {
  const [voice] = await findVoices(gateway.store.read, [voiceId], viewerOf(caller));
  if (voice?.isSeen === true && voice.service === service) return voice;
  throw new Failure(404, 'voice_not_found', `input: there is no voice ${quoted(voiceId)}.`);
}
