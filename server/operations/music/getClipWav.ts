import { fetchAboutSong, songNotReady } from '../../calls/own-song.ts';
import type { Handler } from '../../http/handler.ts';
import { linksFor, publicFileUrl } from '../../providers/client-links.ts';
import { fetchWav } from '../../providers/sigma/clips.ts';

/** Returns the URL of a song's WAV file. */
export const getClipWav: Handler<'getClipWav'> = async (request, reply) => {
  const { result: url, task } = await fetchAboutSong(request, fetchWav);
  if (url === undefined) throw songNotReady();
  reply.json(200, { wav_file_url: publicFileUrl(url, task, linksFor(request)) });
};
