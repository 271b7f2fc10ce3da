import { describeOperation } from '../../support/contract.ts';

describeOperation('createMusic', {
  invalid: {
    'without an input': { change: { input: undefined }, names: 'input' },
    'an input that is a text': { change: { input: 'a slow song' }, names: 'input' },
    'nothing to make': { body: { input: { mv: 'chirp-hawk' } }, names: 'input', limit: 'prompt' },
    'an inspiration prompt of 201 characters': {
      body: { input: { prompt: 'a'.repeat(201) } },
      names: 'input.prompt',
      limit: 200,
    },
    'lyrics of 3001 characters': {
      example: 'custom',
      change: { input: { prompt: 'a'.repeat(3001) } },
      names: 'input.prompt',
      limit: 3000,
    },
    'a delivery to no web address': { change: { notify_hook: 'app.example' }, names: 'notify_hook' },
  },
});
