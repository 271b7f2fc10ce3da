import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { finishedSongs, prefixes } from '../../support/start-music.ts';

describeOperation('getClip', {
  invalid: {
    'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, field: 'clip_id', limit: 128 },
    'an empty id between commas': { path: { clip_id: 'c1,,c2' }, field: 'clip_id' },
    '101 clip ids': { path: { clip_id: Array(101).fill('c').join(',') }, field: 'clip_id' },
  },
  gatewayTests: (call) => {
    const missing = { code: 'resource_not_found', field: 'clip_id' };
    test.each(prefixes)('200 one song, and several, at %s', { timeout: 90_000 }, async (prefix) => {
      const songs = await finishedSongs();
      const [first, second] = songs.map(({ id }) => id);
      const get = async (clip_id = '') => jsonOf(await call({ prefix, path: { clip_id } }));
      expect(await get(first)).toEqual([songs[0]]);
      expect(await get(`${second},none,${first},${second}`)).toEqual([songs[1], songs[0]]);
    });
    test('404 unknown songs and those of another user', { timeout: 90_000 }, async () => {
      const [song] = await finishedSongs();
      expectError(await call({ path: { clip_id: 'none,a/b' } }), 404, missing);
      expectError(await call({ path: { clip_id: song?.id ?? '' }, as: 'noQuota' }), 404, missing);
    });
  },
});
