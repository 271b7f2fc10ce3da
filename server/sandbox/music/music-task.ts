import type { StemName } from '../media/music/instruments/names.ts';
import type { SongFacts, SongPlan } from '../media/music/song-plan.ts';
import type { Task } from '../tasks/task-board.ts';
import type { MusicRequest, StemTask } from './music-request.ts';

/** Plan of one clip. Stored on disk. */
export interface ClipPlan {
  title: string;
  song: SongPlan;
  /** Set if the clip is a stem. */
  stem?: StemName;
}

/** Work of a task. Stored on disk. */
export type SigmaJob =
  | {
      action: 'MUSIC';
      request: MusicRequest;
      /** Styles in the response. */
      tags: string;
      clips: readonly ClipPlan[];
      /** The source clip that the clips continue or are stems of. */
      source?: { clipId: string; at: number; stems?: StemTask; facts: SongFacts };
    }
  | { action: 'LYRICS'; prompt: string };

export type MusicJob = Extract<SigmaJob, { action: 'MUSIC' }>;

/** A complete clip with the names of its files. Stored on disk. */
export interface FinishedClip {
  mp3: string;
  cover: string;
  largeCover: string;
  wav: string;
  facts: SongFacts;
}

export type SigmaOutput =
  /** Undefined for a clip that failed. */
  | { action: 'MUSIC'; clips: readonly (FinishedClip | undefined)[]; expiresAt: number }
  | { action: 'LYRICS'; title: string; text: string };

export type SigmaTask = Task<SigmaJob, SigmaOutput>;
