import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { NotFoundError, PermissionDeniedError, UnigateError } from './errors.ts';
import type { TaskReader } from './tasks/task-protocol.ts';
import { type WaitOptions, waitForTask } from './tasks/wait-for-task.ts';

type Schemas = components['schemas'];
type Request = Schemas['VoiceCustomizationRequest'];
type Output = Schemas['VoiceCustomizationReply']['output'];
type ListItem = Schemas['VoiceListItem'] | Schemas['AlphaVoice'];
type Details = Schemas['VoiceDetailsReply']['output'];
export type VoiceService = Request['model'];

interface NewVoice {
  /** The model that will speak with it; no other can. */
  target_model: string;
  /** A part of the id: 1 to 16 letters, digits and underscores; for voxa and alpha-audio 1 to 10 letters and digits. */
  name: string;
  /** For example `en`; `zh` when it is left out. */
  language?: Schemas['AlphaVoiceLanguage'];
}

export interface VoiceClone extends NewVoice {
  /** The recording: an http address; for alpha VC models also a data URL of WAV, MPEG or MP4 audio. */
  audio: string;
  /** Alpha VC models: what the recording says. */
  text?: string;
}

export interface VoiceDesign extends NewVoice {
  voice_prompt: string;
  preview_text: string;
  /** The form of the preview. */
  parameters?: { sample_rate?: 16_000 | 24_000 | 48_000; response_format?: 'pcm' | 'wav' | 'mp3' };
}

/** A voice of the key's user. */
export interface CustomVoice {
  id: string;
  service: VoiceService;
  /** The model that speaks with it; undefined where a list does not tell it. */
  target_model: string | undefined;
  /** Only `OK` can speak. */
  status: Schemas['VoiceStatus'];
}

export interface DesignedVoice extends CustomVoice {
  preview_audio: Schemas['VoicePreviewAudio'] | undefined;
}

export interface ListedVoice extends CustomVoice {
  /** As `YYYY-MM-DD HH:MM:SS`, UTC. */
  gmt_create: string;
}

const services = ['voice-enrollment', 'alpha-voice-enrollment', 'alpha-voice-design'] as const;
const pageSize = 100;
// A repeat could make a second voice.
const once = { maxRetries: 0 };

