import type { components } from '../../../generated/http.ts';
import { objectField, textField, urlField } from '../json.ts';
import type { VideoResult } from '../video.ts';
import type { NativeTaskKind } from './tasks.ts';

type Model3dRequest = components['schemas']['Model3dRequest'];

/** Translates a 3D request. */
export function nativeModel3dRequest({ model: _model, ...body }: Model3dRequest) {
  const { prompt } = body.input;
  return { body, facts: prompt === undefined ? {} : { prompt }, expectedUnits: 1 };
}

/** Lifetime of the files. The task is stored longer. */
const resultMs = 2 * 60 * 60 * 1000;

/** Results of the 3D route. */
export const nativeModel3d: NativeTaskKind = {
  path: '/api/v1/services/aigc/video-generation/3d-generation',

  readResult(output) {
    const results = filesIn(objectField(output, 'results'));
    if (results.pbr_model_url === undefined && results.base_model_url === undefined) return undefined;
    const orig_prompt = textField(output, 'orig_prompt');
    const result: VideoResult = {
      native: {
        output: { ...(orig_prompt === undefined ? {} : { orig_prompt }), results },
      },
    };
    return { result: { ...result }, usage: { units: 1 }, resultMs };
  },
};

const names = ['pbr_model_url', 'base_model_url', 'rendered_image_url'] as const;

function filesIn(results: unknown): { [name in (typeof names)[number]]?: string } {
  const files: { [name in (typeof names)[number]]?: string } = {};
  for (const name of names) {
    const url = urlField(results, name);
    if (url !== undefined) files[name] = url;
  }
  return files;
}
