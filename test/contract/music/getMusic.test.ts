import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { endless, musicUntil, prefixes, startMusic } from '../../support/start-music.ts';

const missing = { code: 'resource_not_found', field: 'task_id' };

describeOperation('getMusic', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, field: 'task_id', limit: 128 },
  },
  gatewayTests: (call) => {
    test('200 a task with its songs by their ids', { timeout: 90_000 }, async () => {
      const path = { task_id: await startMusic({ tags: 'folk', make_instrumental: 1 }) };
      const input = { prompt: 'A slow song about the sea', tags: 'folk', make_instrumental: 1 };
      expect(jsonOf(await call({ path }))).toMatchObject({ code: 200, data: { ...path, input } });
      const songs = (await musicUntil(path.task_id, 'SUCCESS')).data as { id: string }[];
      for (const prefix of prefixes.slice(1))
        expect(jsonOf(await call({ prefix, path }))).toMatchObject({
          data: { status: 'SUCCESS', clips: Object.fromEntries(songs.map((song) => [song.id, song])) },
        });
    });
    test('200 a task that has failed', { timeout: 60_000 }, async () => {
      const path = { task_id: await startMusic({ prompt: 'The sea. [[sensitive]]' }) };
      await musicUntil(path.task_id, 'FAILURE');
      expect(jsonOf(await call({ path }))).toMatchObject({
        data: { status: 'FAILURE', fail_reason: expect.stringMatching(/./), clips: {} },
      });
    });
    test('404 an unknown task and one of another user', async () => {
      expectError(await call({ path: { task_id: 'none' } }), 404, missing);
      expectError(await call({ path: { task_id: await startMusic(endless) }, as: 'noQuota' }), 404, missing);
    });
  },
});
