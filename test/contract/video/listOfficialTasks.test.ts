import { describeOperation } from '../../support/contract.ts';

describeOperation('listOfficialTasks', {
  invalid: {
    'page 0': { query: { page_num: 0 }, names: 'page_num', limit: 1 },
    'page 501': { query: { page_num: 501 }, names: 'page_num', limit: 500 },
    'a page of 101': { query: { page_size: 101 }, names: 'page_size', limit: 100 },
    'a state that does not exist': {
      query: { 'filter.status': 'lost' },
      names: 'filter.status',
      limit: 'succeeded',
    },
  },
});
