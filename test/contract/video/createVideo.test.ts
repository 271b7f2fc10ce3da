import { describeOperation } from '../../support/contract.ts';

describeOperation('createVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'an eta request without a prompt': {
      example: 'eta_text',
      change: { prompt: undefined },
      names: 'prompt',
    },
    'an eta prompt of 4097 characters': {
      example: 'eta_text',
      change: { prompt: 'a'.repeat(4097) },
      names: 'prompt',
      limit: 4096,
    },
    'an eta length of 16 seconds': { example: 'eta_text', change: { seconds: '16' }, names: 'seconds' },
    'an eta aspect ratio that does not exist': {
      example: 'eta_text',
      change: { aspect_ratio: '21:9' },
      names: 'aspect_ratio',
      limit: '16:9',
    },
    '8 eta reference images': {
      example: 'eta_references',
      change: { reference_images: Array(8).fill({ url: 'https://files.example/a.png' }) },
      names: 'reference_images',
      limit: 7,
    },
    'a reference image without an address': {
      example: 'eta_references',
      change: { reference_images: [{}] },
      names: 'reference_images.0.url',
    },
    'a gamma length of 31 seconds': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 31 },
      names: 'duration',
      limit: 30,
    },
    'a length that is no number': { change: { seconds: 'five' }, names: 'seconds' },
    'a custom domain with a path': { change: { custom_domain: 'files.example/a' }, names: 'custom_domain' },
  },
});
