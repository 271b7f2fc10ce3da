import type { StemName } from '../media/music/instruments/names.ts';
import type { SongFacts, SongPlan } from '../media/music/song-plan.ts';
import type { Task } from '../tasks/task-board.ts';
import type { MusicRequest, StemTask } from './music-request.ts';

/** What one clip is to be. */
export interface ClipPlan {
  title: string;
  song: SongPlan;
  /** Of a stem, which one. */
  stem?: StemName;
}

/** What a task is for. */
export type SigmaJob =
  | {
      action: 'MUSIC';
      request: MusicRequest;
      /** The styles that are shown. */
      tags: string;
      clips: readonly ClipPlan[];
      /** Where the clips come from: the clip that they continue or are stems of. */
      source?: { clipId: string; at: number; stems?: StemTask; facts: SongFacts };
    }
  | { action: 'LYRICS'; prompt: string };

export type MusicJob = Extract<SigmaJob, { action: 'MUSIC' }>;

/** A clip that is finished; its files are named, not addressed. */
export interface FinishedClip {
  mp3: string;
  cover: string;
  largeCover: string;
  wav: string;
  facts: SongFacts;
}

export type SigmaOutput =
  /** Undefined for a clip that failed alone. */
  | { action: 'MUSIC'; clips: readonly (FinishedClip | undefined)[]; expiresAt: number }
  | { action: 'LYRICS'; title: string; text: string };

export type SigmaTask = Task<SigmaJob, SigmaOutput>;
