import { inject, vi } from 'vitest';
import type { components } from '../../generated/http.ts';
import { post } from '../server/ledger.ts';

type MusicRecord = components['schemas']['MusicTaskRecord'];
type Song = components['schemas']['Song'];

/** Path prefixes of the music operations: one of format B, two of format A. */
export const prefixes = ['/sigma', '/sigma/v1', '/sigma/v1/mv-3.5'] as const;

/** Request fields of a song that never completes. */
export const endless = { tags: '[[never]]' };

async function submit(call: 'music' | 'lyrics', body: object): Promise<string> {
  const { url, key } = inject('gateway');
  const response = await post(url, key, `/sigma/submit/${call}`, body);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: string }).data;
}

/** Starts a music task on the gateway under test. Returns its id. */
export function startMusic(change: object = {}): Promise<string> {
  return submit('music', { prompt: 'A slow song about the sea', ...change });
}

export function startLyrics(prompt = 'A lullaby for a lighthouse'): Promise<string> {
  return submit('lyrics', { prompt });
}

/** Waits until a task is in one of the states. Returns its record. */
export async function musicUntil(id: string, ...states: MusicRecord['status'][]): Promise<MusicRecord> {
  const { url, key } = inject('gateway');
  return vi.waitFor(
    async () => {
      const response = await fetch(`${url}/sigma/fetch/${id}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { data } = (await response.json()) as { data: MusicRecord };
      if (!states.includes(data.status)) throw new Error(`the task is ${data.status}: ${data.fail_reason}`);
      return data;
    },
    { timeout: 60_000, interval: 100 },
  );
}

let songs: Promise<Song[]> | undefined;

/** Returns two completed songs of the gateway under test. They are created once, because that is slow. */
export function finishedSongs(): Promise<Song[]> {
  songs ??= startMusic().then(async (id) => (await musicUntil(id, 'SUCCESS')).data as Song[]);
  return songs;
}
