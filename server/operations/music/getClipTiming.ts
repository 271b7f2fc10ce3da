import { fetchAboutSong } from '../../calls/own-song.ts';
import type { Handler } from '../../http/handler.ts';
import { fetchTiming } from '../../providers/sigma/clips.ts';

/** Returns the times at which the words of a song are sung. */
export const getClipTiming: Handler<'getClipTiming'> = async (request, reply) => {
  const { result } = await fetchAboutSong(request, fetchTiming);
  reply.json(200, result);
};
