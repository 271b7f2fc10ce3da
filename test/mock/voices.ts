import { randomBytes, randomUUID } from 'node:crypto';
import { isObject, type Json, type JsonObject, text } from '../../openapi/tools/document.ts';
import { Failure } from '../../server/lib/failure.ts';
import { quoted, type VoiceService } from '../../server/models/catalogue.ts';
import { factsIn, factsOf, listItem } from '../../server/providers/native/voices.ts';
import type { AudioFormat } from '../../server/sandbox/speech/commands.ts';
import type { VoicesTable } from '../../server/store/schema.ts';
import { documented } from '../conformance/contract/documented.ts';
import { exampleOf } from './examples.ts';
import { sampleFile } from './sample-audio.ts';

interface MockVoicesOptions {
  now: () => number;
  /** Duration of a deployment in milliseconds. */
  deploymentMs: number;
}

/** Examples of the responses for the ids of the contract's examples, by action. */
const examples: Readonly<Record<string, string>> = {
  query_voice: 'details',
  update_voice: 'changed',
  delete_voice: 'changed',
  query: 'alpha_details',
  delete: 'alpha_deleted',
};

/** Custom voices, in memory. Recordings are not loaded, and every preview is the same sample. */
export class MockVoices {
  readonly #options: MockVoicesOptions;
  readonly #voices = new Map<string, VoicesTable>();

  constructor(options: MockVoicesOptions) {
    this.#options = options;
  }

  /**
   * Performs an action on custom voices and returns its response. The body must be valid.
   *
   * @throws Failure 404 for an unknown voice
   */
  async respond(body: JsonObject): Promise<Json> {
    const { model, input } = body as { model: VoiceService; input: JsonObject };
    const action = text(input.action);
    const id = text(input.voice_id) || text(input.voice);
    if (!this.#voices.has(id) && isExampleId(id)) return exampleOf('customizeVoice', examples[action] ?? '');
    const output = await this.#outputOf(action, id, { ...body, model, input });
    const count = action === 'create' || action === 'create_voice' ? 1 : 0;
    return { request_id: randomUUID(), output, usage: { count } };
  }

  async #outputOf(
    action: string,
    id: string,
    { model, input, parameters }: { model: VoiceService; input: JsonObject; parameters?: Json },
  ): Promise<JsonObject> {
    switch (action) {
      case 'create':
      case 'create_voice': {
        const voice = this.#create(model, input);
        const target = { target_model: voice.target_model };
        if (input.voice_prompt === undefined)
          return model === 'voice-enrollment'
            ? { voice_id: voice.voice_id }
            : { voice: voice.voice_id, ...target };
        const preview_audio = await preview(isObject(parameters) ? parameters : {});
        return { [idField(model)]: voice.voice_id, ...target, preview_audio };
      }
      case 'list':
      case 'list_voice':
        return this.#list(model, input);
      case 'query':
      case 'query_voice':
        return details(model, this.#require(model, id));
      case 'update_voice': {
        const voice = this.#require(model, id);
        const facts = JSON.stringify({ ...factsIn(voice), ...factsOf(input) });
        this.#voices.set(id, { ...voice, status: 'DEPLOYING', facts, updated_at: this.#options.now() });
        return {};
      }
      default:
        this.#require(model, id);
        this.#voices.delete(id);
        return model === 'voice-enrollment' ? {} : { voice: id };
    }
  }

  #create(service: VoiceService, input: JsonObject): VoicesTable {
    const now = this.#options.now();
    const name = text(input.prefix) || text(input.preferred_name);
    const target = text(input.target_model);
    const kind = input.voice_prompt === undefined ? 'vc' : 'vd';
    const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
    const id =
      service === 'voice-enrollment'
        ? `${target}-${kind === 'vd' ? 'vd-' : ''}${name}-${randomBytes(16).toString('hex')}`
        : `alpha-tts-${kind}-${name}-voice-${day}-${randomBytes(4).toString('hex')}`;
    const voice: VoicesTable = {
      voice_id: id,
      user_id: 1,
      token_id: 1,
      service,
      target_model: target,
      channel: 'mock',
      status: service === 'voice-enrollment' ? 'DEPLOYING' : 'OK',
      name,
      facts: JSON.stringify(factsOf(input)),
      created_at: now,
      updated_at: now,
    };
    this.#voices.set(id, voice);
    return voice;
  }

  #list(service: VoiceService, { page_index, page_size, prefix }: JsonObject): JsonObject {
    const index = typeof page_index === 'number' ? page_index : 0;
    const size = typeof page_size === 'number' ? page_size : 10;
    const all = [...this.#voices.values()]
      .filter((voice) => voice.service === service && (prefix === undefined || voice.name === prefix))
      .reverse();
    const page = all.slice(index * size, (index + 1) * size);
    const voice_list = page.map((voice) => listItem(service, this.#withStatus(voice)) as JsonObject);
    if (service === 'voice-enrollment') return { voice_list };
    return { page_index: index, page_size: size, total_count: all.length, voice_list };
  }

  #require(service: VoiceService, id: string): VoicesTable {
    const voice = this.#voices.get(id);
    if (voice?.service === service) return this.#withStatus(voice);
    // Like the gateway.
    throw new Failure(404, 'voice_not_found', `input: there is no voice ${quoted(id)}.`);
  }

  #withStatus(voice: VoicesTable): VoicesTable {
    const { now, deploymentMs } = this.#options;
    const readyAt = voice.updated_at + deploymentMs;
    return voice.status === 'DEPLOYING' && readyAt <= now()
      ? { ...voice, status: 'OK', updated_at: readyAt }
      : voice;
  }
}

const idField = (service: VoiceService) => (service === 'voice-enrollment' ? 'voice_id' : 'voice');

/** Returns the response to a query. */
function details(service: VoiceService, voice: VoicesTable): JsonObject {
  const item = listItem(service, voice) as JsonObject;
  if (service !== 'voice-enrollment') return item;
  const { voice_id = '', ...rest } = item;
  const { voice_prompt, recording } = factsIn(voice);
  return {
    ...rest,
    target_model: voice.target_model,
    ...(voice_prompt === undefined ? { resource_link: recording ?? '' } : { voice_id }),
  };
}

/** Returns the preview of a designed voice in the format of the request. */
async function preview({ sample_rate, response_format }: JsonObject): Promise<JsonObject> {
  const sampleRate = typeof sample_rate === 'number' ? sample_rate : 24_000;
  const format = (text(response_format) || 'wav') as AudioFormat;
  const file = await sampleFile({ format, sampleRate, channels: 1 });
  return { data: file.toString('base64'), sample_rate: sampleRate, response_format: format };
}

function isExampleId(id: string): boolean {
  return documented('customizeVoice')
    .requests.flatMap((media) => media.examples)
    .some(({ value }) => {
      const input = isObject(value) && isObject(value.input) ? value.input : {};
      return [input.voice_id, input.voice].includes(id);
    });
}
