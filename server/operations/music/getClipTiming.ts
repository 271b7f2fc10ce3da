import type { Handler } from '../../http/handler.ts';
import { fetchTiming } from '../../providers/sigma/clips.ts';
import { askAboutSong } from './own-song.ts';

/** When the words of a song are sung. */
export const getClipTiming: Handler<'getClipTiming'> = async (request, reply) => {
  const { told } = await askAboutSong(request, fetchTiming);
  reply.json(200, told);
};
