import { expect, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startVideo } from '../../support/start-video.ts';

type Details = operations['getTask']['responses'][200]['content']['application/json']['data'];

describeOperation('getTask', {
  gatewayTests(call) {
    test('returns a task with its provider and its timeline, without its request', async () => {
      const id = await startVideo({ prompt: 'A secret kite. [[slow]]' });
      const response = await call({ path: { id } });
      expect(response.body.toString()).not.toContain('kite');
      const task = dataOf<Details>(response);
      expect(task).toMatchObject({ id, user_id: 1, driver: 'eta', upstream_id: expect.any(String) });
      expect(task.timeline.map(({ event }) => event).slice(0, 2)).toEqual(['created', 'submitted']);
    });

    test('refuses a key without the scope admin, and an unknown id', async () => {
      const id = await startVideo();
      expectError(await call({ as: 'noQuota', path: { id } }), 403);
      expectError(await call({ path: { id: 'task_1' } }), 404, { field: 'id' });
    });
  },
});
