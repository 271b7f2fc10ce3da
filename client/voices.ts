import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { NotFoundError, PermissionDeniedError, UnigateError } from './errors.ts';
import type { SpeechModel } from './model-ids.ts';
import { PagePromise, type PageSource } from './page-promise.ts';
import { copyRequestId } from './request-id.ts';
import type { TaskReader } from './tasks/task-protocol.ts';
import { type WaitOptions, waitForTask } from './tasks/wait-for-task.ts';

type Schemas = components['schemas'];
type Request = Schemas['VoiceCustomizationRequest'];
type Output = Schemas['VoiceCustomizationReply']['output'];
type ListItem = Schemas['VoiceListItem'] | Schemas['AlphaVoice'];
type Details = Schemas['VoiceDetailsReply']['output'];
export type VoiceService = Request['model'];

interface NewVoice {
  /** The only model that can use the voice. */
  target_model: SpeechModel;
  /** Part of the id: 1 to 16 letters, digits and underscores, or 1 to 10 letters and digits for voxa and alpha-audio. */
  name: string;
  /** For example `en`. Default: `zh`. */
  language?: Schemas['AlphaVoiceLanguage'];
}

export interface VoiceClone extends NewVoice {
  /** HTTP URL of the recording. Alpha VC models also accept a data URL of WAV, MPEG or MP4 audio. */
  audio: string;
  /** Transcript of the recording, for alpha VC models. */
  text?: string;
}

export interface VoiceDesign extends NewVoice {
  voice_prompt: string;
  preview_text: string;
  /** Format of the preview. */
  parameters?: { sample_rate?: 16_000 | 24_000 | 48_000; response_format?: 'pcm' | 'wav' | 'mp3' };
}

/** A voice of the key's user. */
export interface CustomVoice {
  id: string;
  service: VoiceService;
  /** The model of the voice. Undefined if the list does not contain it. */
  target_model: string | undefined;
  /** The voice is usable when it is `OK`. */
  status: Schemas['VoiceStatus'];
}

export interface DesignedVoice extends CustomVoice {
  preview_audio: Schemas['VoicePreviewAudio'] | undefined;
}

export interface ListedVoice extends CustomVoice {
  /** Creation time as `YYYY-MM-DD HH:MM:SS`, UTC. */
  gmt_create: string;
}

const services = ['voice-enrollment', 'alpha-voice-enrollment', 'alpha-voice-design'] as const;
const pageSize = 100;
// A retry could create a second voice.
const withoutRetry = { maxRetries: 0 };

/** Custom voices of all three services. The target model determines the service. `POST /api/v1/services/audio/tts/customization` */
export class Voices {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Creates a voice from a recording. Voxa and alpha-audio voices are not ready immediately; see `waitFor`. */
  async clone(voice: VoiceClone, options: CallOptions = {}): Promise<CustomVoice> {
    const { audio, text, ...names } = voice;
    const service = hasSharedService(voice.target_model) ? 'voice-enrollment' : 'alpha-voice-enrollment';
    const recording = service === 'voice-enrollment' ? { url: audio } : { audio: { data: audio }, text };
    const input = { ...createInput(service, names), ...recording };
    return toCustomVoice(
      service,
      voice,
      await this.#customize(service, input, { ...withoutRetry, ...options }),
    );
  }

  /** Creates a voice and a preview from a description. */
  async design(voice: VoiceDesign, options: CallOptions = {}): Promise<DesignedVoice> {
    const { voice_prompt, preview_text, parameters, ...names } = voice;
    const service = hasSharedService(voice.target_model) ? 'voice-enrollment' : 'alpha-voice-design';
    const input = { ...createInput(service, names), voice_prompt, preview_text };
    const output = await this.#customize(service, input, { ...withoutRetry, ...options }, parameters);
    const preview_audio = 'preview_audio' in output ? output.preview_audio : undefined;
    return copyRequestId(output, { ...toCustomVoice(service, voice, output), preview_audio });
  }

  /** Polls a voice until it is ready. Throws TaskFailedError if it was rejected. */
  async waitFor(voice: CustomVoice, options: WaitOptions<Details> = {}): Promise<void> {
    const { id, service } = voice;
    // Voices of the other services are ready immediately.
    if (service !== 'voice-enrollment') return;
    const reader: TaskReader<Details, Details> = {
      read: async (voice_id, call) => {
        const body = { model: service, input: { action: 'query_voice', voice_id } } as const;
        const { data, ...reply } = await this.#caller.callWithResponse('customizeVoice', { ...call, body });
        return { ...reply, data: data.output as Details };
      },
      stateOf: ({ status }) => {
        const failure = { code: status, message: 'The voice was rejected.' };
        return { status, failure: status === 'UNDEPLOYED' ? failure : undefined };
      },
      isDone: (details): details is Details => details.status === 'OK',
    };
    await waitForTask(id, reader, options);
  }