/** Custom voices of all three services, which the target model chooses. `POST /api/v1/services/audio/tts/customization` */
export class Voices {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Makes a voice from a recording. One of voxa or alpha-audio is not ready at once; see `waitFor`. */
  async clone(voice: VoiceClone, options: CallOptions = {}): Promise<CustomVoice> {
    const { audio, text, ...names } = voice;
    const service = isShared(voice.target_model) ? 'voice-enrollment' : 'alpha-voice-enrollment';
    const recording = service === 'voice-enrollment' ? { url: audio } : { audio: { data: audio }, text };
    const input = { ...create(service, names), ...recording };
    return created(service, voice, await this.#ask(service, input, { ...once, ...options }));
  }

  /** Makes a voice from a description, and a preview of it. */
  async design(voice: VoiceDesign, options: CallOptions = {}): Promise<DesignedVoice> {
    const { voice_prompt, preview_text, parameters, ...names } = voice;
    const service = isShared(voice.target_model) ? 'voice-enrollment' : 'alpha-voice-design';
    const input = { ...create(service, names), voice_prompt, preview_text };
    const output = await this.#ask(service, input, { ...once, ...options }, parameters);
    const preview_audio = 'preview_audio' in output ? output.preview_audio : undefined;
    return { ...created(service, voice, output), preview_audio };
  }

  /** Polls a voice until it can speak. Throws TaskFailedError when it was refused. */
  async waitFor(voice: CustomVoice, options: WaitOptions<Details> = {}): Promise<void> {
    const { id, service } = voice;
    // The other services have no states.
    if (service !== 'voice-enrollment') return;
    const reader: TaskReader<Details, Details> = {
      read: async (voice_id, call) => {
        const body = { model: service, input: { action: 'query_voice', voice_id } } as const;
        const { data, ...reply } = await this.#caller.callWithReply('customizeVoice', { ...call, body });
        return { ...reply, data: data.output as Details };
      },
      stateOf: ({ status }) => {
        const failure = { code: status, message: 'The voice was refused.' };
        return { status, failure: status === 'UNDEPLOYED' ? failure : undefined };
      },
      isDone: (details): details is Details => details.status === 'OK',
    };
    await waitForTask(id, reader, options);
  }

  /** All voices of the key's user, service by service, newest first; those of a service that the key may not use are left out. */
  async *list(options: CallOptions = {}): AsyncGenerator<ListedVoice, void> {
    for (const service of services) {
      try {
        yield* this.#listOf(service, options);
      } catch (error) {
        if (!(error instanceof PermissionDeniedError) && !(error instanceof NotFoundError)) throw error;
      }
    }
  }

  /** Deletes a voice for good. Throws UnigateError when there is no such voice. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    for await (const { id: listed, service } of this.list(options)) {
      if (listed !== id) continue;
      const input =
        service === 'voice-enrollment'
          ? { action: 'delete_voice', voice_id: id }
          : { action: 'delete', voice: id };
      await this.#ask(service, input, options);
      return;
    }
    throw new UnigateError(`There is no voice ${id}.`);
  }

  async *#listOf(service: VoiceService, options: CallOptions): AsyncGenerator<ListedVoice, void> {
    const action = service === 'voice-enrollment' ? 'list_voice' : 'list';
    let first: string | undefined;
    for (let page_index = 0; ; page_index++) {
      const output = await this.#ask(service, { action, page_index, page_size: pageSize }, options);
      const items: readonly ListItem[] = 'voice_list' in output ? output.voice_list : [];
      const voices = items.map((item) => listed(service, item));
      // A page that comes again must not be read forever.
      if (first !== undefined && voices[0]?.id === first) return;
      first = voices[0]?.id;
      yield* voices;
      if (voices.length < pageSize) return;
    }
  }

  async #ask(
    service: VoiceService,
    input: object,
    options: CallOptions,
    parameters?: object,
  ): Promise<Output> {
    // Service and input fit each other here; the union of the contract cannot be told so.
    const body = { model: service, input, ...(parameters && { parameters }) } as Request;
    return (await this.#caller.call('customizeVoice', { ...options, body })).output;
  }
}

/** Whether one service clones and designs for the model: with shorter names, and from addresses only. */
export function isShared(model: string): boolean {
  return /^(voxa|alpha-audio)-/.test(model);
}

function create(service: VoiceService, { target_model, name, language }: NewVoice): object {
  if (service !== 'voice-enrollment')
    return { action: 'create', target_model, preferred_name: name, language };
  return { action: 'create_voice', target_model, prefix: name, language_hints: language && [language] };
}

function created(service: VoiceService, { target_model }: NewVoice, output: Output): CustomVoice {
  const id = 'voice_id' in output ? output.voice_id : 'voice' in output ? output.voice : undefined;
  if (id === undefined) throw new UnigateError('The answer names no voice.');
  return { id, service, target_model, status: service === 'voice-enrollment' ? 'DEPLOYING' : 'OK' };
}

function listed(service: VoiceService, voice: ListItem): ListedVoice {
  const { gmt_create } = voice;
  if ('voice' in voice)
    return { id: voice.voice, service, target_model: voice.target_model, status: 'OK', gmt_create };
  // The id itself is the target model, `vd` for a designed voice, the name and a suffix.
  const [, target_model] = /^(.+?)(?:-vd)?-[A-Za-z0-9]{1,10}-[^-]+$/.exec(voice.voice_id) ?? [];
  return { id: voice.voice_id, service, target_model, status: voice.status, gmt_create };
}
