import type { StemName } from '../media/music/instruments/names.ts';
import type { SongFacts } from '../media/music/song-plan.ts';
import { hourMs } from '../tasks/protocol.ts';
import type { CreateOutput } from '../tasks/task-board.ts';
import type { TaskServices } from '../tasks/task-services.ts';
import type { Triggers } from '../triggers.ts';
import { writeLyrics } from './lyrics-writer.ts';
import type { ClipPlan, FinishedClip, MusicJob, SigmaJob, SigmaOutput } from './music-task.ts';

/** Retention time of tasks and files. */
export const retentionMs = 24 * hourMs;

/** The rendered files of one clip. */
interface ClipFiles {
  plan: ClipPlan;
  facts: SongFacts;
  mp3: Uint8Array;
  covers: readonly [small: Uint8Array, large: Uint8Array];
}

/** Renders the songs or stems of a task, or generates its lyrics. */
export async function runSigmaJob(
  services: TaskServices,
  job: SigmaJob,
  triggers: Triggers,
): Promise<CreateOutput<SigmaOutput>> {
  if (job.action === 'LYRICS') {
    const lyrics = writeLyrics(job.prompt, 0);
    return () => ({ action: 'LYRICS', ...lyrics });
  }
  const rendered = job.source?.stems ? await renderStems(services, job) : await renderSongs(services, job);
  return (endedAt) => {
    const expiresAt = triggers.has('expired-url') ? 1 : endedAt + retentionMs;
    const clips = rendered.map((files, index) =>
      triggers.has('one-fails') && index === 1 ? undefined : storeClip(services, files, expiresAt),
    );
    return { action: 'MUSIC', clips, expiresAt };
  };
}

async function renderSongs({ engine }: TaskServices, { clips }: MusicJob): Promise<ClipFiles[]> {
  return await Promise.all(
    clips.map(async (plan) => {
      const { facts, mp3, cover, largeCover } = await engine.run('renderSong', plan.song);
      return { plan, facts, mp3, covers: [cover, largeCover] as const };
    }),
  );
}

async function renderStems({ engine }: TaskServices, { clips, source }: MusicJob): Promise<ClipFiles[]> {
  const [first] = clips;
  if (!first || !source) return [];
  const stems = clips.flatMap(({ stem }) => (stem === undefined ? [] : [stem]));
  const rendered = await engine.run('renderStems', { plan: first.song, stems });
  const covers = [rendered.cover, rendered.largeCover] as const;
  return rendered.stems.flatMap(({ mp3, waveform }, index) => {
    const plan = clips[index];
    if (!plan?.stem) return [];
    return [{ plan, facts: { ...createStemFacts(source.facts, plan.stem), waveform }, mp3, covers }];
  });
}

/** Derives the properties of a stem from those of its song. */
function createStemFacts(song: SongFacts, stem: StemName): SongFacts {
  const isSung = stem === 'Vocals';
  const families = song.families.filter((family) =>
    stem === 'Instrumental' ? family !== 'Vocals' : family === stem,
  );
  return { ...song, families, words: isSung ? song.words : [], unsung: isSung ? song.unsung : 0 };
}

/** Stores the files of a clip. The WAV file is rendered on demand, because it is large and rarely requested. */
function storeClip(
  { results }: TaskServices,
  { plan, facts, mp3, covers }: ClipFiles,
  expiresAt: number,
): FinishedClip {
  const [cover, largeCover] = covers.map((cover) => results.store(cover, 'png', expiresAt));
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
