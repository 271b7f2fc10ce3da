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
    throw request.wrong('base64Array', `must be a list of at most ${maxReferences} strings`);
  const prompt = request.limitedString('prompt', maxPromptCharacters);
  if (prompt.trim() === '') throw request.wrong('prompt', 'must not be blank');
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

const aspectSwitch = /\s--(?:ar|aspect)\s+(\d{1,4}):(\d{1,4})\b/;
const maxRatio = 3;

/** Width to height as `--ar 16:9` says; 1 without it. */
export function ratioOf(prompt: string): number {
  const [, width, height] = aspectSwitch.exec(` ${prompt}`) ?? [];
  const ratio = Number(width) / Number(height);
  if (Number.isNaN(ratio)) return 1;
  if (ratio > maxRatio || ratio < 1 / maxRatio)
    throw invalidParameter(`prompt: --ar must be from 1:${maxRatio} to ${maxRatio}:1`, 'prompt');
  return ratio;
}

const zoomSwitch = /\s--zoom\s+(\d+(?:\.\d+)?)(?=\s|$)/;

/** How many times more `--zoom 1.8` shows; 2 without it. */
export function zoomOf(prompt: string): number {
  const factor = Number(zoomSwitch.exec(` ${prompt}`)?.[1] ?? 2);
  if (factor < 1 || factor > 2) throw invalidParameter('prompt: --zoom must be from 1 to 2', 'prompt');
  return factor;
}
