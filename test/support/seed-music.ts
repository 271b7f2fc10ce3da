import type { Store } from '../../server/store/store.ts';
import { TaskSeeder } from './seed-tasks.ts';

/** The song that the documented requests name. */
const clipId = '9be08d47-a1b5-4c6d-97e8-f9a0b1c23f1c';

/** Inserts that song and its task. */
export async function seedMusic(store: Store, userId: number): Promise<void> {
  const music = await TaskSeeder.create(store, userId, {
    operation: 'submitMusic',
    format: 'music',
    driver: 'sigma',
    model: 'sigma_music',
    unit: 'tracks',
    channel: 'sigma',
    facts: '{"action":"MUSIC","mv":"chirp-hawk","input":{"prompt":"The sea"}}',
  });
  const id = 'task_3f1c2a9be08d47a1b5c6d7e8f9a0b1c2';
  await music.accept(id, 'song');
  const song = {
    id: clipId,
    clip_id: clipId,
    title: 'Low tide',
    status: 'complete',
    audio_url: 'https://files.example/low-tide.mp3',
    image_url: 'https://files.example/low-tide.png',
    metadata: {},
  };
  await music.finish(id, { songs: [song] }, [{ id: clipId, upstreamId: 'clip', upstreamTaskId: 'song' }]);
}