  /**
   * Lists the voices of the key's user by service, newest first. A page contains voices of one service. It is empty for a
   * service that the key cannot access.
   */
  list(options: CallOptions = {}): PagePromise<ListedVoice, ListedVoice[]> {
    return new PagePromise(this.#page(services, options));
  }

  /** Deletes a voice permanently. Throws UnigateError if it does not exist. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    for await (const { id: toListedVoice, service } of this.list(options)) {
      if (toListedVoice !== id) continue;
      const input =
        service === 'voice-enrollment'
          ? { action: 'delete_voice', voice_id: id }
          : { action: 'delete', voice: id };
      await this.#customize(service, input, options);
      return;
    }
    throw new UnigateError(`There is no voice ${id}.`);
  }

  /** Returns a page of the first of the services. `firstId` is the first id of the page before it. */
  #page(
    [service, ...others]: readonly VoiceService[],
    options: CallOptions,
    page_index = 0,
    firstId?: string,
  ): PageSource<ListedVoice, ListedVoice[]> {
    if (service === undefined) throw new RangeError('There is no service to list.');
    return {
      load: async () => {
        const voices = await this.#listOf(service, page_index, options);
        // Stops if a page repeats.
        return firstId !== undefined && voices[0]?.id === firstId ? [] : voices;
      },
      itemsOf: (voices) => voices,
      next: (voices) => {
        if (voices.length === pageSize)
          return this.#page([service, ...others], options, page_index + 1, voices[0]?.id);
        return others.length === 0 ? undefined : this.#page(others, options);
      },
    };
  }

  async #listOf(service: VoiceService, page_index: number, options: CallOptions): Promise<ListedVoice[]> {
    const action = service === 'voice-enrollment' ? 'list_voice' : 'list';
    try {
      const output = await this.#customize(service, { action, page_index, page_size: pageSize }, options);
      const items: readonly ListItem[] = 'voice_list' in output ? output.voice_list : [];
      return copyRequestId(
        output,
        items.map((item) => copyRequestId(output, listed(service, item))),
      );
    } catch (error) {
      if (error instanceof PermissionDeniedError || error instanceof NotFoundError) return [];
      throw error;
    }
  }

  async #customize(
    service: VoiceService,
    input: object,
    options: CallOptions,
    parameters?: object,
  ): Promise<Output> {
    // The input matches the service, which TypeScript cannot infer from the union.
    const body = { model: service, input, ...(parameters && { parameters }) } as Request;
    return (await this.#caller.call('customizeVoice', { ...options, body })).output;
  }
}

/** Whether one service both clones and designs for the model. It requires shorter names and accepts only URLs. */
export function hasSharedService(model: string): boolean {
  return /^(voxa|alpha-audio)-/.test(model);
}

function createInput(service: VoiceService, { target_model, name, language }: NewVoice): object {
  if (service !== 'voice-enrollment')
    return { action: 'create', target_model, preferred_name: name, language };
  return { action: 'create_voice', target_model, prefix: name, language_hints: language && [language] };
}

function toCustomVoice(service: VoiceService, { target_model }: NewVoice, output: Output): CustomVoice {
  const id = 'voice_id' in output ? output.voice_id : 'voice' in output ? output.voice : undefined;
  if (id === undefined) throw new UnigateError('The response contains no voice.');
  const status = service === 'voice-enrollment' ? 'DEPLOYING' : 'OK';
  return copyRequestId(output, { id, service, target_model, status });
}

function listed(service: VoiceService, voice: ListItem): ListedVoice {
  const { gmt_create } = voice;
  if ('voice' in voice)
    return { id: voice.voice, service, target_model: voice.target_model, status: 'OK', gmt_create };
  // The id consists of the target model, `vd` for a designed voice, the name and a suffix.
  const [, target_model] = /^(.+?)(?:-vd)?-[A-Za-z0-9]{1,10}-[^-]+$/.exec(voice.voice_id) ?? [];
  return { id: voice.voice_id, service, target_model, status: voice.status, gmt_create };
}
