import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startVideo, type VideoTask } from '../../support/start-video.ts';

describeOperation('listVideos', {
  invalid: {
    'a page size of 0': { query: { limit: 0 }, field: 'limit', limit: 1 },
    'a page of 101': { query: { limit: 101 }, field: 'limit', limit: 100 },
    'a page size that is not a number': { query: { limit: 'all' }, field: 'limit' },
    'an order that does not exist': { query: { order: 'random' }, field: 'order', limit: 'desc' },
    'a cursor of 129 characters': { query: { after: 't'.repeat(129) }, field: 'after', limit: 128 },
  },
  gatewayTests: (call) => {
    const listed = async (query: Record<string, string | number>) => {
      const response = await call({ query });
      expect(response.status).toBe(200);
      const page = jsonOf(response) as { data: VideoTask[]; has_more: boolean; last_id: string | null };
      return { ids: page.data.map(({ id }) => id), more: page.has_more, last: page.last_id };
    };
    test('200 newest first, and the tasks after one', async () => {
      const [first, second] = [await startVideo(), await startVideo()];
      expect(await listed({ limit: 1 })).toEqual({ ids: [second], more: true, last: second });
      expect((await listed({ limit: 1, after: second })).ids).toEqual([first]);
      expect((await listed({ after: first, order: 'asc' })).ids).toEqual([second]);
    });
    test('200 an empty list for a user without tasks', async () => {
      const response = await call({ as: 'noModels' });
      expect(jsonOf(response)).toEqual({
        object: 'list',
        data: [],
        first_id: null,
        last_id: null,
        has_more: false,
      });
    });
    test('400 after an unknown task', async () => {
      const missing = { code: 'invalid_request', field: 'after' };
      expectError(await call({ query: { after: 'none' } }), 400, missing);
      expectError(await call({ query: { after: await startVideo() }, as: 'noModels' }), 400, missing);
    });
  },
});
