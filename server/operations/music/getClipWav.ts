import type { Handler } from '../../http/handler.ts';
import { linksFor, publicFileUrl } from '../../providers/client-links.ts';
import { fetchWav } from '../../providers/sigma/clips.ts';
import { askAboutSong, notReady } from './own-song.ts';

/** The address of a song's WAV file. */
export const getClipWav: Handler<'getClipWav'> = async (request, reply) => {
  const { told: url, task } = await askAboutSong(request, fetchWav);
  if (url === undefined) throw notReady();
  reply.json(200, { wav_file_url: publicFileUrl(url, task, linksFor(request)) });
};
