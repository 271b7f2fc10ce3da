import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import { defined } from '../json.ts';
import { agreedValue, type GenericVideoRequest, oneOf, ratioFields } from '../video.ts';

type GammaParameters = components['schemas']['GammaParameters'];

const resolutions = ['480P', '720P', '1080P'] as const;
const ratios = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;
const maxSeed = 2_147_483_647;

/** Translates the parameters except the duration. @throws Failure 400 for unsupported values and fields that differ */
export function genericParameters(request: GenericVideoRequest): GammaParameters {
  const { size, resolution, metadata = {} } = request;
  const native = metadata.parameters ?? {};
  const { seed } = metadata;
  if (seed !== undefined && !(seed >= 0 && seed <= maxSeed))
    throw invalid('metadata.seed', `must be between 0 and ${maxSeed} for this model.`);
  const values = {
    resolution: agreedValue({
      size: oneOf('size', size?.toUpperCase(), resolutions),
      resolution: oneOf('resolution', resolution?.toUpperCase(), resolutions),
      'metadata.parameters.resolution': native.resolution,
    }),
    ratio: agreedValue({
      ...ratioFields(request, ratios),
      'metadata.parameters.ratio': native.ratio,
    }),
    seed: agreedValue({ 'metadata.seed': seed, 'metadata.parameters.seed': native.seed }),
    watermark: agreedValue({
      'metadata.watermark': metadata.watermark,
      'metadata.parameters.watermark': native.watermark,
    }),
    audio: agreedValue({
      'metadata.generate_audio': metadata.generate_audio,
      'metadata.parameters.audio': native.audio,
    }),
  };
  const agreed = Object.entries(values).map(([name, one]) => [name, one?.value]);
  return { ...native, ...defined(Object.fromEntries(agreed) as GammaParameters) };
}
