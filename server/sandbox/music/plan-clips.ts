import { randomInt } from 'node:crypto';
import { invalidParameter, NativeError } from '../http/native-error.ts';
import type { StemName } from '../media/music/instruments/names.ts';
import type { SongPlan } from '../media/music/song-plan.ts';
import { chooseSound } from '../media/music/sound.ts';
import { blankTriggers } from '../triggers.ts';
import { createTitle, writeLyrics } from './lyrics-writer.ts';
import type { MusicRequest } from './music-request.ts';
import type { ClipPlan, FinishedClip, MusicJob } from './music-task.ts';

/** Options of the song generator. */
export interface SongOptions {
  /** Approximate length of a song. */
  songSeconds: number;
  /** Package of the speech engine. */
  speechEngine: string;
}

/** A complete clip that is the source of another one. */
export interface SourceClip {
  id: string;
  plan: ClipPlan;
  finished: FinishedClip;
  tags: string;
}

const songsPerTask = 2;

/** Plans two songs that differ in tempo, key and melody. Both have the same voice. */
export function planSongs(request: MusicRequest, { songSeconds, speechEngine }: SongOptions): MusicJob {
  const description = blankTriggers(request.description).trim();
  const [tags, negativeTags] = [blankTriggers(request.tags).trim(), request.negativeTags];
  const about = description || request.title || tags;
  const seed = randomInt(2 ** 31);
  const written = request.lyrics === '' && description !== '' ? writeLyrics(description, seed).text : '';
  const lyrics = request.instrumental ? '' : written || blankTriggers(request.lyrics);
  const title = blankTriggers(request.title).trim() || createTitle(firstLine(lyrics, description) || about);
  const first = chooseSound({ tags, negativeTags, description }, seed);
  const clips = Array.from({ length: songsPerTask }, (_, index): ClipPlan => {
    const sound = chooseSound({ tags, negativeTags, description }, seed + index);
    const song: SongPlan = {
      sound: { ...sound, voice: first.voice },
      title,
      lyrics,
      seconds: songSeconds,
      seed: seed + index,
      weirdness: request.sliders.weirdness_constraint ?? 0.5,
      startAt: 0,
      speechEngine,
    };
    return { title, song };
  });
  return { action: 'MUSIC', request, tags: tags || first.style, clips };
}

/**
 * Plans two songs that continue another one from a given second, in its style, key and tempo, with the next chord of
 * its progression. They contain only the continuation. Without their own lyrics, they have the lyrics of the source.
 */
export function continueSong(request: MusicRequest, source: SourceClip, options: SongOptions): MusicJob {
  const { song } = source.plan;
  const { seconds } = source.finished.facts;
  const at = request.continueAt ?? seconds;
  if (at > seconds)
    throw invalidParameter(
      `continue_at must not be after ${seconds.toFixed(1)}, the end of the clip`,
      'continue_at',
    );
  const planned = planSongs({ ...request, title: request.title || song.title }, options);
  const clips = planned.clips.map((clip) => ({
    ...clip,
    song: {
      ...clip.song,
      sound: song.sound,
      lyrics: request.instrumental ? '' : clip.song.lyrics || song.lyrics,
      startAt: song.startAt + at,
    },
  }));
  const tags = blankTriggers(request.tags).trim() || source.tags;
  return { ...planned, clips, tags, source: { clipId: source.id, at, facts: source.finished.facts } };
}

/** Plans the stems of a song: vocals and the rest, or those of the twelve tracks that are not silent. */
export function planStems(request: MusicRequest, source: SourceClip): MusicJob {
  const { plan, finished } = source;
  if (plan.stem !== undefined) throw new NativeError(400, 'clip_is_stem', 'The clip is already a stem');
  const stems: readonly StemName[] =
    request.stemTask === 'two' ? ['Vocals', 'Instrumental'] : finished.facts.families;
  const clips = stems.map((stem): ClipPlan => ({ ...plan, title: `${plan.title} - ${stem}`, stem }));
  return {
    action: 'MUSIC',
    request,
    tags: source.tags,
    clips,
    source: { clipId: source.id, at: 0, stems: request.stemTask, facts: finished.facts },
  };
}

/** Returns the first sung line if the request has lyrics and no description. */
function firstLine(lyrics: string, description: string): string {
  if (description !== '') return '';
  return lyrics.split('\n').find((line) => line.trim() !== '' && !/^\s*[[(]/.test(line)) ?? '';
}
