import { describeOperation } from '../../support/contract.ts';

describeOperation('deleteToken', {
  invalid: {
    'an id that is no number': { path: { id: 'mine' }, names: 'id' },
    'id 0': { path: { id: '0' }, names: 'id', limit: 1 },
  },
});
