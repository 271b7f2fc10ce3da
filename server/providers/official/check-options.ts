import type { components } from '../../../generated/http.ts';
import { type Failure, invalid } from '../../lib/failure.ts';
import { conflict } from '../../models/media-rules.ts';
import { isInRange, secondsWords } from '../../models/video-options.ts';
import { type ContentSource, hasFirstFrame } from './check-content.ts';
import type { ModelBounds } from './model-bounds.ts';

/** Options of an official request, without its content. */
export type OfficialOptions = components['schemas']['OfficialOptions'] & {
  resolution?: string;
  duration?: number;
};

export type FieldNames = (field: keyof OfficialOptions) => string;

export const frameRate = 24;

/** Checks options that depend on the model, on each other or on the content. @throws Failure 400 */
export function checkOptions(
  options: OfficialOptions,
  sources: readonly ContentSource[],
  bounds: ModelBounds,
  nameOf: FieldNames,
): void {
  const { resolution, service_tier, output_format, omni_reference_task_type: type } = options;
  if (resolution !== undefined && !bounds.resolutions.includes(resolution))
    throw invalid(nameOf('resolution'), `must be one of ${bounds.resolutions.join(', ')} for this model.`);
  checkLength(options, bounds, nameOf);
  if (bounds.modern) {
    checkTaskType(options, sources, nameOf);
    return;
  }
  if (service_tier === 'flex')
    throw invalid(nameOf('service_tier'), 'must be default: 2.0 models do not support flex.');
  if (output_format === 'mov')
    throw invalid(nameOf('output_format'), 'must be mp4: only 2.5 models support mov.');
  if (type !== undefined && type !== 'auto')
    throw invalid(nameOf('omni_reference_task_type'), 'must be auto: only 2.5 models support task types.');
}

/** Maximum seconds of output, which are reserved. */
export function maxSeconds(
  { duration, frames }: OfficialOptions,
  bounds: ModelBounds,
  sources: readonly ContentSource[],
): number {
  if (frames !== undefined) return Math.ceil(frames / frameRate);
  // The final video has the length of its draft.
  const finishing = sources.some(({ item }) => item.type === 'draft_task');
  if (duration === undefined && !finishing) return bounds.defaultSeconds;
  return duration === undefined || duration === -1 ? bounds.seconds[1] : duration;
}

/** Whether the provider chooses the length of the video. */
export function isLengthOpen(
  { duration, frames }: OfficialOptions,
  bounds: ModelBounds,
  sources: readonly ContentSource[],
): boolean {
  if (frames !== undefined) return false;
  const hasNoDefault = bounds.modern || sources.some(({ item }) => item.type === 'draft_task');
  return duration === -1 || (duration === undefined && hasNoDefault);
}

function checkLength({ duration, frames }: OfficialOptions, bounds: ModelBounds, nameOf: FieldNames): void {
  const [, longest] = bounds.seconds;
  if (duration !== undefined && duration !== -1 && !isInRange(duration, bounds.seconds))
    throw invalid(nameOf('duration'), secondsWords(bounds.seconds));
  if (frames === undefined) return;
  if (duration !== undefined)
    throw conflict(nameOf('frames'), `cannot be combined with ${nameOf('duration')}. Send one of them.`);
  if (frames > longest * frameRate)
    throw invalid(nameOf('frames'), `must be at most ${longest * frameRate} for this model.`);
}

function checkTaskType(
  { omni_reference_task_type: type = 'auto', ratio, duration, frames }: OfficialOptions,
  sources: readonly ContentSource[],
  nameOf: FieldNames,
): void {
  if (type === 'auto') return;
  const works = type === 'edit' || type === 'extend';
  if (type === 'edit' && duration !== undefined && duration !== -1)
    throw constraint(nameOf('duration'), 'must be -1 for an edit, which has the length of its source.');
  if (type === 'edit' && frames !== undefined)
    throw constraint(nameOf('frames'), 'must not be set for an edit, which has the length of its source.');
  if (ratio !== undefined && ratio !== 'adaptive' && (works || hasFirstFrame(sources)))
    throw constraint(
      nameOf('ratio'),
      `must be adaptive for ${works ? `task type ${type}` : 'a given first frame'}.`,
    );
  const source = sources.some(({ item }) => item.type === 'video_url' || item.type === 'draft_task');
  if (works && !source)
    throw constraint(nameOf('omni_reference_task_type'), `${type} requires a source video.`);
}

function constraint(field: string, problem: string): Failure {
  return invalid(field, problem, 'InvalidParameter.TaskTypeConstraint');
}
