import { describeOperation } from '../../support/contract.ts';

describeOperation('submitMusic', {
  invalid: {
    'nothing to make': { body: { mv: 'chirp-hawk' }, names: 'body', limit: 'prompt' },
    'a description of 201 characters': {
      example: 'inspiration',
      change: { gpt_description_prompt: 'a'.repeat(201) },
      names: 'gpt_description_prompt',
      limit: 200,
    },
    'an inspiration prompt of 201 characters': {
      body: { prompt: 'a'.repeat(201), custom_mode: 0 },
      names: 'prompt',
      limit: 200,
    },
    'lyrics of 3001 characters': {
      example: 'custom',
      change: { prompt: 'a'.repeat(3001) },
      names: 'prompt',
      limit: 3000,
    },
    'tags of 121 characters': { change: { tags: 'a'.repeat(121) }, names: 'tags', limit: 120 },
    'a model version that does not exist': {
      change: { mv: 'chirp-sparrow' },
      names: 'mv',
      limit: 'chirp-hawk',
    },
    'a mode of 2': { change: { custom_mode: 2 }, names: 'custom_mode' },
    'a continuation of nothing': {
      example: 'continuation',
      change: { continue_clip_id: undefined },
      names: 'continue_clip_id',
    },
    'stems of nothing': {
      example: 'stems',
      change: { continue_clip_id: undefined },
      names: 'continue_clip_id',
    },
    'a callback that is no web address': {
      change: { callback_url: 'ftp://app.example/' },
      names: 'callback_url',
    },
    'a slider over 1': {
      change: { metadata: { control_sliders: { style_weight: 1.5 } } },
      names: 'metadata.control_sliders.style_weight',
      limit: 1,
    },
  },
});
