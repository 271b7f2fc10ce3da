import { describeOperation } from '../../support/contract.ts';

describeOperation('listImageJobs', {
  invalid: {
    'without ids': { change: { ids: undefined }, names: 'ids' },
    'no id': { change: { ids: [] }, names: 'ids', limit: 1 },
    '101 ids': { change: { ids: Array(101).fill('1') }, names: 'ids', limit: 100 },
    'an id that is a number': { change: { ids: [1795] }, names: 'ids.0' },
  },
});
