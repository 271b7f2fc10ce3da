import { test } from 'vitest';
import type { Call } from './contract.ts';
import { expectRefusal } from './expectations.ts';
import { finishedSongs, musicUntil, startMusic } from './start-music.ts';

/** What is refused of the id of a song, whatever is asked about it. */
export const invalidSongs = {
  'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, names: 'clip_id', limit: 128 },
};

/** Tests what a call about a song answers when it is not finished, or none of the caller's. */
export function testRefusedSongs(call: Call): void {
  test('409 a song that is still being made', { timeout: 60_000 }, async () => {
    const { data } = await musicUntil(await startMusic({ prompt: 'The sea. [[never]]' }), 'IN_PROGRESS');
    const [song] = data as { id: string }[];
    const answer = await call({ path: { clip_id: song?.id ?? '' } });
    expectRefusal(answer, 409, { code: 'resource_not_ready', names: 'clip_id' });
  });
  test("404 a song that is not there, or another user's", { timeout: 90_000 }, async () => {
    const missing = { code: 'resource_not_found', names: 'clip_id' };
    const [song] = await finishedSongs();
    expectRefusal(await call({ path: { clip_id: 'none' } }), 404, missing);
    expectRefusal(await call({ path: { clip_id: song?.id ?? '' }, as: 'noQuota' }), 404, missing);
  });
}
