import { expect, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

const listOf = (response: HttpResponse) => {
  expect(response.status).toBe(200);
  return jsonOf(response) as components['schemas']['OfficialTaskListReply'];
};

describeOperation('listOfficialVideos', {
  invalid: {
    'page 0': { query: { page_num: 0 }, field: 'page_num', limit: 1 },
    'page 501': { query: { page_num: 501 }, field: 'page_num', limit: 500 },
    'a page of 101': { query: { page_size: 101 }, field: 'page_size', limit: 100 },
    'a state that does not exist': {
      query: { 'filter.status': 'lost' },
      field: 'filter.status',
      limit: 'succeeded',
    },
  },
  gatewayTests: (call) => {
    test('200 pages, newest first', async () => {
      const older = await startOfficialTask();
      const newer = await startOfficialTask();
      const first = listOf(await call({ query: { page_size: 1 } }));
      const second = listOf(await call({ query: { page_size: 1, page_num: 2 } }));
      expect([first, second].map(({ items }) => items.map(({ id }) => id))).toEqual([[newer], [older]]);
      expect(first.total).toBeGreaterThanOrEqual(2);
    });
    test('200 a single task', async () => {
      const id = await startOfficialTask();
      await startOfficialTask();
      const { items, total } = listOf(await call({ query: { 'filter.task_ids': id } }));
      expect([items.map((item) => item.id), total]).toEqual([[id], 1]);
    });
    test('200 an empty list for an unknown model', async () => {
      const list = listOf(await call({ query: { 'filter.model': 'none' } }));
      expect(list).toEqual({ items: [], total: 0 });
    });
    test('200 no tasks of other users', async () => {
      await startOfficialTask();
      expect(listOf(await call({ as: 'noQuota' }))).toEqual({ items: [], total: 0 });
    });
  },
});
