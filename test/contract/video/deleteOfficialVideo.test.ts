import { expect, inject, test, vi } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

describeOperation('deleteOfficialVideo', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('204 a queued task, 400 the canceled one', async () => {
      const path = { task_id: await startOfficialTask() };
      const response = await call({ path });
      expect([response.status, response.body.length]).toEqual([204, 0]);
      expect(response.headers.get('content-type')).toBeNull();
      expectError(await call({ path }), 400, { code: 'invalid_request', field: 'task_id' });
    });
    test('400 a running task', async () => {
      const content = [{ type: 'text', text: 'An endless boat. [[never]]' }];
      const path = { task_id: await startOfficialTask({ content }) };
      const { url, key } = inject('gateway');
      await vi.waitFor(
        async () => {
          const address = `${url}/api/v3/contents/generations/tasks/${path.task_id}`;
          const shown = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
          expect(await shown.json()).toMatchObject({ status: 'running' });
        },
        { timeout: 15_000, interval: 100 },
      );
      expectError(await call({ path }), 400, { code: 'task_not_completed', field: 'task_id' });
    });
    test('404 an unknown task and one of another user', async () => {
      const unknown = { code: 'resource_not_found', field: 'task_id' };
      expectError(await call({ path: { task_id: 'none' } }), 404, unknown);
      const path = { task_id: await startOfficialTask() };
      expectError(await call({ path, as: 'noQuota' }), 404, unknown);
    });
  },
});
