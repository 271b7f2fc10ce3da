import { test } from 'vitest';
import type { Call } from './contract.ts';
import { expectError } from './expectations.ts';
import { finishedSongs, musicUntil, startMusic } from './start-music.ts';

/** Invalid clip ids of every operation on a song. */
export const invalidClipIds = {
  'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, field: 'clip_id', limit: 128 },
};

/** Tests the errors for a song that is not complete, unknown, or owned by another user. */
export function testUnavailableSongs(call: Call): void {
  test('409 a song in progress', { timeout: 60_000 }, async () => {
    const { data } = await musicUntil(await startMusic({ prompt: 'The sea. [[never]]' }), 'IN_PROGRESS');
    const [song] = data as { id: string }[];
    const response = await call({ path: { clip_id: song?.id ?? '' } });
    expectError(response, 409, { code: 'resource_not_ready', field: 'clip_id' });
  });
  test('404 an unknown song, and one of another user', { timeout: 90_000 }, async () => {
    const missing = { code: 'resource_not_found', field: 'clip_id' };
    const [song] = await finishedSongs();
    expectError(await call({ path: { clip_id: 'none' } }), 404, missing);
    expectError(await call({ path: { clip_id: song?.id ?? '' }, as: 'noQuota' }), 404, missing);
  });
}
