import { randomInt } from 'node:crypto';
import type { JsonObject } from '../../http/json-body.ts';
import { NativeError } from '../../http/native-error.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { type OfficialContent, readContent } from './content.ts';
import { limitsForModel, type ModelLimits } from './model-limits.ts';

const taskTypes = ['auto', 'reference', 'edit', 'extend'] as const;
const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'] as const;
const maxSeed = 2 ** 32 - 1;

/** A Seedance request with default values. */
export interface OfficialRequest extends OfficialContent {
  model: string;
  bounds: ModelLimits;
  resolution: string;
  ratio: (typeof ratios)[number];
  /** Duration in seconds. -1: the model chooses. */
  duration: number;
  /** Length in frames, which replaces the duration. */
  frames: number | undefined;
  seed: number;
  watermark: boolean;
  generateAudio: boolean;
  draft: boolean;
  returnLastFrame: boolean;
  serviceTier: string;
  /** In seconds. */
  executionExpiresAfter: number;
  priority: number;
  safetyIdentifier: string | undefined;
  tools: readonly { type: string }[];
  outputFormat: 'mp4' | 'mov';
  taskType: (typeof taskTypes)[number];
  /** True for a ratio that conflicts with an implicit task type. Only the task itself reports this error. */
  hiddenConflict: boolean;
}

/** Reads the body of a create request. Throws a `NativeError` if a field is invalid. */
export function readOfficialRequest(body: JsonObject): OfficialRequest {
  for (const name of ['model', 'content'])
    if (body[name] === undefined || body[name] === null) throw createMissingError(name);
  const { id: model } = resolveModel(body.model, 'official');
  const request = new Parameters(body, '');
  const bounds = limitsForModel(model);
  const content = readContent(request, bounds);
  if (content.prompt === '' && content.media.length === 0 && content.draftTaskId === undefined)
    throw createMissingError('content');
  request.flag('camera_fixed');
  request.string('callback_url');
  const taskType = request.choice('omni_reference_task_type', bounds.modern ? taskTypes : ['auto'], 'auto');
  const { hiddenConflict } = validateTaskType(request, content, taskType, bounds);
  return {
    ...content,
    model,
    bounds,
    taskType,
    hiddenConflict,
    resolution: request.choice('resolution', bounds.resolutions, '720p'),
    ratio: request.choice('ratio', ratios, 'adaptive'),
    ...readLength(request, bounds, taskType),
    seed: readSeed(request),
    watermark: request.flag('watermark'),
    generateAudio: request.flag('generate_audio', true),
    draft: request.flag('draft'),
    returnLastFrame: request.flag('return_last_frame'),
    serviceTier: request.choice('service_tier', bounds.modern ? ['default', 'flex'] : ['default'], 'default'),
    executionExpiresAfter: request.integer('execution_expires_after', { min: 3600, max: 259_200 }, 172_800),
    priority: request.integer('priority', { min: 0, max: 9 }, 0),
    safetyIdentifier: request.has('safety_identifier')
      ? request.limitedString('safety_identifier', 64)
      : undefined,
    tools: request
      .objects('tools', 1)
      .map((tool) => ({ type: tool.choice('type', ['web_search'], 'web_search') })),
    outputFormat: request.choice('output_format', bounds.modern ? ['mp4', 'mov'] : ['mp4'], 'mp4'),
  };
}

function readLength(request: Parameters, { seconds, defaultSeconds }: ModelLimits, taskType: string) {
  const frames = request.has('frames')
    ? request.integer('frames', { min: 24, max: seconds[1] * 24 }, 24)
    : undefined;
  if (frames !== undefined && request.has('duration'))
    throw request.invalid('frames', 'cannot be combined with duration');
  const fallback = taskType === 'edit' ? -1 : defaultSeconds;
  const duration = request.integer('duration', { min: -1, max: seconds[1] }, fallback);
  if (duration !== -1 && duration < seconds[0])
    throw request.invalid('duration', `must be -1 or ${seconds.join(' to ')}`);
  return { duration, frames };
}

function readSeed(request: Parameters): number {
  const seed = request.integer('seed', { min: -1, max: maxSeed }, -1);
  return seed === -1 ? randomInt(2 ** 31) : seed;
}

/** Edits, extensions and videos with a first frame determine the ratio themselves, and edits also the duration. */
function validateTaskType(
  request: Parameters,
  { media }: OfficialContent,
  taskType: string,
  { modern }: ModelLimits,
): { hiddenConflict: boolean } {
  if (!modern) return { hiddenConflict: false };
  const fixedRatio = request.string('ratio') !== undefined && request.string('ratio') !== 'adaptive';
  const fixedLength = request.has('frames') || request.integer('duration', { min: -1, max: 30 }, -1) !== -1;
  const hasFirstFrame = media.some(({ role }) => role === 'first_frame');
  const isExplicit = taskType !== 'auto';
  if (taskType === 'edit' && fixedLength)
    throw createConstraintError('edit supports only duration -1', 'duration');
  const conflict = fixedRatio && (taskType === 'edit' || taskType === 'extend' || hasFirstFrame);
  if (conflict && isExplicit)
    throw createConstraintError(`${taskType} supports only ratio adaptive`, 'ratio');
  if ((taskType === 'edit' || taskType === 'extend') && !media.some(({ kind }) => kind === 'video'))
    throw createConstraintError(`${taskType} requires a reference_video`, 'content');
  return { hiddenConflict: conflict };
}

export const taskTypeConstraint = 'InvalidParameter.TaskTypeConstraint';

function createConstraintError(problem: string, field: string): NativeError {
  return new NativeError(400, taskTypeConstraint, `omni_reference_task_type: ${problem}`, {}, field);
}

function createMissingError(name: string): NativeError {
  return new NativeError(400, 'MissingParameter', `${name} is required`, {}, name);
}
