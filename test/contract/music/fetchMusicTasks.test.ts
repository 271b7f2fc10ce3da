import { describeOperation } from '../../support/contract.ts';

describeOperation('fetchMusicTasks', {
  invalid: {
    'without ids': { change: { ids: undefined }, names: 'ids' },
    'no id': { change: { ids: [] }, names: 'ids', limit: 1 },
    '101 ids': { change: { ids: Array(101).fill('t1') }, names: 'ids', limit: 100 },
    'ids that are one string': { change: { ids: 't1,t2' }, names: 'ids' },
    'an action that does not exist': { change: { action: 'VIDEO' }, names: 'action', limit: 'MUSIC' },
  },
});
