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
  /** Empty: that of the source. */
  prompt: string;
  /** A data URL. */
  mask: string | undefined;
  state: string | undefined;
}

/** These throw a `NativeError` 400 for what its fields alone show to be wrong. */
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

/** The ids of a query. */
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

/** Width to height as `--ar 16:9` says; 1 without it. */
export function ratioOf(prompt: string): number {
  const [, width, height] = switchIn(prompt, 'ar|aspect', /(\d{1,4}):(\d{1,4})/) ?? [];
  const ratio = width === undefined ? 1 : Number(width) / Number(height);
  if (!(ratio >= 1 / maxRatio && ratio <= maxRatio))
    throw invalidParameter(`prompt: --ar must be from 1:${maxRatio} to ${maxRatio}:1`, 'prompt');
  return ratio;
}

/** How many times more `--zoom 1.8` shows; 2 without it. */
export function zoomOf(prompt: string): number {
  const factor = Number(switchIn(prompt, 'zoom', /(\d+(?:\.\d+)?)/)?.[1] ?? 2);
  if (factor < 1 || factor > 2) throw invalidParameter('prompt: --zoom must be from 1 to 2', 'prompt');
  return factor;
}

/** The seed that `--seed 7` chooses, from which the same prompt makes the same grid. */
export function seedIn(prompt: string): number | undefined {
  const [, seed] = switchIn(prompt, 'seed', /(\d{1,12})/) ?? [];
  if (Number(seed) > maxSeed) throw invalidParameter(`prompt: --seed must be at most ${maxSeed}`, 'prompt');
  return seed === undefined ? undefined : Number(seed);
}

/** The value of a switch in a prompt, taken apart. */
function switchIn(prompt: string, name: string, value: RegExp): RegExpExecArray | null {
  return new RegExp(`\\s--(?:${name})\\s+${value.source}(?=\\s|$)`).exec(` ${prompt}`);
}
