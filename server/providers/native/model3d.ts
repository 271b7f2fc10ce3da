import type { components } from '../../../generated/http.ts';
import { pick, pickDefined, readFields, textField, urlField } from '../../lib/json.ts';
import type { VideoResult } from '../video.ts';
import type { NativeTaskKind } from './tasks.ts';

/** URL fields of a result. */
export const modelFiles = ['pbr_model_url', 'base_model_url', 'rendered_image_url'] as const;

export function nativeModel3dRequest({ model: _model, ...body }: components['schemas']['Model3dRequest']) {
  return { body, facts: pick(body.input, ['prompt']), expectedUnits: 1 };
}

/** Lifetime of the files. The task is stored longer. */
const resultMs = 2 * 60 * 60 * 1000;

export const nativeModel3d: NativeTaskKind = {
  path: '/api/v1/services/aigc/video-generation/3d-generation',

  readResult(output) {
    const results = pickDefined(modelFiles, (name) => urlField(output.results, name));
    if (results.pbr_model_url === undefined && results.base_model_url === undefined) return undefined;
    const result: VideoResult = {
      native: { output: { ...readFields(output, { orig_prompt: textField }), results } },
    };
    return { result: { ...result }, usage: { units: 1 }, resultMs };
  },
};
