import { describeOperation } from '../../support/contract.ts';

describeOperation('submitLyrics', {
  invalid: {
    'without a prompt': { change: { prompt: undefined }, names: 'prompt' },
    'an empty prompt': { change: { prompt: '' }, names: 'prompt', limit: 1 },
    'a prompt that is a list': { change: { prompt: ['a lullaby'] }, names: 'prompt' },
    'a prompt of 3001 characters': { change: { prompt: 'a'.repeat(3001) }, names: 'prompt', limit: 3000 },
  },
});
