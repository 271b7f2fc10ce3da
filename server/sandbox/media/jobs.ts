import type { ClipPlan } from './clip/clip-plan.ts';
import type { FactsOf, MediaKind } from './media-facts.ts';
import type { StemName } from './music/instruments/names.ts';
import type { RenderedSong, RenderedStems } from './music/render-song.ts';
import type { SongPlan } from './music/song-plan.ts';
import type { DecodedMask, MaskError } from './scenes/mask.ts';
import type { ImageSize, SceneImage } from './scenes/scene.ts';

/** All inputs of a 3D model. */
export interface ModelPlan {
  /** Determines shape and colors. Empty if the model is made from images. */
  prompt: string;
  /** PNGs of the front, left, back and right sides. */
  views: readonly (Uint8Array | undefined)[];
  /** Width of the texture in pixels. Undefined for a model without a texture. */
  textureSize: number | undefined;
  /** Use physically based materials. */
  pbr: boolean;
  /** Use a finer mesh. */
  fine: boolean;
}

/** A decoded image: a small PNG, and the properties that require decoding. */
interface Thumbnail {
  png: Uint8Array<ArrayBuffer>;
  /** True if some pixels are not opaque. */
  isTransparent: boolean;
}

/** Jobs of the media threads with their inputs and outputs, which all support structured cloning. */
export interface Jobs {
  renderClip: { input: ClipPlan; output: Uint8Array<ArrayBuffer> };
  /** Renders the last frame of a clip as a PNG. */
  renderLastFrame: { input: ClipPlan; output: Uint8Array<ArrayBuffer> };
  /** Renders a GLB. */
  renderModel: { input: ModelPlan; output: Uint8Array<ArrayBuffer> };
  /** Renders a WebP image of the model. */
  renderModelPreview: { input: ModelPlan; output: Uint8Array<ArrayBuffer> };
  /** Renders one image, or several in rows of two, as one PNG. `size` is the size of each image. */
  renderImages: {
    input: { images: readonly SceneImage[]; size: ImageSize };
    output: Uint8Array<ArrayBuffer>;
  };
  readMask: { input: { bytes: Uint8Array; image: ImageSize }; output: DecodedMask | MaskError };
  /** Renders an MP3 with tags, and its cover in two sizes. */
  renderSong: { input: SongPlan; output: RenderedSong };
  renderStems: { input: { plan: SongPlan; stems: readonly StemName[] }; output: RenderedStems };
  /** Renders a WAV of the song or of one of its stems. */
  renderSongWav: { input: { plan: SongPlan; stem?: StemName }; output: Uint8Array<ArrayBuffer> };
  /** The output is undefined if the bytes are not media of that kind. */
  readFacts: { input: { kind: MediaKind; bytes: Uint8Array }; output: FactsOf<MediaKind> | undefined };
  readThumbnail: {
    /** `maxSide`: longest side of the thumbnail in pixels. */
    input: { bytes: Uint8Array; format: string; maxSide?: number };
    /** `unsupported`: the format or the size cannot be decoded. */
    output: Thumbnail | 'unsupported' | 'damaged';
  };
}

export type JobName = keyof Jobs;

/** A file that is rendered on the first download. Stored on disk. The same plan always produces the same file. */
export interface DeferredFile {
  job: 'renderSongWav';
  plan: Jobs['renderSongWav']['input'];
}

export interface Command<Name extends JobName = JobName> {
  name: Name;
  input: Jobs[Name]['input'];
}

/** `broken`: the engines of the thread are in an undefined state, so the thread is terminated. */
export type Reply = { output: unknown } | { error: string; broken: boolean };

/** Returns true if a WebAssembly engine trapped. Its memory is then in an undefined state. */
export function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}
