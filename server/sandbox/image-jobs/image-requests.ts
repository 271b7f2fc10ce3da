import type { JsonObject } from '../http/json-body.ts';
import { invalidParameter } from '../http/native-error.ts';
import { Parameters } from '../native/parameters.ts';

const maxPromptCharacters = 6000;
const maxStateCharacters = 10_000;
const maxReferences = 5;
const maxIds = 100;

export interface ImagineRequest {
  prompt: string;
  state: string | undefined;
  /** Data URLs. */
  references: readonly string[];
}

export interface ActionRequest {
  taskId: string;
  customId: string;
  state: string | undefined;
}

export interface ModalRequest {
  taskId: string;
  /** Empty: the prompt of the source. */
  prompt: string;
  /** Data URL. */
  mask: string | undefined;
  state: string | undefined;
}

/** The readers throw a `NativeError` 400 if a field is invalid. */
export function readImagine(body: JsonObject): ImagineRequest {
  const request = new Parameters(body, '');
  const references = request.list('base64Array');
  if (references.length > maxReferences || !references.every((item) => typeof item === 'string'))
    throw request.invalid('base64Array', `must be a list of at most ${maxReferences} strings`);
  const prompt = request.limitedString('prompt', maxPromptCharacters);
  if (prompt.trim() === '') throw request.invalid('prompt', 'must not be blank');
  return { prompt, state: readState(request), references };
}

export function readAction(body: JsonObject): ActionRequest {
  const request = new Parameters(body, '');
  return {
    taskId: request.requiredString('taskId'),
    customId: request.requiredString('customId'),
    state: readState(request),
  };
}

export function readModal(body: JsonObject): ModalRequest {
  const request = new Parameters(body, '');
  return {
    taskId: request.requiredString('taskId'),
    prompt:
      request.has('prompt') && request.string('prompt') !== ''
        ? request.limitedString('prompt', maxPromptCharacters)
        : '',
    mask: request.string('maskBase64'),
    state: readState(request),
  };
}

/** Reads the ids of a query. */
export function readIds(body: JsonObject): string[] {
  const { ids } = body;
  if (!Array.isArray(ids) || ids.length > maxIds || !ids.every((id) => typeof id === 'string'))
    throw invalidParameter(`ids must be a list of at most ${maxIds} strings`, 'ids');
  return ids;
}

function readState(request: Parameters): string | undefined {
  return request.has('state') && request.string('state') !== ''
    ? request.limitedString('state', maxStateCharacters)
    : undefined;
}

const maxRatio = 3;
const maxSeed = 2 ** 32 - 1;

/** Reads the aspect ratio (width to height) from `--ar 16:9`. Default 1. */
export function readRatio(prompt: string): number {
  const [, width, height] = matchOption(prompt, 'ar|aspect', /(\d{1,4}):(\d{1,4})/) ?? [];
  const ratio = width === undefined ? 1 : Number(width) / Number(height);
  if (!(ratio >= 1 / maxRatio && ratio <= maxRatio))
    throw invalidParameter(`prompt: --ar must be from 1:${maxRatio} to ${maxRatio}:1`, 'prompt');
  return ratio;
}

/** Reads the zoom factor from `--zoom 1.8`. Default 2. */
export function readZoom(prompt: string): number {
  const factor = Number(matchOption(prompt, 'zoom', /(\d+(?:\.\d+)?)/)?.[1] ?? 2);
  if (factor < 1 || factor > 2) throw invalidParameter('prompt: --zoom must be from 1 to 2', 'prompt');
  return factor;
}

/** Reads the seed from `--seed 7`. A prompt with the same seed produces the same grid. */
export function readSeed(prompt: string): number | undefined {
  const [, seed] = matchOption(prompt, 'seed', /(\d{1,12})/) ?? [];
  if (Number(seed) > maxSeed) throw invalidParameter(`prompt: --seed must be at most ${maxSeed}`, 'prompt');
  return seed === undefined ? undefined : Number(seed);
}

/** Returns the match of the value of an option in a prompt. */
function matchOption(prompt: string, name: string, value: RegExp): RegExpExecArray | null {
  return new RegExp(`\\s--(?:${name})\\s+${value.source}(?=\\s|$)`).exec(` ${prompt}`);
}
