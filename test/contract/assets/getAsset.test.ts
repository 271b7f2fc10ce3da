import { describeOperation } from '../../support/contract.ts';

describeOperation('getAsset', {
  invalid: {
    'an id of 129 characters': { path: { id: 'a'.repeat(129) }, names: 'id', limit: 128 },
    'a model that takes no query': {
      query: { model: 'epsilon-delta-2-0-260128' },
      names: 'model',
      limit: 'zeta',
    },
  },
});
