import { describeOperation } from '../../support/contract.ts';

describeOperation('listTokens', {
  invalid: {
    'page 0': { query: { p: 0 }, names: 'p', limit: 1 },
    'a page of 1001': { query: { page_size: 1001 }, names: 'page_size', limit: 1000 },
    'a page size that is no number': { query: { page_size: 'all' }, names: 'page_size' },
  },
});
