import type { Limits } from '../../support/limits.ts';

/** Part 8 of the interface, with the ranges of the field tables of part 2. */
export const limits: Limits = {
  // Native speech: alpha3 600 characters. A schema cannot express the 512 tokens of legacy models.
  'MultimodalSpeechRequest/allOf/2/if.model': { pattern: '^alpha3-' },
  'MultimodalSpeechRequest/allOf/2/then.input.text': { maxLength: 600 },
  // No realtime models, instructions for instruct models only; voxa-v1 has no native HTTP synthesis.
  'MultimodalSpeechRequest.model': { pattern: '^(?!alpha.*-realtime)' },
  'MultimodalSpeechRequest/allOf/3/if.model': { pattern: '^(alpha|beta/)(?!.*-instruct)' },
  'MultimodalSpeechRequest/allOf/3/then.input.optimize_instructions/not': { const: true },
  'SynthesizerRequest.model': { pattern: '^(?!voxa-v1$)' },
  // optimize_instructions requires instructions.
  'MultimodalSpeechInput/if.optimize_instructions': { const: true },

  // Music: prompt of 200 characters in inspiration mode, 3000 in custom mode; tags of 120.
  'SubmitMusicRequest/if.custom_mode': { enum: [1, true] },
  'SubmitMusicRequest/else.prompt': { maxLength: 200 },
  'CreateMusicRequest/if.custom_mode': { enum: [1, true] },
  'CreateMusicRequest/else.input.prompt': { maxLength: 200 },
  'MusicInput.prompt': { maxLength: 3000 },
  'MusicInput.tags': { maxLength: 120 },

  // Gamma: 2 to 30 seconds, or -1; a seed of 0 to 2147483647.
  'GammaParameters.duration': { minimum: -1, maximum: 30 },
  'GammaParameters.duration/if': { minimum: 0 },
  'GammaParameters.duration/then': { minimum: 2 },
  'GammaParameters.seed': { minimum: 0, maximum: 2147483647 },
  'GammaVideoLimits/if.model': { pattern: '^gamma' },
  'GammaVideoLimits/then.duration': { maximum: 30 },
  'GammaVideoLimits/then.duration/if': { minimum: 0 },
  'GammaVideoLimits/then.duration/then': { minimum: 2 },
  'GammaVideoLimits/then.seconds': { maximum: 30, pattern: '^(-1|[2-9]|[12][0-9]|30)$' },
  'GammaVideoLimits/then.seconds/if': { minimum: 0 },
  'GammaVideoLimits/then.seconds/then': { minimum: 2 },
  // Gamma: one first and one last frame, ten reference images, or native media instead.
  'GammaShortcuts.images': { maxItems: 2 },
  'GammaShortcuts.reference_images': { maxItems: 10 },
  'GammaShortcuts/allOf/0/then.images/not': { minItems: 1 },
  'GammaShortcuts/allOf/1/if/anyOf/2.images': { minItems: 1 },
  'GammaShortcuts/allOf/1/then.reference_images/not': { minItems: 1 },
  'GammaVideoLimits/then/if.metadata/anyOf/0.input.media': { minItems: 1 },
  'GammaVideoLimits/then/if.metadata/anyOf/1.input.media': { minItems: 1 },
  // Videos: a prompt or media.
  'CreateVideoRequest/allOf/3/if.prompt': { maxLength: 0 },
  'CreateVideoRequest/allOf/3/then/anyOf/0.prompt': { minLength: 1 },
  'CreateVideoRequest/allOf/3/then/anyOf/2.images': { minItems: 1 },
  'CreateVideoRequest/allOf/3/then/anyOf/3.reference_images': { minItems: 1 },
  'CreateVideoRequest/allOf/3/then/anyOf/6.metadata/anyOf/0.input.media': { minItems: 1 },
  'CreateVideoRequest/allOf/3/then/anyOf/6.metadata/anyOf/1.input.media': { minItems: 1 },
  'CreateVideoRequest/allOf/3/then/anyOf/6.metadata/anyOf/2.content': { minItems: 1 },
  // Gamma: at least one of prompt and media.
  'GammaVideoInput/allOf/0/anyOf/0.prompt': { minLength: 1 },
  'GammaVideoInput/allOf/0/anyOf/1.media': { minItems: 1 },
  // Gamma media: maximum per kind, and frames without other kinds.
  'GammaMediaList/allOf/0': { minContains: 0, maxContains: 1 },
  'GammaMediaList/allOf/0/contains.type': { const: 'first_frame' },
  'GammaMediaList/allOf/1': { minContains: 0, maxContains: 1 },
  'GammaMediaList/allOf/1/contains.type': { const: 'last_frame' },
  'GammaMediaList/allOf/2': { minContains: 0, maxContains: 10 },
  'GammaMediaList/allOf/2/contains.type': { const: 'reference_image' },
  'GammaMediaList/allOf/3': { minContains: 0, maxContains: 5 },
  'GammaMediaList/allOf/3/contains.type': { const: 'reference_video' },
  'GammaMediaList/allOf/4': { minContains: 0, maxContains: 5 },
  'GammaMediaList/allOf/4/contains.type': { const: 'reference_audio' },
  'GammaMediaList/allOf/5': { minContains: 0, maxContains: 1 },
  'GammaMediaList/allOf/5/contains.type': { enum: ['file', 'link'] },
  'GammaMediaList/allOf/6/if/contains.type': { enum: ['first_frame', 'last_frame'] },
  'GammaMediaList/allOf/6/then[].type': { enum: ['first_frame', 'last_frame'] },

  // Log search: p at least 1, page_size 1 to 1000.
  'parameters/PageNumber': { minimum: 1 },
  'parameters/PageSize': { minimum: 1, maximum: 1000 },
};

/** Fields that the interface does not limit: "longer input is truncated upstream". */
export const unlimited = ['VideoRequestFields.prompt', 'GammaVideoInput.prompt'] as const;
