import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { startImageJob } from '../../support/start-image-job.ts';

describeOperation('listImageJobs', {
  invalid: {
    'without ids': { change: { ids: undefined }, field: 'ids' },
    'no id': { change: { ids: [] }, field: 'ids', limit: 1 },
    '101 ids': { change: { ids: Array(101).fill('1') }, field: 'ids', limit: 100 },
    'an id that is a number': { change: { ids: [1795] }, field: 'ids.0' },
  },
  gatewayTests: (call) => {
    test('200 the caller’s jobs among the ids, each once', async () => {
      const ids = [await startImageJob(), await startImageJob()];
      const response = await call({ change: { ids: [...ids, ...ids, 'task_none'] } });
      expect(response.status).toBe(200);
      expect((jsonOf(response) as { id: string }[]).map(({ id }) => id)).toEqual(ids);
      const others = await call({ change: { ids }, as: 'noQuota' });
      expect(jsonOf(others)).toEqual([]);
    });
  },
});
