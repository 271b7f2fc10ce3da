import { type Failure, invalid } from '../lib/failure.ts';

/** A family of video models that the generic routes serve. */
export type VideoFamily = 'gamma' | 'seedance' | 'eta';

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

/** Shortest and longest video in seconds. -1 is also valid. */
export type SecondsRange = readonly [shortest: number, longest: number];

export const familySeconds = {
  gamma: [2, 30],
  eta: [1, 15],
  seedance20: [4, 15],
  seedance25: [4, 30],
} as const satisfies Readonly<Record<string, SecondsRange>>;

const familiesById: readonly { ids: RegExp; family: VideoFamily; seconds?: SecondsRange }[] = [
  { ids: /^gamma/, family: 'gamma', seconds: familySeconds.gamma },
  { ids: /^eta-/, family: 'eta', seconds: familySeconds.eta },
  { ids: /^(epsilon|zeta)-delta-2-0-/, family: 'seedance', seconds: familySeconds.seedance20 },
  { ids: /^(epsilon|zeta)-delta-2-5-/, family: 'seedance', seconds: familySeconds.seedance25 },
  { ids: /^(epsilon|zeta)-delta-/, family: 'seedance' },
];

/** Returns the family of a model. Undefined if its id does not show it. */
export function videoFamily(modelId: string): VideoFamily | undefined {
  return familiesById.find(({ ids }) => ids.test(modelId))?.family;
}

/** Returns the lengths that a model supports. Undefined if its id does not show them. */
export function videoSeconds(modelId: string): SecondsRange | undefined {
  return familiesById.find(({ ids }) => ids.test(modelId))?.seconds;
}

export function isInRange(seconds: number, [shortest, longest]: SecondsRange): boolean {
  return seconds >= shortest && seconds <= longest;
}

/** Describes the lengths of a range in a message. */
export function secondsWords([shortest, longest]: SecondsRange): string {
  return `must be -1 or ${shortest} to ${longest}.`;
}

/** Describes the lengths of eta models. Only an edit accepts -1, which is the length of its source. */
export function etaSecondsWords(isEdit: boolean): string {
  const [shortest, longest] = familySeconds.eta;
  return isEdit
    ? secondsWords(familySeconds.eta)
    : `must be ${shortest} to ${longest}: -1 is for an edit, which needs video.`;
}

/** Builds the 400 for a field that a family does not have. An empty list or object counts as absent. */
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
  return rest.length === 0 ? [outer] : [property(outer, rest.join('.')), rest.reduce(property, outer)];
}

export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
