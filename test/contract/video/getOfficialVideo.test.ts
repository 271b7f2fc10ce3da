import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

describeOperation('getOfficialVideo', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a new task', async () => {
      const id = await startOfficialTask();
      const response = await call({ path: { task_id: id } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ id, model: 'epsilon-delta-2-0-fast-260128', error: null });
    });
    test.each(['none', 'cgt-20260301120000-abcde', 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, {
        code: 'resource_not_found',
        field: 'task_id',
      });
    });
    test('404 a task of another user', async () => {
      const id = await startOfficialTask();
      const response = await call({ path: { task_id: id }, as: 'noQuota' });
      expectError(response, 404, { code: 'resource_not_found', field: 'task_id' });
    });
  },
});
