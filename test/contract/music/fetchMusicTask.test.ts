import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { endless, musicUntil, prefixes, startLyrics, startMusic } from '../../support/start-music.ts';

const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('fetchMusicTask', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a task from its start to its songs', { timeout: 90_000 }, async () => {
      const path = { task_id: await startMusic({ title: 'Low tide', tags: 'folk' }) };
      const dataOf = async (prefix?: string) =>
        (jsonOf(await call({ path, ...(prefix !== undefined && { prefix }) })) as { data: object }).data;
      expect(await dataOf()).toMatchObject({ ...path, action: 'MUSIC', fail_reason: '', finish_time: 0 });
      const { data } = await musicUntil(path.task_id, 'SUCCESS');
      expect(data).toMatchObject(
        Array(2).fill({ title: 'Low tide', status: 'complete', model_name: 'chirp-hawk' }),
      );
      for (const prefix of prefixes)
        expect(await dataOf(prefix)).toMatchObject({ status: 'SUCCESS', progress: '100%', data });
    });
    test('200 lyrics', { timeout: 60_000 }, async () => {
      const path = { task_id: await startLyrics() };
      await musicUntil(path.task_id, 'SUCCESS');
      expect(jsonOf(await call({ path }))).toMatchObject({
        data: {
          action: 'LYRICS',
          status: 'SUCCESS',
          data: { status: 'complete', text: expect.stringContaining('[') },
        },
      });
    });
    test('200 a task that has failed', { timeout: 60_000 }, async () => {
      const path = { task_id: await startMusic({ prompt: 'The sea. [[fail-late]]' }) };
      await musicUntil(path.task_id, 'FAILURE');
      expect(jsonOf(await call({ path }))).toMatchObject({
        data: { status: 'FAILURE', fail_reason: expect.stringMatching(/./), data: [] },
      });
    });
    test.each(['none', `task_${'0'.repeat(32)}`, 'a/b', '%00'])('404 the task %j', async (id) => {
      expectError(await call({ path: { task_id: id } }), 404, missing);
    });
    test('404 a task of another user', async () => {
      expectError(await call({ path: { task_id: await startMusic(endless) }, as: 'noQuota' }), 404, missing);
    });
  },
});
