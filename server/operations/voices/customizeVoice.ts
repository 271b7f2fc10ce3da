import { randomUUID } from 'node:crypto';
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
  isVoiceNotFound,
  listItem,
  type VoiceFacts,
  withStoredFacts,
} from '../../providers/native/voices.ts';
import { findVoices, listVoices } from '../../store/queries/voices.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { persist } from '../../store/store.ts';

/**
 * Custom voices. A voice belongs to the user who made it, to its target model and to the channel it was made on:
 * whatever is done with it later goes there, and to everyone else it does not exist.
 */
export const customizeVoice: Handler<'customizeVoice'> = async (request, reply) => {
  const { body, gateway, caller } = request;
  gateway.access.require(caller, findModel(body.model));
  const { input } = body;
  const creates = input.action === 'create' || input.action === 'create_voice';
  const field = idField(body.model);
  await rejectOtherUsersVoices(
    gateway,
    caller,
    voicesIn('customization', { ...body }, creates ? [] : [`input.${field}`]),
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

/** What a service calls the id of the voice that an action is about. */
function idField(service: VoiceService): 'voice' | 'voice_id' {
  return service === 'voice-enrollment' ? 'voice_id' : 'voice';
}

async function create(request: VoiceRequest, reply: Reply<'customizeVoice'>): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  if (!('target_model' in input)) throw new Error('the contract lets no create pass without a target model');
  const target = targetModel(service, input.target_model);
  gateway.access.require(caller, target);
  const homes = new Set(gateway.channels.serving('native', target.id, caller.group));
  const channels = gateway.channels
    .serving('native', service, caller.group)
    .filter((channel) => homes.has(channel));
  const order = gateway.channels.order(channels);
  const keep = async (answer: unknown, channel: Channel) => {
    const voiceId = createdVoice(answer);
    if (voiceId === undefined) throw new Failure(502, 'bad_response', 'The provider named no new voice.');
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
      throw new Failure(502, 'bad_response', 'The provider gave out the id of a voice that exists.');
    return undefined;
  };
  await callVoiceService(request, reply, { channels: order, target: target.id, recordOutcome: keep });
}

/** Lists from our own rows, because the provider's list holds the voices of all our users. */
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
  const answer = { request_id: randomUUID(), output, usage: { count: 0 } };
  reply.bytes(200, 'application/json; charset=utf-8', JSON.stringify(answer));
}

interface ListInput {
  page_index?: number;
  page_size?: number;
  prefix?: string;
}

/** Query, update and delete: passed on to the voice's own channel. */
async function change(request: VoiceRequest, reply: Reply<'customizeVoice'>, voiceId: string): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  const voice = await ownVoice(request, service, voiceId);
  const channels = gateway.channels
    .serving('native', service, caller.group)
    .filter(({ name }) => name === voice.channel);
  const { recording } = factsIn(voice);
  const call = {
    channels,
    target: voice.target_model,
    urls: { clientUrl: recording, makesFiles: false },
  };
  const forget = () => persist(gateway.store, 'deleteVoice', { voiceId, userId: caller.userId });
  switch (input.action) {
    case 'delete':
    case 'delete_voice':
      return callVoiceService(request, reply, {
        ...call,
        async recordOutcome() {
          await forget();
          return undefined;
        },
        // What the client wants to be gone is gone.
        async replaceRejection(rejection) {
          if (!isVoiceNotFound(rejection)) return undefined;
          await forget();
          const output = service === 'voice-enrollment' ? {} : { voice: voiceId };
          return { request_id: randomUUID(), output, usage: { count: 0 } };
        },
      });
    case 'update_voice':
      return callVoiceService(request, reply, {
        ...call,
        async recordOutcome() {
          const facts = JSON.stringify({ ...factsIn(voice), recording: undefined, ...factsOf(input) });
          const updated = {
            voiceId,
            userId: caller.userId,
            status: 'DEPLOYING',
            facts,
            now: gateway.clock(),
          };
          await persist(gateway.store, 'updateVoice', updated);
          return undefined;
        },
      });
    default:
      return callVoiceService(request, reply, {
        ...call,
        recordOutcome: async (answer) => withStoredFacts(answer, await recordStatus(gateway, voice, answer)),
      });
  }
}

/** @throws Failure 404 when the caller has no such voice; whether somebody else has is not said. */
async function ownVoice(
  { gateway, caller }: VoiceRequest,
  service: VoiceService,
  voiceId: string,
): Promise<VoicesTable> {
  const [voice] = await findVoices(gateway.store.read, [voiceId], viewerOf(caller));
  if (voice?.isSeen === true && voice.service === service) return voice;
  throw new Failure(404, 'voice_not_found', `input: there is no voice ${quoted(voiceId)}.`);
}

/** What is kept of a voice beside its id and times. */
function factsOf(input: object): VoiceFacts {
  const { language, voice_prompt, preview_text, language_hints, url } = input as Record<string, unknown>;
  const spoken = language ?? (Array.isArray(language_hints) ? language_hints[0] : undefined);
  // A recording may come within the request, too, and is large then.
  const recording = typeof url === 'string' && /^https?:/i.test(url) ? url : undefined;
  const facts = { language: spoken, voice_prompt, preview_text, recording };
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
