import { expect, test } from 'vitest';
import { type AdminTask, changesOf, dataOf, shownTask } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectRefusal } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

describeOperation('cancelTask', {
  invalid: {
    'a task id of 129 characters': { path: { id: 't'.repeat(129) }, names: 'id', limit: 128 },
  },
  carriesOut(call) {
    test('a task that waits, once, and it is recorded', async () => {
      const id = await startOfficialTask({ content: [{ type: 'text', text: '[[queued]] A kite.' }] });
      expect(await shownTask(id)).toMatchObject({ state: 'queued' });
      const task = dataOf<AdminTask>(await call({ path: { id } }));
      expect(task).toMatchObject({
        id,
        state: 'failed',
        error: { code: 'task_canceled' },
        charged: 0,
        next_poll_at: null,
      });
      expectRefusal(await call({ path: { id } }), 400, { names: 'id', says: ['ended as failed'] });
      const changes = await changesOf(`task ${id}`);
      expect(changes.map(({ action, details }) => [action, details])).toEqual([
        ['cancelTask', {}],
        ['cancelTask', { asked: task.channel }],
      ]);
    });

    test('400 a task whose provider cannot stop it, and one that has ended', async () => {
      const id = await startVideo();
      expectRefusal(await call({ path: { id } }), 400, { names: 'id', says: ['settleTask'] });
      await videoEnded(id);
      expectRefusal(await call({ path: { id } }), 400, { names: 'id', says: ['ended as completed'] });
      expect(await changesOf(`task ${id}`)).toEqual([]);
    });

    test('404 a task that nobody has', async () => {
      expectRefusal(await call({ path: { id: 'task_nobody' } }), 404, { names: 'id' });
    });
  },
});
