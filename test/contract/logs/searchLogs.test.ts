import { describeOperation } from '../../support/contract.ts';

describeOperation('searchLogs', {
  invalid: {
    'page 0': { query: { p: 0 }, names: 'p', limit: 1 },
    'a page of none': { query: { page_size: 0 }, names: 'page_size', limit: 1 },
    'a page of 1001': { query: { page_size: 1001 }, names: 'page_size', limit: 1000 },
    'a keyword of 129 characters': { query: { keyword: 'k'.repeat(129) }, names: 'keyword', limit: 128 },
  },
});
