import { randomUUID } from 'node:crypto';
import type { Channel } from '../../channels/channel.ts';
import { requestInTurn, unanswered } from '../../channels/failover.ts';
import { refuseOthersVoices } from '../../channels/voice-route.ts';
import { Failure } from '../../failure.ts';
import type { Handler, OperationRequest, Reply } from '../../http/handler.ts';
import { Metering } from '../../ledger/metering.ts';
import { findModel, quoted } from '../../models/catalogue.ts';
import { targetModel, type VoiceService } from '../../models/voice-services.ts';
import { splitBody } from '../../providers/native/split-body.ts';
import { voicesIn } from '../../providers/native/voice-places.ts';
import {
  countedActions,
  createdVoice,
  customizationPath,
  listItem,
  voiceStatus,
} from '../../providers/native/voices.ts';
import { parseAnswer } from '../../providers/native/whole-answer.ts';
import { persist } from '../../store/persist.ts';
import { findVoice, listVoices } from '../../store/queries/voices.ts';
import type { VoicesTable } from '../../store/schema.ts';
import { passRejection } from '../pass-rejection.ts';

type Request = OperationRequest<'customizeVoice'>;

/** Longest answer of a provider: a preview of a long text, in Base64. */
const longestAnswer = 32 * 1024 * 1024;

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
  await refuseOthersVoices(
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

async function create(request: Request, reply: Reply<'customizeVoice'>): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  if (!('target_model' in input)) throw new Error('the contract lets no create pass without a target model');
  const target = targetModel(service, input.target_model);
  gateway.access.require(caller, target);
  const homes = new Set(gateway.channels.serving('native', target.id, caller.group));
  const channels = gateway.channels
    .serving('native', service, caller.group)
    .filter((channel) => homes.has(channel));
  await callProvider(request, reply, gateway.channels.order(channels), target.id, async (answer, channel) => {
    const voiceId = createdVoice(answer);
    if (voiceId === undefined) throw new Failure(502, 'bad_response', 'The provider named no new voice.');
    const now = gateway.clock();
    const saved = await persist(gateway.store, 'saveVoice', {
      voice_id: voiceId,
      user_id: caller.userId,
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
  });
}

/** Lists from our own rows, because the provider's list holds the voices of all our users. */
async function list(request: Request, reply: Reply<'customizeVoice'>): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service } = body;
  const { page_index: page = 0, page_size: size = 10, prefix: name } = body.input as ListInput;
  const filter = { userId: caller.userId, service, name, offset: page * size, limit: size };
  const { voices, total } = await listVoices(gateway.store.read, filter);
  const unsettled = voices.filter(({ status }) => status === 'DEPLOYING').slice(0, mostRefreshed);
  await Promise.all(unsettled.map((voice) => refresh(request, voice)));
  const voiceList = voices.map((voice) => listItem(service, voice));
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

/** So many voices of a page are asked about again at the most; they are the newest. */
const mostRefreshed = 20;

/** Brings the status of a voice in preparation up to date. What the provider does not tell stays as it was. */
async function refresh({ gateway, signal }: Request, voice: VoicesTable): Promise<void> {
  const channel = gateway.channels.named(voice.channel);
  if (channel === undefined) return;
  const body = {
    model: channel.upstreamModel(voice.service),
    input: { action: 'query_voice', voice_id: voice.voice_id },
  };
  try {
    const response = await channel.request({
      method: 'POST',
      path: customizationPath,
      body,
      user: voice.user_id,
      poll: true,
      signal,
    });
    const { head, rest } = await splitBody(response, longestAnswer);
    await rest?.return?.();
    const status = response.status === 200 ? voiceStatus(parseAnswer(response.headers, head)) : undefined;
    if (status === undefined || status === voice.status) return;
    voice.status = status;
    voice.updated_at = gateway.clock();
    await gateway.store.run('touchVoice', {
      voiceId: voice.voice_id,
      userId: voice.user_id,
      status,
      now: voice.updated_at,
    });
  } catch (error) {
    gateway.logger.debug({ channel: channel.name, err: error }, 'a voice could not be asked about');
  }
}

/** Query, update and delete: passed on to the voice's own channel. */
async function change(request: Request, reply: Reply<'customizeVoice'>, voiceId: string): Promise<void> {
  const { body, gateway, caller } = request;
  const { model: service, input } = body;
  const voice = await ownVoice(request, service, voiceId);
  const channels = gateway.channels
    .serving('native', service, caller.group)
    .filter(({ name }) => name === voice.channel);
  await callProvider(request, reply, channels, voice.target_model, async (answer) => {
    const key = { voiceId, userId: caller.userId };
    if (input.action === 'delete' || input.action === 'delete_voice') {
      await persist(gateway.store, 'forgetVoice', key);
      return;
    }
    const status = input.action === 'update_voice' ? 'DEPLOYING' : voiceStatus(answer);
    if (status === undefined || (status === voice.status && input.action !== 'update_voice')) return;
    await persist(gateway.store, 'touchVoice', { ...key, status, now: gateway.clock() });
  });
}

/** @throws Failure 404 when the caller has no such voice; whether somebody else has is not told. */
async function ownVoice(
  { gateway, caller }: Request,
  service: VoiceService,
  voiceId: string,
): Promise<VoicesTable> {
  const voice = await findVoice(gateway.store.read, voiceId);
  if (voice !== undefined && voice.user_id === caller.userId && voice.service === service) return voice;
  throw new Failure(404, 'voice_not_found', `input: there is no voice ${quoted(voiceId)}.`);
}

/**
 * Sends the client's body to a channel, lets `keep` note the outcome durably, and passes the answer on unchanged.
 * One action is held before, and what the provider counts is charged.
 */
async function callProvider(
  request: Request,
  reply: Reply<'customizeVoice'>,
  channels: readonly Channel[],
  target: string,
  keep: (answer: unknown, channel: Channel) => Promise<void>,
): Promise<void> {
  const { body, gateway, caller, signal } = request;
  const metering = await Metering.open(gateway, {
    requestId: request.requestId,
    caller,
    operation: 'customizeVoice',
    model: findModel(body.model),
    expectedUnits: 1,
    startedAt: request.startedAt,
  });
  let name = '';
  try {
    const answered = await requestInTurn(
      // A create that was sent must not be sent again elsewhere: two voices would be made.
      channels.slice(0, 1),
      (one) => ({
        method: 'POST',
        path: customizationPath,
        body: forUpstream(body, target, one),
        user: caller.userId,
        signal,
      }),
      gateway.logger,
    );
    const { response, channel } = answered;
    name = channel.name;
    if (response.status !== 200) {
      await passRejection(answered, reply, metering);
      return;
    }
    const { head, rest } = await splitBody(response, longestAnswer);
    await rest?.return?.();
    const answer = parseAnswer(response.headers, head);
    await keep(answer, channel);
    const counted = { units: countedActions(answer), inputTokens: 0, outputTokens: 0 };
    await metering.charge(counted, { channel: name, status: 200 });
    reply.bytes(200, 'application/json', head);
  } catch (error) {
    const failure = error instanceof Failure ? error : unanswered(error);
    await metering.refund({ channel: name, status: failure.status, errorCode: failure.code });
    throw failure;
  }
}

/** The client's body with the provider's names of the models. */
function forUpstream(body: Request['body'], target: string, channel: Channel): unknown {
  const input =
    'target_model' in body.input
      ? { ...body.input, target_model: channel.upstreamModel(target) }
      : body.input;
  return { ...body, model: channel.upstreamModel(body.model), input };
}

/** What a list tells of a voice beside its id and times. */
function factsOf(input: object): Record<string, string> {
  const { language, voice_prompt, preview_text, language_hints } = input as Record<string, unknown>;
  const spoken = language ?? (Array.isArray(language_hints) ? language_hints[0] : undefined);
  const facts = { language: spoken, voice_prompt, preview_text };
  return Object.fromEntries(
    Object.entries(facts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
