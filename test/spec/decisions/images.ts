import type { Limits } from '../../support/limits.ts';

/** Limits of image jobs. */
export const images: Limits = {
  'ImagineRequest.base64Array': { maxItems: 5 },
  'ImagineRequest.base64Array[]': { pattern: '^data:image/(png|jpeg|jpg);base64,.' },
  ImagePrompt: { maxLength: 20000, minLength: 1 },
  ImageState: { maxLength: 8192 },
  ImageNotifyHook: { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'ImageModalRequest.taskId': { maxLength: 128, minLength: 1 },
  'ImageModalRequest.maskBase64': { pattern: '^data:image/png;base64,.' },
  'ImageActionRequest.taskId': { maxLength: 128, minLength: 1 },
  'ImageActionRequest.customId': { maxLength: 512, minLength: 1 },
  'ImageJobQuery.ids': { maxItems: 100, minItems: 1 },
  'ImageJobQuery.ids[]': { maxLength: 128, minLength: 1 },
};
