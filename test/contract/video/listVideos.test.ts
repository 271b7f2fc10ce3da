import { describeOperation } from '../../support/contract.ts';

describeOperation('listVideos', {
  invalid: {
    'a page of none': { query: { limit: 0 }, names: 'limit', limit: 1 },
    'a page of 101': { query: { limit: 101 }, names: 'limit', limit: 100 },
    'a page size that is no number': { query: { limit: 'all' }, names: 'limit' },
    'an order that does not exist': { query: { order: 'random' }, names: 'order', limit: 'desc' },
    'a cursor of 129 characters': { query: { after: 't'.repeat(129) }, names: 'after', limit: 128 },
  },
});
