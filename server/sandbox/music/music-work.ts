import type { StemName } from '../media/music/instruments/names.ts';
import type { SongFacts } from '../media/music/song-plan.ts';
import { hourMs } from '../tasks/protocol.ts';
import type { CreateOutput } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import type { Triggers } from '../triggers.ts';
import { writeLyrics } from './lyrics-writer.ts';
import type { ClipPlan, FinishedClip, MusicJob, SigmaJob, SigmaOutput } from './music-task.ts';

/** For how long tasks and files are kept, in milliseconds. */
export const retentionMs = 24 * hourMs;

/** The files of one clip. */
interface ClipFiles {
  plan: ClipPlan;
  facts: SongFacts;
  mp3: Uint8Array;
  covers: readonly [small: Uint8Array, large: Uint8Array];
}

/** Makes the songs or stems of a task, or writes its lyrics. */
export async function workOnSigma(
  services: TaskServices,
  job: SigmaJob,
  triggers: Triggers,
): Promise<CreateOutput<SigmaOutput>> {
  if (job.action === 'LYRICS') {
    const lyrics = writeLyrics(job.prompt, 0);
    return () => ({ action: 'LYRICS', ...lyrics });
  }
  const made = job.source?.stems ? await makeStems(services, job) : await makeSongs(services, job);
  return (endedAt) => {
    const expiresAt = triggers.has('expired-url') ? 1 : endedAt + retentionMs;
    const clips = made.map((files, index) =>
      triggers.has('one-fails') && index === 1 ? undefined : keepClip(services, files, expiresAt),
    );
    return { action: 'MUSIC', clips, expiresAt };
  };
}

async function makeSongs({ engine }: TaskServices, { clips }: MusicJob): Promise<ClipFiles[]> {
  return await Promise.all(
    clips.map(async (plan) => {
      const { facts, mp3, cover, largeCover } = await engine.run('renderSong', plan.song);
      return { plan, facts, mp3, covers: [cover, largeCover] as const };
    }),
  );
}

async function makeStems({ engine }: TaskServices, { clips, source }: MusicJob): Promise<ClipFiles[]> {
  const [first] = clips;
  if (!first || !source) return [];
  const stems = clips.flatMap(({ stem }) => (stem === undefined ? [] : [stem]));
  const rendered = await engine.run('renderStems', { plan: first.song, stems });
  const covers = [rendered.cover, rendered.largeCover] as const;
  return rendered.stems.flatMap(({ mp3, waveform }, index) => {
    const plan = clips[index];
    if (!plan?.stem) return [];
    return [{ plan, facts: { ...stemFacts(source.facts, plan.stem), waveform }, mp3, covers }];
  });
}

/** What is known of a stem follows from its song. */
function stemFacts(song: SongFacts, stem: StemName): SongFacts {
  const isSung = stem === 'Vocals';
  const families = song.families.filter((family) =>
    stem === 'Instrumental' ? family !== 'Vocals' : family === stem,
  );
  return { ...song, families, words: isSung ? song.words : [], unsung: isSung ? song.unsung : 0 };
}

/** The WAV file is only promised: few ask for it, and it is large. */
function keepClip(
  { results }: TaskServices,
  { plan, facts, mp3, covers }: ClipFiles,
  expiresAt: number,
): FinishedClip {
  const [cover, largeCover] = covers.map((picture) => results.store(picture, 'png', expiresAt));
  return {
    mp3: results.store(mp3, 'mp3', expiresAt),
    cover: cover ?? '',
    largeCover: largeCover ?? '',
    wav: results.storeDeferred('wav', expiresAt, {
      job: 'renderSongWav',
      plan: { plan: plan.song, ...(plan.stem && { stem: plan.stem }) },
    }),
    facts,
  };
}
