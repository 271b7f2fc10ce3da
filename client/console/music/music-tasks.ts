import type { Music, MusicRequest, SucceededMusicTask, Unigate } from '../../index.ts';
import type { TaskCalls } from '../calls/task-run.ts';

type Created = Awaited<ReturnType<Music['create']>>;
export type MusicCalls = TaskCalls<MusicRequest, Created, SucceededMusicTask>;

/** The calls of a music task, which reports its result to `onDone`. */
export const musicCalls = (
  { music }: Unigate,
  onDone: (task: SucceededMusicTask) => void = () => {},
): MusicCalls => ({
  create: (body, options) => music.create(body, options),
  // The response of this format contains one id.
  idOf: (created) => music.idsOf(created)[0] ?? '',
  waitFor: async (id, options) => {
    const task = await music.waitFor(id, options);
    onDone(task);
    return task;
  },
});
