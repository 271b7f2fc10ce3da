import { expect, test } from 'vitest';
import { type AdminTask, dataOf, findTask, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

describeOperation('cancelTask', {
  invalid: {
    'a task id of 129 characters': { path: { id: 't'.repeat(129) }, field: 'id', limit: 128 },
  },
  gatewayTests(call) {
    test('cancels a queued task once and records it', async () => {
      const id = await startOfficialTask({ content: [{ type: 'text', text: '[[queued]] A kite.' }] });
      expect(await findTask(id)).toMatchObject({ state: 'queued' });
      const task = dataOf<AdminTask>(await call({ path: { id } }));
      expect(task).toMatchObject({
        id,
        state: 'failed',
        error: { code: 'task_canceled' },
        charged: 0,
        next_poll_at: null,
      });
      expectError(await call({ path: { id } }), 400, { field: 'id', includes: ['ended as failed'] });
      const changes = await listChangesOf(`task ${id}`);
      expect(changes.map(({ action, details }) => [action, details])).toEqual([
        ['cancelTask', {}],
        ['cancelTask', { asked: task.channel }],
      ]);
    });

    test('400 a task whose provider cannot cancel it, and a finished one', async () => {
      const id = await startVideo();
      expectError(await call({ path: { id } }), 400, { field: 'id', includes: ['settleTask'] });
      await videoEnded(id);
      expectError(await call({ path: { id } }), 400, { field: 'id', includes: ['ended as completed'] });
      expect(await listChangesOf(`task ${id}`)).toEqual([]);
    });

    test('404 an unknown task', async () => {
      expectError(await call({ path: { id: 'task_nobody' } }), 404, { field: 'id' });
    });
  },
});
