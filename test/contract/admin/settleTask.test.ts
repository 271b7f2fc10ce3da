import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { type AdminTask, dataOf, findTask, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { assertConforms, expectError } from '../../support/expectations.ts';
import { startMusic } from '../../support/start-music.ts';
import { startVideo, videoEnded } from '../../support/start-video.ts';

const slow = { prompt: '[[slow]] A kite.' };
const reason = 'Ticket 4711.';

describeOperation('settleTask', {
  invalid: {
    'no reason': { change: { reason: undefined }, field: 'reason' },
    'an unknown outcome': { change: { outcome: 'lost' }, field: 'outcome' },
    'units of a failed task': { change: { units: 1 }, field: 'units' },
    'a completed task without units': { example: 'completed', change: { units: undefined }, field: 'units' },
    'units below 0': { example: 'completed', change: { units: -1 }, field: 'units', limit: 0 },
    'an invalid address': { example: 'completed', change: { url: 'kite.mp4' }, field: 'url' },
    'a reason of 501 characters': { change: { reason: 'r'.repeat(501) }, field: 'reason', limit: 500 },
    'a task id of 129 characters': { path: { id: 't'.repeat(129) }, field: 'id', limit: 128 },
  },
  gatewayTests(call) {
    test('settles a task as failed without a charge, with a message for the user and a reason for the list', async () => {
      const id = await startVideo(slow);
      const task = dataOf<AdminTask>(await call({ example: 'failed', path: { id } }));
      const message = 'The provider could not finish the video.';
      expect(task).toMatchObject({ id, state: 'failed', error: { code: 'task_lost', message }, charged: 0 });
      const shown = await videoEnded(id);
      expect(shown).toMatchObject({ status: 'failed', error: { code: 'task_lost', message } });
      expect(JSON.stringify(shown)).not.toContain('4711');
      expect(await listChangesOf(`task ${id}`)).toMatchObject([
        {
          action: 'settleTask',
          user_id: 1,
          details: { outcome: 'failed', reason: expect.stringContaining('4711') },
        },
      ]);
      const again = await call({ path: { id }, body: { outcome: 'completed', reason, units: 1 } });
      expectError(again, 400, { field: 'id', includes: ['ended as failed'] });
    });

    test('settles a video as completed with a charge and its result', async () => {
      const id = await startVideo({ ...slow, seconds: '6' });
      const before = await findTask(id);
      const task = dataOf<AdminTask>(await call({ example: 'completed', path: { id } }));
      const charged = Math.ceil(((before?.reserved ?? 0) * 5) / 6);
      expect(task).toMatchObject({ state: 'completed', error: null, progress: 100, charged });
      expect(await videoEnded(id)).toMatchObject({
        status: 'completed',
        progress: 100,
        video_url: expect.stringContaining('http'),
      });
    });

    test.each([
      ['createNativeVideo', 'getNativeTask', { model: 'gamma3.0-video', input: slow }],
      ['createGenericVideo', 'getGenericVideo', { model: 'gamma3.0-video', ...slow }],
      ['createGenericVideo', 'getGenericVideo', { model: 'epsilon-delta-2-0-260128', ...slow }],
      [
        'createOfficialVideo',
        'getOfficialVideo',
        { model: 'epsilon-delta-2-0-260128', content: [{ type: 'text', text: slow.prompt }] },
      ],
    ] as const)('settles a task of %s as completed, as documented for %s', async (create, read, body) => {
      const target = inject('gateway');
      const created = await exchange(target, documented(create), { body: JSON.stringify(body) });
      const { id, output } = jsonOf(created) as { id?: string; output?: { task_id: string } };
      const task_id = id ?? output?.task_id ?? '';
      dataOf(await call({ example: 'completed', path: { id: task_id } }));
      const operation = documented(read);
      const shown = assertConforms(await exchange(target, operation, { path: { task_id } }), operation);
      expect(shown.body.toString()).toMatch(/completed|SUCCE/i);
      expect(shown.body.toString()).toContain('http');
    });

    test('400 more units than reserved, and a format without a result', async () => {
      const id = await startVideo(slow);
      const completed = { outcome: 'completed', reason, units: 2 };
      const url = 'https://files.example/kite.mp4';
      const more = await call({ path: { id }, body: { ...completed, units: 3, url } });
      expectError(more, 400, { field: 'units', includes: ['at most 2'] });
      expectError(await call({ path: { id }, body: completed }), 400, { field: 'url' });
      const song = await startMusic({ prompt: '[[slow]] A song.' });
      const given = await call({ path: { id: song }, body: { ...completed, url } });
      expectError(given, 400, { field: 'url', includes: ['video'] });
      expectError(await call({ path: { id: song }, body: completed }), 400, { field: 'outcome' });
      expect(await findTask(id)).toMatchObject({ completed_at: null, charged: null });
    });

    test('404 an unknown task', async () => {
      expectError(await call({ path: { id: 'task_nobody' } }), 404, { field: 'id' });
    });
  },
});
