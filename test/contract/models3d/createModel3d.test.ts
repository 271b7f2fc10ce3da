import { describeOperation } from '../../support/contract.ts';

const view = { type: 'png', file_token: 'https://files.example/horse.png' };

describeOperation('createModel3d', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'without an input': { change: { input: undefined }, names: 'input' },
    'a text beside an image': {
      example: 'text',
      change: { input: { image: 'https://files.example/horse.png' } },
      names: 'input',
    },
    'a prompt of 1025 characters': {
      example: 'text',
      change: { input: { prompt: 'a'.repeat(1025) } },
      names: 'input.prompt',
      limit: 1024,
    },
    '3 views': {
      example: 'views',
      change: { input: { images: [view, view, view] } },
      names: 'input.images',
      limit: 4,
    },
    'views without the front': {
      example: 'views',
      change: { input: { images: [{}, view, view, view] } },
      names: 'input.images.0.type',
    },
    'a texture quality that does not exist': {
      change: { parameters: { texture_quality: 'best' } },
      names: 'parameters.texture_quality',
      limit: 'detailed',
    },
  },
});
