import { unknownSong } from '../../calls/own-song.ts';
import type { Handler } from '../../http/handler.ts';
import { viewerOf } from '../../keys/caller.ts';
import { linksFor } from '../../providers/client-links.ts';
import { publicSongs } from '../../providers/sigma/render-music.ts';
import { findClips } from '../../store/queries/clips.ts';

/** Returns the caller's songs with the given ids, in the order of the ids. */
export const getClip: Handler<'getClip'> = async (request, reply) => {
  const { gateway, caller, path } = request;
  const viewer = viewerOf(caller);
  const requested = [...new Set(path.clip_id.split(','))];
  const clips = await findClips(gateway.store.read, { ids: requested, ...viewer });
  const ids = [...new Set(clips.map(({ taskId }) => taskId))];
  const tasks = await gateway.tasks.readAll({ ids, ...viewer, format: 'music' });
  const songs = tasks.flatMap((task) => publicSongs(task, linksFor(request)));
  const byId = new Map(songs.map((song) => [song.id, song]));
  const found = requested.flatMap((id) => byId.get(id) ?? []);
  if (found.length === 0) throw unknownSong(path.clip_id);
  reply.json(200, found);
};
