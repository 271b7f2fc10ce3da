import type { Limits } from '../../support/limits.ts';

/** Limits of the native 3D protocol. */
export const models3d: Limits = {
  'Model3dView.type': { enum: ['jpeg', 'png'] },
  'Model3dInput.prompt': { maxLength: 1024, minLength: 1 },
  'Model3dInput.images': { maxItems: 4, minItems: 4 },
  'Model3dParameters.texture_quality': { default: 'standard', enum: ['standard', 'detailed'] },
  'Model3dParameters.geometry_quality': { enum: ['standard', 'ultra'], default: 'standard' },
  'Model3dParameters/if.texture': { const: false },
  'Model3dParameters/then.pbr': { const: false },
  'Model3dRequest.model': { maxLength: 200, minLength: 1 },
  'Model3dParameters.pbr': { default: true },
  'Model3dParameters.texture': { default: true },
};
