import { describeOperation } from '../../support/contract.ts';

describeOperation('createVideoGeneration', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'without a prompt': { change: { prompt: undefined }, names: 'prompt' },
    'a prompt that is a number': { change: { prompt: 7 }, names: 'prompt' },
    'a gamma length of 31 seconds': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 31 },
      names: 'duration',
      limit: 30,
    },
    'a gamma length of 1 second': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 1 },
      names: 'duration',
      limit: 2,
    },
    'a gamma size that does not exist': {
      example: 'gamma_text',
      change: { size: '4k' },
      names: 'size',
      limit: '1080P',
    },
    '31 images': {
      change: { images: Array(31).fill('https://files.example/a.png') },
      names: 'images',
      limit: 30,
    },
    'an image that is no address': { change: { image: 'cat.png' }, names: 'image' },
    'native media with two first frames': {
      example: 'gamma_native_media',
      change: {
        metadata: {
          input: {
            media: [
              { type: 'first_frame', url: 'https://files.example/a.png' },
              { type: 'first_frame', url: 'https://files.example/b.png' },
            ],
          },
        },
      },
      names: 'metadata.input.media',
      limit: 1,
    },
    'a native seed below 0': {
      example: 'gamma_text',
      change: { metadata: { parameters: { seed: -1 } } },
      names: 'metadata.parameters.seed',
      limit: 0,
    },
    'a Seedance length of 3 seconds': {
      example: 'seedance_references',
      change: { seconds: undefined, duration: 3 },
      names: 'duration',
      limit: 4,
    },
  },
});
