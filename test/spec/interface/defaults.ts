import type { Limits } from '../../support/limits.ts';

/** All defaults that the interface defines. */
export const defaults: Limits = {
  // Part 2.3: optimize_instructions, instruct models only.
  'MultimodalSpeechInput.optimize_instructions': { default: false },
  // Part 2.5: gamma parameters.
  'GammaParameters.resolution': { default: '1080P' },
  'GammaParameters.ratio': { default: 'adaptive' },
  'GammaParameters.duration': { default: 5 },
  'GammaParameters.audio': { default: true },
  'GammaParameters.prompt_extend': { default: true },
  'GammaParameters.watermark': { default: false },
  // Part 2.6: 0 inspiration is the default mode.
  CustomMode: { default: 0 },
  // Part 8: log search.
  'parameters/PageNumber': { default: 1 },
  'parameters/PageSize': { default: 20 },
};
