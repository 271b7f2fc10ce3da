import { describeOperation } from '../../support/contract.ts';

describeOperation('fetchImageJob', {
  invalid: {
    'an id of 129 characters': { path: { id: '1'.repeat(129) }, names: 'id', limit: 128 },
  },
});
