import type { components } from '../../../generated/http.ts';

type Model3dRequest = components['schemas']['Model3dRequest'];

/** A 3D request as it goes upstream, and what it is billed as. */
export function nativeModel3dRequest({ model: _model, ...body }: Model3dRequest) {
  const { prompt } = body.input;
  return { body, facts: prompt === undefined ? {} : { prompt }, expectedUnits: 1 };
}
