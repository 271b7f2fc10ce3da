import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import { agreedValue, type FieldValue, type GenericVideoRequest, ratioFields } from '../video.ts';

type GammaParameters = components['schemas']['GammaParameters'];
type Resolution = NonNullable<GammaParameters['resolution']>;
type Ratio = NonNullable<GammaParameters['ratio']>;

const resolutions: readonly Resolution[] = ['480P', '720P', '1080P'];
const ratios: readonly Ratio[] = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'];
const maxSeed = 2_147_483_647;

/**
 * Translates the parameters of a generic request except the duration: `metadata.parameters` and equivalent other fields.
 *
 * @throws Failure 400 that names the field, for a value that the models do not support and for fields that differ
 */
export function genericParameters(request: GenericVideoRequest): GammaParameters {
  const { size, resolution, metadata = {} } = request;
  const native = metadata.parameters ?? {};
  const values = {
    resolution: agreedValue([
      { field: 'size', value: size === undefined ? undefined : resolutionOf('size', size) },
      {
        field: 'resolution',
        value: resolution === undefined ? undefined : resolutionOf('resolution', resolution),
      },
      { field: 'metadata.parameters.resolution', value: native.resolution },
    ]),
    ratio: agreedValue([
      ...ratioFields(request).map(knownRatio),
      { field: 'metadata.parameters.ratio', value: native.ratio },
    ]),
    seed: agreedValue([
      { field: 'metadata.seed', value: validSeed(metadata.seed) },
      { field: 'metadata.parameters.seed', value: native.seed },
    ]),
    watermark: agreedValue([
      { field: 'metadata.watermark', value: metadata.watermark },
      { field: 'metadata.parameters.watermark', value: native.watermark },
    ]),
    audio: agreedValue([
      { field: 'metadata.generate_audio', value: metadata.generate_audio },
      { field: 'metadata.parameters.audio', value: native.audio },
    ]),
  };
  const present = Object.entries(values).flatMap(([name, one]) =>
    one === undefined ? [] : [[name, one.value]],
  );
  return { ...native, ...Object.fromEntries(present) };
}

/** Converts to the provider's case. @throws Failure 400 when the models do not support the resolution */
function resolutionOf(field: string, text: string): Resolution {
  const found = resolutions.find((one) => one === text.toUpperCase());
  if (found === undefined) throw invalid(field, `must be one of ${resolutions.join(', ')}.`);
  return found;
}

/** @throws Failure 400 when the models do not support the ratio */
function knownRatio({ field, value }: FieldValue<string | undefined>): FieldValue<Ratio | undefined> {
  if (value === undefined) return { field, value };
  const found = ratios.find((one) => one === value);
  if (found === undefined) throw invalid(field, `must be one of ${ratios.join(', ')}.`);
  return { field, value: found };
}

/** @throws Failure 400 when the seed is out of range */
function validSeed(seed: number | undefined): number | undefined {
  if (seed === undefined || (seed >= 0 && seed <= maxSeed)) return seed;
  throw invalid('metadata.seed', `must be between 0 and ${maxSeed} for this model.`);
}
