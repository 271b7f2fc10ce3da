import type { ClipPlan } from './clip/clip-plan.ts';
import type { FactsOf, MediaKind } from './media-facts.ts';
import type { StemName } from './music/instruments/names.ts';
import type { RenderedSong, RenderedStems } from './music/render-song.ts';
import type { SongPlan } from './music/song-plan.ts';
import type { MaskProblem, ReadMask } from './scenes/mask.ts';
import type { Picture, PictureSize } from './scenes/scene.ts';

/** All that decides a 3D model. */
export interface ModelPlan {
  /** Decides shape and colours; empty when the model is made from pictures. */
  prompt: string;
  /** PNGs of the front, the left, the back and the right side. */
  views: readonly (Uint8Array | undefined)[];
  /** Width of the texture in pixels; undefined for a model without one. */
  textureSize: number | undefined;
  /** Physically based materials. */
  pbr: boolean;
  /** A finer mesh. */
  fine: boolean;
}

/** A picture that was read: a small PNG of it, and what only its pixels show. */
interface Thumbnail {
  png: Uint8Array<ArrayBuffer>;
  /** Some of it can be seen through. */
  transparent: boolean;
}

/** What the media threads do: the name of each job, what goes in and what comes out. All of it can be cloned. */
export interface Jobs {
  renderClip: { input: ClipPlan; output: Uint8Array<ArrayBuffer> };
  /** The last frame of a clip, as a PNG. */
  renderLastFrame: { input: ClipPlan; output: Uint8Array<ArrayBuffer> };
  /** A GLB. */
  renderModel: { input: ModelPlan; output: Uint8Array<ArrayBuffer> };
  /** A WebP picture of the model. */
  renderModelPreview: { input: ModelPlan; output: Uint8Array<ArrayBuffer> };
  /** A PNG of one picture, or of several in rows of two; `size` is that of each. */
  renderPictures: {
    input: { pictures: readonly Picture[]; size: PictureSize };
    output: Uint8Array<ArrayBuffer>;
  };
  readMask: { input: { bytes: Uint8Array; picture: PictureSize }; output: ReadMask | MaskProblem };
  /** An MP3 with its tags, and its cover in two sizes. */
  renderSong: { input: SongPlan; output: RenderedSong };
  renderStems: { input: { plan: SongPlan; stems: readonly StemName[] }; output: RenderedStems };
  /** A WAV of the song or of one of its stems. */
  renderSongWav: { input: { plan: SongPlan; stem?: StemName }; output: Uint8Array<ArrayBuffer> };
  /** Undefined when the bytes are no media of that kind. */
  readFacts: { input: { kind: MediaKind; bytes: Uint8Array }; output: FactsOf<MediaKind> | undefined };
  readThumbnail: {
    /** `maxSide`: longest side of the thumbnail in pixels. */
    input: { bytes: Uint8Array; format: string; maxSide?: number };
    /** `unsupported`: of a format or size that is not decoded here. */
    output: Thumbnail | 'unsupported' | 'damaged';
  };
}

export type JobName = keyof Jobs;

/** A file that is made when it is first downloaded: from the same plan always the same one. */
export interface PromisedFile {
  job: 'renderSongWav';
  plan: Jobs['renderSongWav']['input'];
}

export interface Command<Name extends JobName = JobName> {
  name: Name;
  input: Jobs[Name]['input'];
}

/** `broken`: the thread's engines are in an unknown state and it ends. */
export type Reply = { output: unknown } | { error: string; broken: boolean };

/** Did a WebAssembly engine break down? Its memory is then in an unknown state. */
export function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}
