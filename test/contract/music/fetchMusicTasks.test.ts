import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { endless, prefixes, startLyrics, startMusic } from '../../support/start-music.ts';

describeOperation('fetchMusicTasks', {
  invalid: {
    'without ids': { change: { ids: undefined }, field: 'ids' },
    'no id': { change: { ids: [] }, field: 'ids', limit: 1 },
    '101 ids': { change: { ids: Array(101).fill('t1') }, field: 'ids', limit: 100 },
    'ids that are one string': { change: { ids: 't1,t2' }, field: 'ids' },
    'an action that does not exist': { change: { action: 'VIDEO' }, field: 'action', limit: 'MUSIC' },
  },
  gatewayTests: (call) => {
    test.each(prefixes)('200 only the tasks of the caller at %s', async (prefix) => {
      const [music, lyrics] = [await startMusic(endless), await startLyrics()];
      const ids = [music, lyrics, music, 'none'];
      const found = async (body: object, as?: 'noQuota') => {
        const response = await call({ prefix, body: { ids, ...body }, ...(as && { as }) });
        expect(response.status).toBe(200);
        const { data } = jsonOf(response) as { data: { task_id: string }[] };
        return data.map((one) => one.task_id).toSorted();
      };
      expect(await found({})).toEqual([music, lyrics].toSorted());
      expect([await found({ action: 'MUSIC' }), await found({ action: 'LYRICS' })]).toEqual([
        [music],
        [lyrics],
      ]);
      expect(await found({}, 'noQuota')).toEqual([]);
    });
  },
});
