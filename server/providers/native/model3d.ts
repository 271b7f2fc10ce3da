import type { components } from '../../../generated/http.ts';
import { objectField, textField, webAddress } from '../json.ts';
import type { VideoResult } from '../video.ts';
import type { NativeWork } from './tasks.ts';

type Model3dRequest = components['schemas']['Model3dRequest'];

/** A 3D request as it goes upstream, and what it is billed as. */
export function nativeModel3dRequest({ model: _model, ...body }: Model3dRequest) {
  const { prompt } = body.input;
  return { body, facts: prompt === undefined ? {} : { prompt }, expectedUnits: 1 };
}

/** Files are available so long; the task itself for longer. */
const resultMs = 2 * 60 * 60 * 1000;

/** Tasks of the 3D route. */
export const nativeModel3d: NativeWork = {
  path: '/api/v1/services/aigc/video-generation/3d-generation',

  finished(output) {
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
    const url = webAddress(results, name);
    if (url !== undefined) files[name] = url;
  }
  return files;
}
