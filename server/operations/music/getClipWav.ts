import type { Handler } from '../../http/handler.ts';
import { linksFor, shownFile } from '../../providers/links-for.ts';
import { askForWav } from '../../providers/sigma/clips.ts';
import { askAboutSong, notReady } from './own-song.ts';

/** The address of a song's WAV file. */
export const getClipWav: Handler<'getClipWav'> = async (request, reply) => {
  const { told: url, task } = await askAboutSong(request, askForWav);
  if (url === undefined) throw notReady();
  reply.json(200, { wav_file_url: shownFile(url, task, linksFor(request)) });
};
