import { randomBytes } from 'node:crypto';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { type CloningOptions, createClonedTimbre } from '../custom-voices/cloned-timbre.ts';
import type { CustomVoice } from '../custom-voices/custom-voices.ts';
import { readWav } from '../custom-voices/wav-file.ts';
import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { engineLanguages, type Language } from '../language.ts';
import { findModel } from '../models.ts';
import { neutralProsody } from '../prosody.ts';
import type { AudioFormat } from '../speech/commands.ts';
import type { Triggers } from '../triggers.ts';
import type { VoiceTimbre } from '../voices.ts';
import type { Parameters } from './parameters.ts';
import { speakText } from './speech.ts';

/** A request to one of the three voice services. */
export interface VoiceAction {
  exchange: Exchange;
  service: CatalogueModel;
  input: Parameters;
  parameters: Parameters;
  triggers: Triggers;
}

/** Runs the action and returns the `output` of the response. */
export type VoiceActionHandler = (action: VoiceAction) => object | Promise<object>;
export type VoiceActions = Readonly<Record<string, VoiceActionHandler>>;

const maxRecordingBytes = 10 * 1024 * 1024;

/** Returns the target model of a new voice. `fits` returns true for models that the service supports. */
export function readTargetModel(input: Parameters, fits: (model: CatalogueModel) => boolean): CatalogueModel {
  const id = input.requiredString('target_model');
  const model = findModel(id);
  if (!model || !fits(model)) {
    throw input.invalid(
      'target_model',
      `${id.slice(0, 100)} is not a model that this service creates voices for`,
    );
  }
  return model;
}

/** Throws 429 if the account has the maximum number of voices. */
export function checkVoiceLimit({ services }: Exchange): void {
  if (!services.voices.isFull) return;
  throw new NativeError(429, 'Throttling.AllocationQuota', 'The account has the maximum number of voices');
}

/** Returns the voice in the field `name`. Throws 404 unless `service` created it. */
export function findRequestedVoice({ exchange, service, input }: VoiceAction, name: string): CustomVoice {
  const id = input.requiredString(name);
  const voice = exchange.services.voices.find(id);
  if (!voice || voice.service !== service.id) {
    throw new NativeError(404, 'VoiceNotFound', `input.${name}: voice ${id.slice(0, 100)} does not exist`);
  }
  return voice;
}

/** Loads the recording from a URL and derives a timbre from it. */
export async function loadTimbre(
  { services, signal }: Exchange,
  address: string,
  options: CloningOptions,
): Promise<VoiceTimbre> {
  const { field } = options;
  const file = await services.prompts.load(address, { field, maxBytes: maxRecordingBytes, signal });
  return createClonedTimbre(readWav(file, field), options);
}

/** Synthesizes the preview of a new designed voice and returns the `preview_audio` of the response. */
export async function speakPreview(
  { exchange, input, parameters }: VoiceAction,
  { timbre, maxCharacters, language }: { timbre: VoiceTimbre; maxCharacters: number; language: string },
  choices: { sampleRates: readonly number[]; formats: readonly AudioFormat[] },
): Promise<object> {
  const sampleRate = parameters.choice('sample_rate', choices.sampleRates, 24000);
  const format = parameters.choice('response_format', choices.formats, 'wav');
  const file = await speakText(exchange, input.limitedString('preview_text', maxCharacters), {
    timbre,
    language: language in engineLanguages ? (language as Language) : undefined,
    prosody: neutralProsody,
    audio: { format, sampleRate, channels: 1 },
  });
  return { data: file.toString('base64'), sample_rate: sampleRate, response_format: format };
}

/** Returns one page of a list with its index and size. */
export function readPage(
  input: Parameters,
  voices: readonly CustomVoice[],
): { voices: readonly CustomVoice[]; index: number; size: number } {
  const index = input.integer('page_index', { min: 0, max: Number.MAX_SAFE_INTEGER }, 0);
  const size = input.integer('page_size', { min: 1, max: 1000 }, 10);
  return { voices: voices.slice(index * size, (index + 1) * size), index, size };
}

/** Formats a time as `YYYY-MM-DD HH:MM:SS` in UTC. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** Returns a random suffix for a voice id. */
export function createRandomSuffix(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
