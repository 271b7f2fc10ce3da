import { type Failure, invalid } from '../lib/failure.ts';

/** The families of video models that the generic routes serve. */
export type VideoFamily = 'gamma' | 'seedance' | 'eta';

/** How messages name the models of a family. */
const familyNames: Readonly<Record<VideoFamily, string>> = {
  gamma: 'gamma models',
  seedance: 'Seedance models (epsilon-delta-*, zeta-delta-*)',
  eta: 'eta models',
};

const gammaOnly: readonly VideoFamily[] = ['gamma'];
const seedanceOnly: readonly VideoFamily[] = ['seedance'];
const gammaAndSeedance: readonly VideoFamily[] = ['gamma', 'seedance'];

/** Fields of a generic video request that only some families have. Every family has the fields not listed here. */
export const familiesByField: Readonly<Record<string, readonly VideoFamily[]>> = {
  custom_domain: ['eta'],
  omni_reference_task_type: seedanceOnly,
  'metadata.input.media': gammaOnly,
  'metadata.parameters': gammaOnly,
  'metadata.seed': gammaAndSeedance,
  'metadata.watermark': gammaAndSeedance,
  'metadata.generate_audio': gammaAndSeedance,
  'metadata.content': seedanceOnly,
  'metadata.video_url': seedanceOnly,
  'metadata.audio_url': seedanceOnly,
  'metadata.omni_reference_task_type': seedanceOnly,
  'metadata.return_last_frame': seedanceOnly,
  'metadata.camera_fixed': seedanceOnly,
  'metadata.draft': seedanceOnly,
  'metadata.service_tier': seedanceOnly,
  'metadata.execution_expires_after': seedanceOnly,
  'metadata.priority': seedanceOnly,
  'metadata.safety_identifier': seedanceOnly,
  'metadata.callback_url': seedanceOnly,
  'metadata.output_format': seedanceOnly,
  'metadata.tools': seedanceOnly,
  'metadata.frames': seedanceOnly,
};

const familiesById: readonly { ids: RegExp; family: VideoFamily }[] = [
  { ids: /^gamma/, family: 'gamma' },
  { ids: /^(epsilon|zeta)-delta-/, family: 'seedance' },
  { ids: /^eta-/, family: 'eta' },
];

/** The family of a model. Undefined when its id does not show it. */
export function videoFamily(modelId: string): VideoFamily | undefined {
  return familiesById.find(({ ids }) => ids.test(modelId))?.family;
}

/**
 * The 400 for the first field that a family does not have; undefined when there is none. An empty list or object asks
 * for nothing, so it is accepted.
 */
export function unsupportedOption(family: VideoFamily, modelId: string, body: object): Failure | undefined {
  for (const [field, families] of Object.entries(familiesByField)) {
    if (families.includes(family) || valuesAt(body, field).every(isEmpty)) continue;
    const having = families.map((one) => familyNames[one]).join(' and ');
    return invalid(field, `${modelId} does not have this option; ${having} have it.`);
  }
  return undefined;
}

/** The values of a field: `metadata.input.media` is a key of `metadata` and also a field of `metadata.input`. */
function valuesAt(body: object, field: string): readonly unknown[] {
  const [name = '', ...rest] = field.split('.');
  const outer = property(body, name);
  if (rest.length === 0) return [outer];
  const [first = '', second] = rest;
  const nested = second === undefined ? [] : [property(property(outer, first), second)];
  return [property(outer, rest.join('.')), ...nested];
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
