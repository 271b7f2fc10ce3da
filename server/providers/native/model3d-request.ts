import type { components } from '../../../generated/http.ts';
import { invalid } from '../../failure.ts';

type Model3dRequest = components['schemas']['Model3dRequest'];

/** A 3D request as it goes upstream, and what it is billed as. @throws Failure 400 that names the field */
export function nativeModel3dRequest({ model: _model, ...body }: Model3dRequest) {
  const { prompt, image, images = [] } = body.input;
  checkAddress(image, 'input.image');
  for (const [index, view] of images.entries())
    checkAddress(view.file_token, `input.images.${index}.file_token`);
  return { body, facts: prompt === undefined ? {} : { prompt }, expectedUnits: 1 };
}

function checkAddress(url: string | undefined, field: string): void {
  if (url === undefined) return;
  if (/^asset:/i.test(url)) throw invalid(field, 'asset references are for Seedance models; give a URL.');
  if (/^data:/i.test(url)) throw invalid(field, 'must be a URL, not a data URL.');
}
