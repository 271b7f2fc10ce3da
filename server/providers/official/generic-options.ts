import { type GenericVideoRequest, lengthAsked } from '../video-request.ts';
import type { FieldNames, OfficialOptions } from './check-options.ts';

/** Keys of `metadata` that are called the same in the official request. */
const copied = [
  'watermark',
  'return_last_frame',
  'seed',
  'camera_fixed',
  'draft',
  'service_tier',
  'execution_expires_after',
  'priority',
  'safety_identifier',
  'callback_url',
  'output_format',
  'tools',
  'frames',
  'generate_audio',
] as const satisfies readonly (keyof OfficialOptions)[];

/**
 * The official options of a generic request, and where each of them stands in it.
 *
 * @throws Failure 400 `invalid_media_combination` when two lengths disagree
 */
export function genericOptions(request: GenericVideoRequest): {
  options: OfficialOptions;
  nameOf: FieldNames;
} {
  const { size, metadata = {} } = request;
  const ratio = metadata.ratio ?? metadata.aspect_ratio;
  const taskType = request.omni_reference_task_type ?? metadata.omni_reference_task_type;
  const duration = lengthAsked(request)?.length;
  const options: OfficialOptions = {
    ...(size !== undefined && { resolution: size.toLowerCase() }),
    ...(ratio !== undefined && { ratio }),
    ...(duration !== undefined && { duration }),
    ...Object.fromEntries(
      copied.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])),
    ),
    ...(taskType !== undefined && { omni_reference_task_type: taskType }),
  };
  const names: Readonly<Partial<Record<keyof OfficialOptions, string>>> = {
    resolution: 'size',
    duration: request.seconds === undefined ? 'duration' : 'seconds',
    ratio: metadata.ratio === undefined ? 'metadata.aspect_ratio' : 'metadata.ratio',
    ...(request.omni_reference_task_type !== undefined && {
      omni_reference_task_type: 'omni_reference_task_type',
    }),
  };
  return { options, nameOf: (field) => names[field] ?? `metadata.${field}` };
}
