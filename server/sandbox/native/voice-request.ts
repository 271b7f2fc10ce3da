import { randomBytes } from 'node:crypto';
import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { type CloningOptions, clonedTimbre } from '../custom-voices/cloned-timbre.ts';
import type { CustomVoice } from '../custom-voices/custom-voices.ts';
import { readWav } from '../custom-voices/wav-file.ts';
import { plainDelivery } from '../delivery.ts';
import type { Exchange } from '../http/exchange.ts';
import { NativeError } from '../http/native-error.ts';
import { engineLanguages, type Language } from '../language.ts';
import { findModel } from '../models.ts';
import type { AudioFormat } from '../speech/commands.ts';
import type { Triggers } from '../triggers.ts';
import type { VoiceTimbre } from '../voices.ts';
import type { Parameters } from './parameters.ts';
import { speakText } from './speech.ts';

/** What the three voice services have in common. */

/** One request to a voice service. */
export interface VoiceAction {
  exchange: Exchange;
  service: CatalogueModel;
  input: Parameters;
  parameters: Parameters;
  triggers: Triggers;
}

/** Does the action and gives the `output` of its answer. */
export type VoiceActionHandler = (action: VoiceAction) => object | Promise<object>;
export type VoiceActions = Readonly<Record<string, VoiceActionHandler>>;

const maxRecordingBytes = 10 * 1024 * 1024;

/** The model that a new voice is for; `fits` says which models the service makes voices for. */
export function targetModel(input: Parameters, fits: (model: CatalogueModel) => boolean): CatalogueModel {
  const id = input.requiredString('target_model');
  const model = findModel(id);
  if (!model || !fits(model)) {
    throw input.wrong('target_model', `${id.slice(0, 100)} is no model that this service makes voices for`);
  }
  return model;
}

/** Refuses a new voice when the account is full. */
export function checkRoom({ services }: Exchange): void {
  if (!services.voices.full) return;
  throw new NativeError(429, 'Throttling.AllocationQuota', 'The account has as many voices as it may have');
}

/** The voice that field `name` asks for. Throws 404 unless `service` made it. */
export function requestedVoice({ exchange, service, input }: VoiceAction, name: string): CustomVoice {
  const id = input.requiredString(name);
  const voice = exchange.services.voices.find(id);
  if (!voice || voice.service !== service.id) {
    throw new NativeError(404, 'VoiceNotFound', `input.${name}: there is no voice ${id.slice(0, 100)}`);
  }
  return voice;
}

/** Derives a timbre from the recording at an address. */
export async function timbreOf(
  { services, signal }: Exchange,
  address: string,
  options: CloningOptions,
): Promise<VoiceTimbre> {
  const { field } = options;
  const file = await services.prompts.load(address, { field, size: maxRecordingBytes, signal });
  return clonedTimbre(readWav(file, field), options);
}

/** What a new designed voice says to show itself, as the reply's `preview_audio`. */
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
    delivery: plainDelivery,
    audio: { format, sampleRate, channels: 1 },
  });
  return { data: file.toString('base64'), sample_rate: sampleRate, response_format: format };
}

/** One page of a list, and the numbers that describe it. */
export function pageOf(
  input: Parameters,
  voices: readonly CustomVoice[],
): { voices: readonly CustomVoice[]; index: number; size: number } {
  const index = input.integer('page_index', { min: 0, max: Number.MAX_SAFE_INTEGER }, 0);
  const size = input.integer('page_size', { min: 1, max: 1000 }, 10);
  return { voices: voices.slice(index * size, (index + 1) * size), index, size };
}

/** `YYYY-MM-DD HH:MM:SS` in UTC. */
export function writeTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** The end of a new voice's id. */
export function randomSuffix(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
